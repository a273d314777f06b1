import { type Instant, toIso } from '../../../domain/shared/instant.ts';

/** No clock is later. */
const LAST_INSTANT = Date.UTC(9999, 11, 31);

/** A condition on one attribute that holds an instant, with the values that it names. */
export interface InstantCondition {
  readonly ConditionExpression: string;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Holds unless the attribute is that instant or a later one. So it holds as well for what no clock wrote, such as a number or a
 * word, which could otherwise never be replaced.
 */
export const isNotSince = (name: string, from: Instant): InstantCondition => ({
  ConditionExpression: `attribute_not_exists(${name}) OR NOT (${name} BETWEEN :from AND :last)`,
  values: { ':from': toIso(from), ':last': toIso(LAST_INSTANT) },
});
