import type { DispatchContent, RecipientInput } from '../../domain/dispatch/content.ts';
import type { DispatchRequest } from '../../domain/dispatch/dispatch-request.ts';
import type { IsAllowedRecipient } from '../../domain/recipient/allowed-recipients.ts';
import type { CheckContent, CheckResult, TemplateSource } from '../ports/accept.ts';

export interface DraftDeps {
  readonly templates: TemplateSource;
  readonly checkContent: CheckContent;
  readonly isAllowedRecipient: IsAllowedRecipient;
  /** As it goes into the header. */
  readonly from: string;
  readonly replyTo: string | undefined;
}

/** One recipient of a request. */
export interface NamedRecipient {
  /** Place among the recipients. */
  readonly index: number;
  readonly applyId: string;
}

/** Why a request does not make mails. */
export type ContentRefusal =
  /** The first recipients whom this stage may not mail, and how many there are. */
  | { readonly outcome: 'recipients-not-allowed'; readonly recipients: readonly NamedRecipient[]; readonly total: number }
  | { readonly outcome: 'unknown-scenario' }
  | { readonly outcome: 'template-too-large' }
  /** The request names another version than the current one. */
  | { readonly outcome: 'template-changed'; readonly current: string }
  | Exclude<CheckResult, { outcome: 'fine' }>;

/** What all mails of a request have in common, and the version of the template in it. */
export interface DraftedContent {
  readonly content: DispatchContent;
  readonly templateVersion: string;
}

export type Draft =
  | { readonly ok: true; readonly drafted: DraftedContent }
  /** The content may still do for some of the recipients; absent: there is no template. */
  | { readonly ok: false; readonly refusals: readonly [ContentRefusal, ...ContentRefusal[]]; readonly drafted?: DraftedContent };

/** Puts together what all mails of a request have in common, and checks that every one of them can be rendered. */
export const draftContent = async (deps: DraftDeps, request: DispatchRequest): Promise<Draft> => {
  const { scenarioId, recipients, variables, subject, unsubscribeUrl } = request;
  const notAllowed = refuseRecipients(deps.isAllowedRecipient, recipients);
  const found = await deps.templates.find(scenarioId);
  if (found?.kind !== 'template') {
    const refusal = { outcome: found === undefined ? 'unknown-scenario' : 'template-too-large' } as const;
    return { ok: false, refusals: notAllowed === undefined ? [refusal] : [notAllowed, refusal] };
  }

  const content: DispatchContent = {
    template: found.template,
    variables,
    from: deps.from,
    ...(subject !== undefined && { subject }),
    ...(deps.replyTo !== undefined && { replyTo: deps.replyTo }),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  };
  const drafted: DraftedContent = { content, templateVersion: found.version };
  const checked = deps.checkContent(content, recipients);
  const isCurrent = request.templateVersion === undefined || request.templateVersion === found.version;
  const [first, ...others]: ContentRefusal[] = [
    notAllowed ?? [],
    isCurrent ? [] : [{ outcome: 'template-changed', current: found.version } as const],
    checked.outcome === 'fine' ? [] : [checked],
  ].flat();
  return first === undefined ? { ok: true, drafted } : { ok: false, refusals: [first, ...others], drafted };
};

/** Recipients that a refusal lists; the others are only counted. */
const MOST_LISTED = 100;

const refuseRecipients = (isAllowed: IsAllowedRecipient, recipients: readonly RecipientInput[]): ContentRefusal | undefined => {
  const refused = recipients.flatMap(({ applyId, email }, index) => (isAllowed(email) ? [] : [{ index, applyId }]));
  if (refused.length === 0) return undefined;
  return { outcome: 'recipients-not-allowed', recipients: refused.slice(0, MOST_LISTED), total: refused.length };
};
