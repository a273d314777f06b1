const bytesOf = (text: string): number => Buffer.byteLength(text, 'utf8');

const CONTAINER_BYTES = 3;
const ELEMENT_BYTES = 1;
/** DynamoDB packs two digits in a byte; more is never needed. */
const NUMBER_BYTES = 21;

const valueBytes = (value: unknown): number => {
  if (value instanceof Uint8Array) return value.byteLength;
  switch (typeof value) {
    case 'string':
      return bytesOf(value);
    case 'number':
    case 'bigint':
      return NUMBER_BYTES;
    case 'object':
      return value === null ? 1 : containerBytes(value);
    case 'undefined':
      return 0;
    case 'boolean':
    case 'function':
    case 'symbol':
      return 1;
  }
};

const containerBytes = (value: object): number =>
  Array.isArray(value)
    ? value.reduce<number>((sum, element) => sum + ELEMENT_BYTES + valueBytes(element), CONTAINER_BYTES)
    : CONTAINER_BYTES + attributeBytes(value, ELEMENT_BYTES);

const attributeBytes = (attributes: object, apart: number): number =>
  Object.entries(attributes).reduce((sum, [name, value]) => sum + apart + bytesOf(name) + valueBytes(value), 0);

/** Size of an item as DynamoDB bills it, in bytes; never less than that. */
export const itemBytes = (item: Readonly<Record<string, unknown>>): number => attributeBytes(item, 0);
