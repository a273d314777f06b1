import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import { readBody } from '../../adapters/http/request-body.ts';
import type { CommandResult, OperateDispatch } from '../../application/commands/operate-dispatch.ts';
import type { RetryRecipients } from '../../application/commands/retry-recipients.ts';
import type { SettleRecipient } from '../../application/commands/settle-recipient.ts';
import type { SettleRecipients } from '../../application/commands/settle-recipients.ts';
import type { Caller } from '../../contracts/http/caller.ts';
import { type HttpAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { parseApplyIds } from '../../contracts/http/request/apply-id.ts';
import { parseRetryRequest } from '../../contracts/http/request/retry.ts';
import { parseSettleManyRequest, parseSettleRequest } from '../../contracts/http/request/settle.ts';
import { parseExportRequest } from '../../contracts/http/response/export-view.ts';
import type { Command } from '../../domain/dispatch/command.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { commandAnswer, exportAnswer, invalid, retriedAnswer, settledAnswer, settledManyAnswer } from './answer.ts';

export interface OperateDispatchesHandlerDeps {
  /** What the issuer puts before our scopes. */
  readonly scopePrefix: string;
  readonly operateDispatch: OperateDispatch;
  readonly retryRecipients: RetryRecipients;
  readonly settleRecipient: SettleRecipient;
  readonly settleRecipients: SettleRecipients;
  readonly clock: () => number;
  readonly telemetry: Telemetry;
}

export type Event = APIGatewayProxyEventV2WithJWTAuthorizer;

/** What a request is answered with. */
export type Answer = (caller: Caller, dispatchId: string, event: Event) => Promise<HttpAnswer>;

const METRICS: Readonly<Record<Command, string>> = {
  cancel: 'DispatchCancelled',
  resume: 'DispatchResumed',
  retry: 'DispatchRetried',
  settle: 'DispatchSettled',
  export: 'ExportStarted',
};

/** How each kind of request is read, carried out and answered. */
export const createRequests = (deps: OperateDispatchesHandlerDeps) => {
  const { operateDispatch, telemetry } = deps;

  const operate = async (command: Command, ...args: Parameters<OperateDispatch>): Promise<CommandResult> => {
    const result = await operateDispatch(...args);
    telemetry.logger.info('dispatch operated', {
      command,
      dispatchId: args[2],
      outcome: result.outcome,
      ...(result.outcome === 'accepted' && { task: result.task, isNew: result.isNew }),
    });
    if (result.outcome === 'accepted' && result.isNew) telemetry.count(METRICS[command]);
    return result;
  };

  /** Of the dispatch as a whole, without a body. */
  const simple =
    (command: 'cancel' | 'resume'): Answer =>
    async (caller, dispatchId) =>
      commandAnswer(await operate(command, caller, command, dispatchId));

  const retry: Answer = async (caller, dispatchId, event) => {
    const body = await readBody(event);
    if (!body.ok) return problemAnswer(problem(body.problem, body.more));
    const parsed = parseRetryRequest(body.json);
    if (!parsed.ok) return invalid(parsed);
    const { statuses, applyIds } = parsed;
    if (applyIds === undefined) return commandAnswer(await operate('retry', caller, 'retry', dispatchId, { statuses }));
    const result = await deps.retryRecipients(caller, dispatchId, { statuses, applyIds });
    const reopened = typeof result === 'string' ? 0 : result.filter((each) => each.result === 'reopened').length;
    telemetry.logger.info('recipients retried', { dispatchId, asked: applyIds.length, reopened });
    if (reopened > 0) telemetry.count('RecipientReopened', reopened);
    return retriedAnswer(result);
  };

  const settle: Answer = async (caller, dispatchId, event) => {
    const body = await readBody(event);
    if (!body.ok) return problemAnswer(problem(body.problem, body.more));
    const parsed = parseSettleRequest(body.json);
    if (!parsed.ok) return invalid(parsed);
    const result = await deps.settleRecipient(caller, dispatchId, parseApplyIds(event.pathParameters), parsed.word);
    // Not by whom and not why: an id may be an address, and a note may say anything.
    telemetry.logger.info('recipient settled', { dispatchId, outcome: result.outcome, as: parsed.word.as });
    if (result.outcome === 'settled' && result.isNew) telemetry.count('RecipientSettledByHand');
    return settledAnswer(result);
  };

  const settleMany: Answer = async (caller, dispatchId, event) => {
    const body = await readBody(event);
    if (!body.ok) return problemAnswer(problem(body.problem, body.more));
    const parsed = parseSettleManyRequest(body.json);
    if (!parsed.ok) return invalid(parsed);
    const { word, applyIds } = parsed;
    if (applyIds === undefined) return commandAnswer(await operate('settle', caller, 'settle', dispatchId, { word }));
    const result = await deps.settleRecipients(caller, dispatchId, applyIds, word);
    const settled = result === 'not-found' ? 0 : result.filter(({ isNew }) => isNew).length;
    telemetry.logger.info('recipients settled', { dispatchId, asked: applyIds.length, settled, as: word.as });
    if (settled > 0) telemetry.count('RecipientSettledByHand', settled);
    return settledManyAnswer(result);
  };

  const startExport: Answer = async (caller, dispatchId, event) => {
    const body = event.body === undefined || event.body === '' ? ({ ok: true, json: {} } as const) : await readBody(event);
    if (!body.ok) return problemAnswer(problem(body.problem, body.more));
    const parsed = parseExportRequest(body.json);
    if (!parsed.ok) return invalid(parsed);
    const { status } = parsed;
    const result = await operate('export', caller, 'export', dispatchId, status && { statuses: [status] });
    return exportAnswer(result, deps.clock(), status);
  };

  return { cancel: simple('cancel'), resume: simple('resume'), retry, settle, settleMany, startExport };
};
