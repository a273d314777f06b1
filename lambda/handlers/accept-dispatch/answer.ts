import type { AcceptResult } from '../../application/accept/accept-dispatch.ts';
import type { RecipientFault } from '../../application/ports/accept.ts';
import { type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { dispatchPath, toAcceptedView } from '../../contracts/http/response/dispatch-view.ts';
import { notAllowed, ofRecipient, ofTemplate, STORAGE_DETAILS, templateTooLarge, TOO_COSTLY, unknownScenario } from './faults.ts';

/** Says over HTTP what became of a request. */
export const toAnswer = (result: AcceptResult): HttpAnswer => {
  switch (result.outcome) {
    case 'accepted':
      return dispatchAnswer(202, result);
    case 'replayed':
      return dispatchAnswer(200, result, { 'idempotency-replayed': 'true' });
    case 'conflict':
      return problemAnswer(problem('idempotency-key-conflict', { fields: [...result.fields] }));
    case 'possible-duplicate':
      return problemAnswer(
        problem('possible-duplicate', { ...(result.dispatchId !== undefined && { dispatchId: result.dispatchId }) }),
      );
    case 'recipients-not-allowed':
      return problemAnswer(problem('invalid-request', { errors: result.recipients.map(notAllowed), total: result.total }));
    case 'unknown-scenario':
      return problemAnswer(problem('unknown-scenario', { errors: [unknownScenario()] }));
    case 'template-changed':
      return problemAnswer(problem('template-changed', { templateVersion: result.current }));
    case 'template-too-large':
      return problemAnswer(problem('invalid-template', { errors: [templateTooLarge()] }));
    case 'invalid-template':
      return problemAnswer(problem('invalid-template', { errors: result.faults.map(ofTemplate), total: result.faults.length }));
    case 'cannot-render':
      return cannotRender(result.faults, result.total);
    case 'too-costly':
      return problemAnswer(problem('template-too-costly', { detail: TOO_COSTLY }));
    case 'too-large':
      return problemAnswer(problem('dispatch-too-large', { detail: STORAGE_DETAILS[result.limit] }));
  }
};

const dispatchAnswer = (
  status: number,
  { dispatch, estimate }: Pick<Extract<AcceptResult, { outcome: 'accepted' }>, 'dispatch' | 'estimate'>,
  headers: Record<string, string> = {},
): HttpAnswer =>
  jsonAnswer(status, toAcceptedView(dispatch, estimate), { location: dispatchPath(dispatch.dispatchId), ...headers });

const cannotRender = (faults: readonly RecipientFault[], total: number): HttpAnswer => {
  const code = faults.some(({ rule }) => rule === 'missing-variable') ? 'missing-variables' : 'rendering-fault';
  return problemAnswer(problem(code, { errors: faults.map(ofRecipient), total }));
};
