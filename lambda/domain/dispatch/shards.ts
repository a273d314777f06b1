/** One partition carries 1,000 writes per second; a recipient's life is three of them. */
const RECIPIENTS_PER_SHARD = 1000;
const MOST_SHARDS = 64;

/** Over how many partitions the recipients of a dispatch are spread. */
export const shardCount = (recipients: number): number =>
  Math.min(MOST_SHARDS, Math.max(1, Math.ceil(recipients / RECIPIENTS_PER_SHARD)));

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The shard of a recipient: FNV-1a over the UTF-8 bytes of its applyId. Stored messages rely on it, so it never changes. */
export const shardOf = (applyId: string, shards: number): number => {
  let hash = FNV_OFFSET;
  for (const byte of new TextEncoder().encode(applyId)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return (hash >>> 0) % shards;
};
