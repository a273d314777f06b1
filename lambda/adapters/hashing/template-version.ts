import { createHash } from 'node:crypto';

import type { TemplateParts } from '../../domain/dispatch/content.ts';

const BYTES = 16;

/** Names a template by its content: the first 16 bytes of a SHA-256, as 22 characters of base64url. */
export const templateVersionOf = ({ subject, html, text }: TemplateParts): string =>
  createHash('sha256')
    .update(JSON.stringify([subject, html ?? null, text ?? null]))
    .digest()
    .subarray(0, BYTES)
    .toString('base64url');
