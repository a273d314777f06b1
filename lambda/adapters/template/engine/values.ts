const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/** A property that the value has itself; what all objects inherit does not exist for templates. */
export const ownProperty = (value: unknown, name: string): unknown => {
  if (isObject(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
  const property: unknown = typeof value === 'string' ? Object.getOwnPropertyDescriptor(Object(value), name)?.value : undefined;
  return property;
};

/** The value as text, as JavaScript joins it to other text; nothing for null. */
export const toText = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(toText).join(',');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '[object Object]';
};

/** Handlebars' idea of nothing: 0 is something. */
export const isEmpty = (value: unknown): boolean => (!value && value !== 0) || (Array.isArray(value) && value.length === 0);

/** What a loop goes through: the places of a list, or the names of an object. */
export const entriesOf = (value: unknown): readonly (readonly [string | number, unknown])[] => {
  if (Array.isArray(value)) return value.map((item: unknown, place) => [place, item] as const);
  return isObject(value) ? Object.entries(value) : [];
};

/** The own properties of an object with others over them. */
export const withProperties = (value: unknown, others: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...(isObject(value) ? value : undefined),
  ...others,
});

/** How many properties or items it has. */
export const sizeOf = (value: unknown): number => {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
};
