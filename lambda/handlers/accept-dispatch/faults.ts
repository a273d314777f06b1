import type { NamedRecipient } from '../../application/accept/draft-content.ts';
import type { SharedAddress } from '../../application/accept/preview-dispatch.ts';
import type { RecipientFault, StorageLimit, TemplateFault } from '../../application/ports/accept.ts';
import { type Fault, toPointer } from '../../contracts/http/problem.ts';
import { STORAGE_LIMITS } from '../../domain/dispatch/dispatch-request.ts';

const fault = (path: readonly PropertyKey[], rule: string, detail: string, applyId?: string): Fault => ({
  pointer: toPointer(path),
  rule,
  detail,
  ...(applyId !== undefined && { applyId }),
});

export const unknownScenario = (): Fault => fault(['scenarioId'], 'unknown-scenario', 'names no template');

export const templateTooLarge = (): Fault =>
  fault(['scenarioId'], 'template-too-large', 'names a template of more than 400,000 bytes when packed');

export const templateChanged = (): Fault => fault(['templateVersion'], 'template-changed', 'is not the current version');

const TEMPLATE_DETAILS: Readonly<Record<TemplateFault['rule'], string>> = {
  'template-syntax': 'is not a Handlebars template',
  'template-too-complex': 'has more than 20,000 placeholders, 1,000 blocks or 64 KB between braces, or is nested too deep',
  'names-and-conditions-only': 'may hold only {{name}} and {{#if name}}…{{else}}…{{/if}}',
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
export const ofTemplate = ({ part, rule, line, name }: TemplateFault): Fault => {
  const own = OWN_PARTS[part];
  const where = own ?? ['scenarioId'];
  // Words of the request itself are not repeated in an error.
  const at = [line === undefined ? [] : [`line ${line}`], name === undefined || own ? [] : [name]].flat();
  return fault(where, rule, [`${part} ${TEMPLATE_DETAILS[rule]}`, ...at].join(': '));
};

/** The limit of a rule stands in place of `#`. */
const RENDER_DETAILS: Readonly<Record<RecipientFault['rule'], string>> = {
  'missing-variable': 'is needed by the template and given neither here nor in the shared variables',
  'variable-not-text': 'is an object where the template wants text',
  'subject-empty': 'The subject comes out empty',
  'subject-too-long': 'The subject comes out longer than 998 characters',
  'unsubscribe-url': 'The unsubscribe URL comes out as no https URL of at most 990 characters',
  'mail-too-large': 'Subject, HTML, text and unsubscribe URL come out longer than # bytes together',
  'too-many-steps': 'Loops, sections and partials make more than # steps with these variables',
  'nested-too-deep': 'More than # blocks and partials come to be inside one another',
  'rendering-failed': 'The template fails with these variables',
};

export const ofRecipient = ({ index, applyId, rule, name, limit }: RecipientFault): Fault => {
  const path = name === undefined ? ['recipients', index] : ['recipients', index, 'variables', ...name.split('.')];
  return fault(path, rule, RENDER_DETAILS[rule].replace('#', limit?.toLocaleString('en-US') ?? ''), applyId);
};

export const notAllowed = ({ index, applyId }: NamedRecipient): Fault =>
  fault(['recipients', index, 'email'], 'recipient-not-allowed', 'is not among the recipients that this stage may mail', applyId);

export const TOO_COSTLY = 'Rendering the mails takes longer than 10 seconds.';
export const tooCostly = (): Fault => fault(['scenarioId'], 'template-too-costly', TOO_COSTLY);

const bytes = (n: number): string => `${n.toLocaleString('en-US')} bytes`;

export const STORAGE_DETAILS: Readonly<Record<StorageLimit, string>> = {
  content: `Template, subject and shared variables together can take at most ${bytes(STORAGE_LIMITS.contentBytes)} when packed.`,
};
export const tooLarge = (limit: StorageLimit): Fault => fault([], 'dispatch-too-large', STORAGE_DETAILS[limit]);

/** A warning. The other recipient is named by its applyId, never by the address. */
export const sharedAddress = ({ index, applyId, earlier }: SharedAddress): Fault =>
  fault(['recipients', index, 'email'], 'shared-address', `is the address of ${earlier} too`, applyId);
