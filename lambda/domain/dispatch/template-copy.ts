import type { Instant } from '../shared/instant.ts';
import type { TemplateParts } from './content.ts';

/** A template as SES stored it, under a name for its content. */
export interface VersionedTemplate {
  readonly template: TemplateParts;
  /** Hash of the content: two templates with the same version are the same. */
  readonly version: string;
}

/** What SES answered for a scenario: a template, none, or one too large to be copied. */
export type CopiedTemplate =
  ({ readonly kind: 'template' } & VersionedTemplate) | { readonly kind: 'missing' } | { readonly kind: 'too-large' };

/** The answer of SES as all functions share it. */
export interface TemplateCopy {
  readonly found: CopiedTemplate;
  /** When the call began; its age counts from here. */
  readonly fetchedAt: Instant;
  /** How long it counts as current. */
  readonly freshSeconds: number;
}

/** A template may be stored the next moment, so that there is none is believed for the shortest time only. */
export const MISSING_FRESH_SECONDS = 5;
/** A change of a template reaches mails within this time whatever SES answers. */
const OLDEST_SERVED_MS = 10 * 60_000;

/** Whether the copy counts as what SES has now. */
export const isFresh = ({ found, fetchedAt, freshSeconds }: TemplateCopy, now: Instant): boolean =>
  now < fetchedAt + 1000 * (found.kind === 'missing' ? MISSING_FRESH_SECONDS : freshSeconds);

/** Whether the copy is used although it is not fresh, since SES cannot be asked. */
export const isServable = ({ found, fetchedAt }: TemplateCopy, now: Instant): boolean =>
  found.kind !== 'missing' && now - fetchedAt <= OLDEST_SERVED_MS;
