import type { RecipientInput, Variables } from './content.ts';

/** What an admin asks for: parsed, within the limits, with addresses in the form they are sent to. */
export interface DispatchRequest {
  readonly scenarioId: string;
  readonly recruitId: string;
  readonly recipients: readonly RecipientInput[];
  /** Overrides the template's subject; itself a template. */
  readonly subject?: string;
  readonly variables: Variables;
  readonly isTest: boolean;
  /** Itself a template, rendered per recipient. */
  readonly unsubscribeUrl?: string;
  /** The version of the template that the admin saw; another one is refused. Not part of what is asked for. */
  readonly templateVersion?: string;
  /** Sends also what was asked for a short time ago under another key. Not part of what is asked for. */
  readonly allowRepeat: boolean;
}

const KB = 1024;

/** What one request may hold. Sizes are bytes of UTF-8; those of variables are of their JSON. */
export const REQUEST_LIMITS = {
  recipients: 50_000,
  idBytes: 128,
  emailCharacters: 254,
  templateVersionBytes: 64,
  subjectBytes: 4 * KB,
  unsubscribeUrlBytes: 2 * KB,
  ownVariablesBytes: 4 * KB,
  sharedVariablesBytes: 64 * KB,
  /** Levels of nesting in a variable's value. */
  variableDepth: 8,
  /** 4 MB as sent: escaped by the gateway it must stay within Lambda's event of 6 MB. */
  bodyBytes: 4_000 * KB,
  unpackedBodyBytes: 24_000 * KB,
} as const;

/** What one dispatch may take in the table. An item holds 400 KB, a transaction 100 items and 4 MB. */
export const STORAGE_LIMITS = {
  contentBytes: 350 * KB,
  /** Larger content is an object that its item names. */
  contentItemBytes: 64 * KB,
  batchRecipients: 1_000,
  /** Of the transaction's 100 items, without the dispatch, its content and one more that guards against repeats. */
  transactionRows: 97,
} as const;
