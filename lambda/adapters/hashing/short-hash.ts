import { createHash } from 'node:crypto';

/** Names an applyId in logs without showing it: the first 16 hex digits of its SHA-256. */
export const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
