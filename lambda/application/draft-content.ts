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
export type ContentRefusal = { readonly outcome: 'unknown-scenario' } | Exclude<CheckResult, { outcome: 'fine' }>;

export type Draft =
  | { readonly ok: true; readonly content: DispatchContent }
  /** The content may still do for some of the recipients; absent: there is no template. */
  | { readonly ok: false; readonly refusal: ContentRefusal; readonly content?: DispatchContent };

/** Puts together what all mails of a request have in common, and checks that every one of them can be rendered. */
export const draftContent = async (deps: DraftDeps, request: DispatchRequest): Promise<Draft> => {
  const { scenarioId, recipients, variables, subject, unsubscribeUrl } = request;
  const template = await deps.templates.find(scenarioId);
  if (template === undefined) return { ok: false, refusal: { outcome: 'unknown-scenario' } };

  const content: DispatchContent = {
    template,
    variables,
    from: deps.from,
    ...(subject !== undefined && { subject }),
    ...(deps.replyTo !== undefined && { replyTo: deps.replyTo }),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  };
  const checked = deps.checkContent(content, recipients);
  return checked.outcome === 'fine' ? { ok: true, content } : { ok: false, refusal: checked, content };
};
