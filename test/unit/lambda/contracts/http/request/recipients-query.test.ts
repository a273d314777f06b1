import { describe, expect, it } from 'vitest';

import { parseRecipientsQuery, toCursor } from '../../../../../../lambda/contracts/http/request/recipients-query.ts';

describe('the query of a page of recipients', () => {
  it.each([[undefined], [null], [{}]])('begins at the beginning when it is %j', (parameters) => {
    expect(parseRecipientsQuery(parameters)).toEqual({ ok: true, query: { from: { shard: 0 }, limit: 100 } });
  });

  it.each([[{ shard: 3 }], [{ shard: 63, after: '지원/1' }]])('goes on at the place that its cursor names: %j', (place) => {
    expect(parseRecipientsQuery({ cursor: toCursor(place), status: 'FAILED', limit: '7' })).toEqual({
      ok: true,
      query: { from: place, limit: 7, status: 'FAILED' },
    });
  });

  it.each([
    ['status', { status: 'BOUNCED' }],
    ['limit', { limit: '0' }],
    ['limit', { limit: '1001' }],
    ['limit', { limit: 'many' }],
    ['cursor', { cursor: '' }],
    ['cursor', { cursor: 'bm8' }],
    ['cursor', { cursor: Buffer.from('{"shard":-1}').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('{"shard":64}').toString('base64url') }],
    ['cursor', { cursor: 'x'.repeat(1025) }],
  ])('names the parameter %s when it is not valid: %j', (name, parameters) => {
    expect(parseRecipientsQuery(parameters)).toEqual({ ok: false, names: [name] });
  });
});
