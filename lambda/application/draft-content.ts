import type { DispatchContent } from '../domain/content.ts';
import type { DispatchRequest } from '../domain/dispatch-request.ts';
import type { CheckContent, CheckResult, TemplateSource } from './accept-ports.ts';

export interface DraftDeps {
  readonly templates: TemplateSource;
  readonly checkContent: CheckContent;
  /** As it goes into the header. */
  readonly from: string;
  readonly replyTo: string | undefined;
}

/** Why a request does not make mails. */
export type ContentRefusal =
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
  const found = await deps.templates.find(scenarioId);
  if (found === undefined) return { ok: false, refusals: [{ outcome: 'unknown-scenario' }] };
  if (found.kind === 'too-large') return { ok: false, refusals: [{ outcome: 'template-too-large' }] };

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
    isCurrent ? [] : [{ outcome: 'template-changed', current: found.version } as const],
    checked.outcome === 'fine' ? [] : [checked],
  ].flat();
  return first === undefined ? { ok: true, drafted } : { ok: false, refusals: [first, ...others], drafted };
};
