import { onTestFinished, vi } from 'vitest';

import { createTelemetry, type Telemetry } from '../../lambda/observability/telemetry.ts';
import { createSearch } from '../leak-scan/search.ts';

export interface Captured {
  readonly telemetry: Telemetry;
  /** Everything that went to the terminal, and so to CloudWatch. */
  readonly text: () => string;
  /** Each metric by name, with the names of its dimensions. */
  readonly metrics: () => { readonly name: string; readonly value: unknown; readonly dimensions: readonly string[] }[];
}

interface Emf {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly { readonly Dimensions: string[][]; readonly Metrics: { readonly Name: string }[] }[];
  };
}

const isEmf = (value: unknown): value is Emf & Record<string, unknown> =>
  typeof value === 'object' && value !== null && '_aws' in value;

/** Addresses of any kind, and the subject that the builders give. */
const search = createSearch([{ kind: 'subject', value: 'Your interview' }]);

/** Fails the test if its handlers have told what only the mail may show (S14). */
const refuseLeaks = (text: string) => {
  const findings = search(text);
  if (findings.length === 0) return;
  throw new Error(
    `What only the mail may show was told: ${findings.map(({ kind, line }) => `${kind} in line ${line}`).join(', ')}`,
  );
};

/**
 * Real logger and metrics, whose output is kept and looked through at the end of the test. Call `vi.restoreAllMocks` and
 * `vi.unstubAllEnvs` afterwards.
 */
export const captureOutput = (): Captured => {
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'mail-dispatch');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'MailDispatch');
  vi.stubEnv('POWERTOOLS_LOG_LEVEL', 'DEBUG');
  const chunks: string[] = [];
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      chunks.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8'));
      return true;
    });
  }
  const text = () => chunks.join('');
  onTestFinished(() => {
    refuseLeaks(text());
  });
  return {
    telemetry: createTelemetry('test'),
    text,
    metrics: () =>
      text()
        .split('\n')
        .filter((line) => line.includes('"_aws"'))
        .map((line): unknown => JSON.parse(line))
        .filter(isEmf)
        .flatMap((emf) =>
          emf._aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics }) =>
            Metrics.map(({ Name }) => ({ name: Name, value: emf[Name], dimensions: Dimensions.flat() })),
          ),
        ),
  };
};
