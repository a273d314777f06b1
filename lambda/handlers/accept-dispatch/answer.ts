import type { AcceptResult } from '../../application/accept-dispatch.ts';
import type { RecipientFault, StorageLimit, TemplateFault } from '../../application/accept-ports.ts';
import { dispatchPath, toAcceptedView } from '../../contracts/dispatch-view.ts';
import { type Fault, type HttpAnswer, jsonAnswer, problem, problemAnswer, toPointer } from '../../contracts/problem.ts';
import type { Dispatch } from '../../domain/dispatch.ts';
import { STORAGE_LIMITS } from '../../domain/dispatch-request.ts';

/** Says over HTTP what became of a request. */
export const toAnswer = (result: AcceptResult): HttpAnswer => {
  switch (result.outcome) {
    case 'accepted':
      return dispatchAnswer(202, result.dispatch);
    case 'replayed':
      return dispatchAnswer(200, result.dispatch, { 'idempotency-replayed': 'true' });
    case 'conflict':
      return problemAnswer(problem('idempotency-key-conflict', { fields: [...result.fields] }));
    case 'unknown-scenario':
      return problemAnswer(
        problem('unknown-scenario', { errors: [fault(['scenarioId'], 'unknown-scenario', 'names no template')] }),
      );
    case 'invalid-template':
      return problemAnswer(problem('invalid-template', { errors: result.faults.map(ofTemplate), total: result.faults.length }));
    case 'cannot-render':
      return cannotRender(result.faults, result.total);
    case 'too-costly':
      return problemAnswer(problem('template-too-costly', { detail: 'Rendering the mails takes longer than 10 seconds.' }));
    case 'too-large':
      return problemAnswer(problem('dispatch-too-large', { detail: LIMITS[result.limit] }));
  }
};

const dispatchAnswer = (status: number, dispatch: Dispatch, headers: Record<string, string> = {}): HttpAnswer =>
  jsonAnswer(status, toAcceptedView(dispatch), { location: dispatchPath(dispatch.dispatchId), ...headers });

const bytes = (n: number): string => `${n.toLocaleString('en-US')} bytes`;

const LIMITS: Readonly<Record<StorageLimit, string>> = {
  content: `Template, subject and shared variables together can take at most ${bytes(STORAGE_LIMITS.contentBytes)} when packed.`,
  recipients: `All of a dispatch together can take at most ${bytes(STORAGE_LIMITS.transactionBytes)} when packed. Send it as several dispatches.`,
};

const fault = (path: readonly PropertyKey[], rule: string, detail: string, applyId?: string): Fault => ({
  pointer: toPointer(path),
  rule,
  detail,
  ...(applyId !== undefined && { applyId }),
});

const TEMPLATE_DETAILS: Readonly<Record<TemplateFault['rule'], string>> = {
  'template-syntax': 'is not a Handlebars template',
  'unknown-helper': 'uses a helper that does not exist',
  'no-subject': 'has no subject',
  'no-body': 'has neither HTML nor text',
};

/** Where the templates stand that come with the request. */
const OWN_PARTS: Partial<Record<TemplateFault['part'], readonly string[]>> = {
  'subject-override': ['subject'],
  unsubscribe: ['unsubscribe', 'url'],
};

/** What comes from the request is pointed at; the stored template is the scenario's. */
const ofTemplate = ({ part, rule, line, name }: TemplateFault): Fault => {
  const own = OWN_PARTS[part];
  const where = own ?? ['scenarioId'];
  // Words of the request itself are not repeated in an error.
  const at = [line === undefined ? [] : [`line ${line}`], name === undefined || own ? [] : [name]].flat();
  return fault(where, rule, [`${part} ${TEMPLATE_DETAILS[rule]}`, ...at].join(': '));
};

const RENDER_DETAILS: Readonly<Record<RecipientFault['rule'], string>> = {
  'missing-variable': 'is needed by the template and given neither here nor in the shared variables',
  'variable-not-text': 'is an object where the template wants text',
  'subject-empty': 'The subject comes out empty',
  'subject-too-long': 'The subject comes out longer than 998 characters',
  'unsubscribe-url': 'The unsubscribe URL comes out as no https URL of at most 990 characters',
  'rendering-failed': 'The template fails with these variables',
};

const cannotRender = (faults: readonly RecipientFault[], total: number): HttpAnswer => {
  const errors = faults.map(({ index, applyId, rule, name }) => {
    const path = name === undefined ? ['recipients', index] : ['recipients', index, 'variables', ...name.split('.')];
    return fault(path, rule, RENDER_DETAILS[rule], applyId);
  });
  const code = faults.some(({ rule }) => rule === 'missing-variable') ? 'missing-variables' : 'rendering-fault';
  return problemAnswer(problem(code, { errors, total }));
};
