import type { Instant } from '../../../domain/shared/instant.ts';

/** Whether an item counts as gone by its TTL attribute, in epoch seconds: TTL deletes it up to some days after that time. */
export const isExpired = ({ expiresAt }: Readonly<Record<string, unknown>>, now: Instant): boolean =>
  typeof expiresAt === 'number' && expiresAt * 1000 <= now;

/** Condition of a write: the item does not count as gone. `:now` is {@link expiryNow}. */
export const NOT_EXPIRED = '(attribute_not_exists(expiresAt) OR expiresAt > :now)';

/** The time now, in the seconds with which TTL attributes are compared. */
export const expiryNow = (now: Instant): number => Math.floor(now / 1000);
