/** Any JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/** Values for the placeholders of a template. */
export type Variables = Readonly<Record<string, JsonValue>>;

/** A template's parts, as SES stores them. */
export interface TemplateParts {
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
}

/** What all mails of a dispatch have in common, as it was at accept. */
export interface DispatchContent {
  readonly template: TemplateParts;
  /** Overrides the template's subject; itself a template. */
  readonly subject?: string;
  readonly variables: Variables;
  readonly from: string;
  readonly replyTo?: string;
  /** Itself a template, rendered per recipient. */
  readonly unsubscribeUrl?: string;
}

/** One recipient of a request. */
export interface RecipientInput {
  readonly applyId: string;
  readonly email: string;
  readonly variables: Variables;
}

/** A mail ready to be handed over. */
export interface RenderedMail {
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
  readonly unsubscribeUrl?: string;
}
