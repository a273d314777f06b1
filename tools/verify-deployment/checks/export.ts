import { UnexpectedAnswer } from '../api.ts';
import { type Check, failed, passed } from '../check.ts';
import { Export } from '../views.ts';

type Problem = 'never-done' | 'refused' | 'wrong-rows';

const RECIPIENTS = 3;

/** Rows of a CSV file whose fields hold no line breaks, its header left out. */
export const rowsOf = (csv: string): number => csv.split('\n').filter((line) => line.trim() !== '').length - 1;

/** S3 answers errors in XML. */
const codeOf = (text: string): string => /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '';

/** A file of recipients is written, and can be fetched by its link. */
export const exportFile: Check<Problem> = {
  id: 'export',
  name: 'Export',
  needs: ['template'],
  advice: {
    'never-done':
      'The task worker does not write the file. Look at the log of RunTask for the id of the dispatch: its role needs s3:PutObject on the bucket of exports, and messages in the task queue must be taken (docs/runbook.md, "Task dead letters").',
    refused:
      'S3 refuses the link that the API signed. The role of ReadDispatches needs s3:GetObject on the bucket of exports, and no bucket policy, endpoint policy or organization rule may deny it. If only this network is refused, fetch the link from another one.',
    'wrong-rows': 'The file does not hold the recipients of the dispatch. Do not rely on exports; look at the log of RunTask.',
  },
  run: async ({ dispatches, api, waiting, options }) => {
    const id = await dispatches.accepted(dispatches.request('export', ['success', 'success', 'success']));
    // Recipients exist a moment after the 202.
    await waiting.until(
      () => dispatches.recipients(id),
      ({ length }) => length === RECIPIENTS,
      options.waitSeconds,
    );
    const asked = await api.json('POST', `/dispatches/${id}/exports`, {});
    const started = Export.safeParse(asked.body).data;
    if (asked.status !== 202 || started === undefined) throw new UnexpectedAnswer('POST exports', asked);
    const { came, last, seconds } = await waiting.until(
      () => api.read(`/dispatches/${id}/exports/${started.export}`, Export),
      ({ state, url }) => state === 'done' && url !== undefined,
      options.waitSeconds,
    );
    if (!came) return failed('never-done', `the export is still ${last.state} after ${seconds} s`);

    const response = await fetch(last.url ?? '', { signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    if (!response.ok) return failed('refused', `the link of the file was answered ${response.status} ${codeOf(text)}`.trim());
    const rows = rowsOf(text);
    if (rows !== RECIPIENTS) return failed('wrong-rows', `${rows} rows for ${RECIPIENTS} recipients`);
    return passed(`${rows} rows, fetched by link after ${seconds} s`);
  },
};
