import * as z from 'zod';

/** What one partition key gets from a transaction. */
export interface PartitionUnits {
  readonly partition: string;
  readonly units: number;
}

const Attribute = z.record(z.string(), z.unknown());
const Put = z.object({ Put: z.object({ Item: z.looseObject({ pk: z.object({ S: z.string() }) }) }) });
const Transaction = z.object({ TransactItems: z.array(z.unknown()) });

/** Bytes of a value as it travels, by AWS's rules: text in UTF-8, numbers by their digits, 3 for a list or map and 1 for each element. */
const bytesOf = (value: unknown): number => {
  const [[type, content] = ['', undefined]] = Object.entries(Attribute.parse(value));
  switch (type) {
    case 'S':
      return Buffer.byteLength(z.string().parse(content));
    case 'N':
      return Math.ceil(z.string().parse(content).length / 2) + 1;
    case 'B':
      return Buffer.from(z.string().parse(content), 'base64').byteLength;
    case 'L':
      return z
        .array(z.unknown())
        .parse(content)
        .reduce<number>((sum, element) => sum + 1 + bytesOf(element), 3);
    case 'M':
      return 3 + itemBytes(Attribute.parse(content), 1);
    default:
      return 1;
  }
};

const itemBytes = (item: Readonly<Record<string, unknown>>, apart = 0): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + apart + Buffer.byteLength(name) + bytesOf(value), 0);

/** Of the items that a transaction puts, the partition key that gets most write units, two for each KB begun. */
export const heaviestPartition = (request: unknown): PartitionUnits => {
  const units = new Map<string, number>();
  for (const write of Transaction.parse(request).TransactItems) {
    const put = Put.safeParse(write).data?.Put.Item;
    if (put) units.set(put.pk.S, (units.get(put.pk.S) ?? 0) + 2 * Math.ceil(itemBytes(put) / 1_024));
  }
  const [partition, most] = [...units].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  return { partition, units: most };
};
