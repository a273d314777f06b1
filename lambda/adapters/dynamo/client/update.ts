import type { ItemKey } from './keys.ts';

/** Attributes by their names, which are plain words. */
export type Attributes = Readonly<Record<string, unknown>>;

/**
 * An update of one item, for a command of its own or a transaction.
 * @param set the attributes to write; an undefined one is removed
 * @param as what attributes must be for it to happen; an undefined one must not be there
 */
export const updateOf = (TableName: string, Key: ItemKey, set: Attributes, as: Attributes) => {
  const written = present(set);
  const removed = Object.keys(set).filter((name) => set[name] === undefined);
  return {
    TableName,
    Key,
    UpdateExpression: [
      ...(written.length > 0 ? [`SET ${written.map(([name]) => `#${name} = :${name}`).join(', ')}`] : []),
      ...(removed.length > 0 ? [`REMOVE ${removed.map((name) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: Object.entries(as)
      .map(([name, value]) => (value === undefined ? `attribute_not_exists(#${name})` : `#${name} = :was_${name}`))
      .join(' AND '),
    ExpressionAttributeNames: Object.fromEntries([...Object.keys(set), ...Object.keys(as)].map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries([
      ...written.map(([name, value]) => [`:${name}`, value] as const),
      ...present(as).map(([name, value]) => [`:was_${name}`, value] as const),
    ]),
  };
};

const present = (attributes: Attributes): [string, unknown][] =>
  Object.entries(attributes).filter(([, value]) => value !== undefined);
