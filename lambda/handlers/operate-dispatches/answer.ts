import type { CommandResult } from '../../application/commands/operate-dispatch.ts';
import type { Retried } from '../../application/commands/retry-recipients.ts';
import type { Settled } from '../../application/commands/settle-recipient.ts';
import type { SettledOne } from '../../application/commands/settle-recipients.ts';
import { type Fault, type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { SettledView } from '../../contracts/http/request/settle.ts';
import { toCommandView } from '../../contracts/http/response/command-view.ts';
import { dispatchPath, toRecipientView } from '../../contracts/http/response/dispatch-view.ts';
import { exportPath, toExportView } from '../../contracts/http/response/export-view.ts';
import type { RecipientStatus } from '../../domain/recipient/recipient.ts';
import type { Instant } from '../../domain/shared/instant.ts';

/** Without a word about the dispatch: another admin's must look like one that does not exist. */
export const notFound = (): HttpAnswer => problemAnswer(problem('not-found'));

/** What is wrong with a body. */
export const invalid = ({ faults, total }: { readonly faults: readonly Fault[]; readonly total: number }): HttpAnswer =>
  problemAnswer(problem('invalid-request', { errors: [...faults], total }));

const itsStatus = (status: string) => ({ detail: `Its status is ${status}.` });

/** A dispatch that was changed, or why it was not. */
export const commandAnswer = (result: CommandResult): HttpAnswer => {
  switch (result.outcome) {
    case 'accepted': {
      const { dispatch, task } = result;
      return jsonAnswer(202, toCommandView(dispatch, task), { location: dispatchPath(dispatch.dispatchId) });
    }
    case 'refused':
      return problemAnswer(problem(result.because, itsStatus(result.status)));
    case 'not-found':
      return notFound();
  }
};

/** An export that has begun. */
export const exportAnswer = (result: CommandResult, requestedAt: Instant, status: RecipientStatus | undefined): HttpAnswer => {
  if (result.outcome !== 'accepted') return commandAnswer(result);
  const key = { dispatchId: result.dispatch.dispatchId, task: result.task };
  const view = toExportView(key, {
    state: 'running',
    requestedAt,
    written: 0,
    ...(status !== undefined && { statuses: [status] }),
  });
  return jsonAnswer(202, view, { location: exportPath(key.dispatchId, key.task) });
};

/** What happened to recipients that were sent to again. */
export const retriedAnswer = (result: readonly Retried[] | 'not-found' | 'already-cancelled' | 'expired'): HttpAnswer => {
  if (result === 'not-found') return notFound();
  return typeof result === 'string' ? problemAnswer(problem(result)) : jsonAnswer(200, { recipients: result });
};

/** A recipient that was settled, or why it was not. */
export const settledAnswer = (result: Settled): HttpAnswer => {
  switch (result.outcome) {
    case 'settled':
      return jsonAnswer(200, toRecipientView(result.row));
    case 'not-unknown':
      return problemAnswer(problem('not-unknown', itsStatus(result.status)));
    case 'no-recipient':
      return problemAnswer(problem('no-such-recipient'));
    case 'not-found':
      return notFound();
  }
};

/** What happened to recipients that were settled together. */
export const settledManyAnswer = (result: readonly SettledOne[] | 'not-found'): HttpAnswer =>
  result === 'not-found' ? notFound() : jsonAnswer(200, SettledView.parse({ recipients: result }));
