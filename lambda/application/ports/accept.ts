import type { DispatchContent, RecipientInput, RenderedMail } from '../../domain/dispatch/content.ts';
import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { DispatchRequest } from '../../domain/dispatch/dispatch-request.ts';
import type { CopiedTemplate } from '../../domain/dispatch/template-copy.ts';
import type { Instant } from '../../domain/shared/instant.ts';

/** The parts of a request that a conflict can name. */
export type FingerprintField =
  | 'scenarioId'
  | 'recruitId'
  | 'recipients[].applyId'
  | 'recipients[].email'
  | 'recipients[].variables'
  | 'subject'
  | 'variables'
  | 'isTest'
  | 'unsubscribe';

/** Tells whether two requests ask for the same, and if not, where they differ. */
export interface Fingerprint {
  readonly whole: string;
  readonly fields: Readonly<Record<FingerprintField, string>>;
}

/** Names and compares requests. */
export interface Hashes {
  /** The dispatch of an admin's key: the same for ever. */
  dispatchId(adminId: string, idempotencyKey: string): string;
  fingerprint(request: DispatchRequest): Fingerprint;
}

/** A dispatch as the table has it. */
export interface KnownDispatch {
  readonly dispatch: Dispatch;
  /** Absent in a record that was stored before there were fingerprints. */
  readonly fingerprint?: string;
  /** By {@link FingerprintField}. */
  readonly fieldHashes: Readonly<Record<string, string>>;
}

/** Everything that one accepted request leaves in the table. */
export interface NewDispatch {
  readonly dispatch: Dispatch;
  readonly fingerprint: Fingerprint;
  readonly content: DispatchContent;
  readonly recipients: readonly RecipientInput[];
  /** Keeps the same content from being sent again too soon; absent: nothing does. */
  readonly guard?: RepeatGuard;
}

/** Stands for a content that was accepted, whoever asked for it and under whatever key. */
export interface RepeatGuard {
  readonly until: Instant;
  /** Takes the place of one that stands, instead of giving way to it. */
  readonly overrides: boolean;
}

export type CreateResult =
  | { readonly outcome: 'created' }
  | { readonly outcome: 'exists'; readonly known: KnownDispatch }
  /** The guard of another dispatch of the same content stands. */
  | { readonly outcome: 'guarded'; readonly by: Pick<Dispatch, 'dispatchId' | 'adminId'> }
  | { readonly outcome: 'too-large'; readonly limit: StorageLimit };

/** What made a dispatch too large to be stored. */
export type StorageLimit = 'content';

/** Dispatches as accept knows them. */
export interface AcceptRepository {
  /** Reads consistently. Throws {@link Unavailable}. */
  find(dispatchId: string): Promise<KnownDispatch | undefined>;
  /** Stores all of it or nothing. Throws {@link Unavailable} when it cannot tell that it did. */
  create(entry: NewDispatch): Promise<CreateResult>;
  /** What of it is too large to be stored, if anything is; stores nothing. */
  tooLarge(entry: NewDispatch): StorageLimit | undefined;
}

/** A scenario's template, or that it is too large to be used. */
export type FoundTemplate = Exclude<CopiedTemplate, { kind: 'missing' }>;

/** The mail templates of the scenarios. */
export interface TemplateSource {
  /** Undefined: there is none for this scenario. Throws {@link Unavailable}. */
  find(scenarioId: string): Promise<FoundTemplate | undefined>;
}

/** A template of a dispatch; the last two come with the request. */
export type TemplatePart = 'subject' | 'html' | 'text' | 'subject-override' | 'unsubscribe';

/** Why a template cannot be used for anybody. */
export interface TemplateFault {
  readonly part: TemplatePart;
  readonly rule:
    | 'template-syntax'
    | 'template-too-complex'
    | 'unknown-helper'
    | 'no-subject'
    | 'no-body'
    /** A template that comes with the request holds anything else. */
    | 'names-and-conditions-only';
  readonly line?: number;
  /** The helper's name. */
  readonly name?: string;
}

/** What can keep one mail from being rendered. */
export type RenderRule =
  | 'missing-variable'
  | 'variable-not-text'
  | 'subject-empty'
  | 'subject-too-long'
  | 'unsubscribe-url'
  | 'mail-too-large'
  | 'too-many-steps'
  | 'nested-too-deep'
  | 'rendering-failed';

/** Why one recipient's mail cannot be rendered. */
export interface RecipientFault {
  /** Place in the request. */
  readonly index: number;
  readonly applyId: string;
  readonly rule: RenderRule;
  /** The variable's name. */
  readonly name?: string;
  /** The limit that is exceeded, if the rule has one. */
  readonly limit?: number;
}

export type CheckResult =
  | { readonly outcome: 'fine' }
  | { readonly outcome: 'invalid-template'; readonly faults: readonly TemplateFault[] }
  /** `faults` are those of the first recipients concerned; `total` counts the recipients. */
  | { readonly outcome: 'cannot-render'; readonly faults: readonly RecipientFault[]; readonly total: number }
  | { readonly outcome: 'too-costly' };

/** One rendered mail, and whose it is. */
export interface SampleMail extends RenderedMail {
  readonly applyId: string;
  readonly to: string;
}

/** Rendered mails that show what a request would send. */
export interface Samples {
  readonly mails: readonly SampleMail[];
  /** There may be fewer than could be rendered: the time or the size allowed for them was used up. */
  readonly cutShort: boolean;
}

/** Renders the first mails that can be rendered; few, and of a template that takes long only those that were done in time. */
export type RenderSamples = (content: DispatchContent, recipients: readonly RecipientInput[]) => Samples;

/** Tells before anything is stored whether every mail of a dispatch can be rendered. */
export type CheckContent = (content: DispatchContent, recipients: readonly RecipientInput[]) => CheckResult;
