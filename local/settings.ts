import { dirname, join, resolve } from 'node:path';

import * as z from 'zod';

import { TOKEN_FORMS, type TokenForm } from './http-api/token-forms.ts';

/** Where everything of ours is found from, whatever the working directory. */
export const ROOT = resolve(import.meta.dirname, '..');

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const amount = (fallback: number) => z.coerce.number().positive().default(fallback);

const Environment = z.object({
  LOCAL_DIR: z.string().min(1).default(join(ROOT, '.local')),
  LOCAL_API_PORT: port(3000),
  LOCAL_INBOX_PORT: port(8005),
  LOCAL_ISSUER_PORT: port(8006),
  LOCAL_SES_PORT: port(8007),
  LOCAL_SQS_PORT: port(8008),
  LOCAL_DYNAMODB_PORT: port(8009),
  /** A server to use in place of the one that comes with the project. */
  DYNAMODB_ENDPOINT: z.url().optional(),
  /** A cloud assembly that is ready; nothing is synthesized then. */
  LOCAL_ASSEMBLY: z.string().min(1).optional(),
  /** Where synthesized assemblies are kept for the next start. */
  LOCAL_ASSEMBLIES: z
    .string()
    .min(1)
    .default(join(ROOT, '.local', 'assemblies')),
  LOCAL_SES_RATE: amount(1000),
  LOCAL_SES_DAILY: amount(1_000_000),
  /** Children per function that has no reserved concurrency of its own. */
  LOCAL_CONCURRENCY: z.coerce.number().int().min(1).default(4),
  /** Interval of schedules; a rate() in a template knows whole minutes only. */
  SWEEP_SECONDS: amount(30),
  /** The same for schedules of a minute. */
  RESOLVE_SECONDS: amount(2),
  /** Whose access tokens are imitated. */
  LOCAL_TOKEN_FORM: z.enum(TOKEN_FORMS).default('plain'),
  /** A module whose hooks a harness puts into the stack. */
  LOCAL_HOOKS: z.string().min(1).optional(),
  /** Lets tests look for addresses in messages and error answers. */
  LOCAL_RECORD: z.enum(['0', '1']).default('0'),
});

/** A port and the setting it came from, so that a message can name both. */
export interface PortSetting {
  readonly variable: string;
  readonly port: number;
}

/** What the local stack can be told by environment variables. */
export interface Settings {
  readonly directory: string;
  readonly ports: Readonly<Record<'api' | 'inbox' | 'issuer' | 'ses' | 'sqs' | 'dynamodb', PortSetting>>;
  readonly dynamodbEndpoint?: string;
  readonly assembly?: string;
  readonly assemblies: string;
  /** Where Node keeps what it made of the functions' code. */
  readonly compileCache: string;
  readonly sesRate: number;
  readonly sesDaily: number;
  readonly concurrency: number;
  readonly sweepSeconds: number;
  readonly resolveSeconds: number;
  readonly tokenForm: TokenForm;
  readonly hooks?: string;
  readonly recorded: boolean;
}

/** Reads the settings; throws one error that names every bad one. */
export const readSettings = (source: NodeJS.ProcessEnv): Settings => {
  // An empty variable means "not set", as in most shells' habits.
  const result = Environment.safeParse(Object.fromEntries(Object.entries(source).filter(([, value]) => value !== '')));
  if (!result.success) {
    const problems = result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`Bad settings: ${problems.join('; ')}`);
  }
  const env = result.data;
  const named = (variable: 'API' | 'INBOX' | 'ISSUER' | 'SES' | 'SQS' | 'DYNAMODB'): PortSetting => ({
    variable: `LOCAL_${variable}_PORT`,
    port: env[`LOCAL_${variable}_PORT`],
  });
  return {
    directory: resolve(env.LOCAL_DIR),
    ports: {
      api: named('API'),
      inbox: named('INBOX'),
      issuer: named('ISSUER'),
      ses: named('SES'),
      sqs: named('SQS'),
      dynamodb: named('DYNAMODB'),
    },
    ...(env.DYNAMODB_ENDPOINT !== undefined && { dynamodbEndpoint: env.DYNAMODB_ENDPOINT }),
    ...(env.LOCAL_ASSEMBLY !== undefined && { assembly: resolve(env.LOCAL_ASSEMBLY) }),
    assemblies: resolve(env.LOCAL_ASSEMBLIES),
    compileCache: join(dirname(resolve(env.LOCAL_ASSEMBLIES)), 'compile-cache'),
    sesRate: env.LOCAL_SES_RATE,
    sesDaily: env.LOCAL_SES_DAILY,
    concurrency: env.LOCAL_CONCURRENCY,
    sweepSeconds: env.SWEEP_SECONDS,
    resolveSeconds: env.RESOLVE_SECONDS,
    tokenForm: env.LOCAL_TOKEN_FORM,
    ...(env.LOCAL_HOOKS !== undefined && { hooks: env.LOCAL_HOOKS }),
    recorded: env.LOCAL_RECORD === '1',
  };
};
