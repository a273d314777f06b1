import { describe, expect, it } from 'vitest';
import * as z from 'zod';

import { cursorOf, encodeCursor } from '../../../../../lambda/contracts/http/cursor.ts';
import { parseApplyIds } from '../../../../../lambda/contracts/http/request/apply-id.ts';

const Cursor = cursorOf(z.object({ shard: z.int(), after: z.string().exactOptional() }));

describe('a cursor', () => {
  it.each([{ shard: 0 }, { shard: 3, after: '지원자 1/2' }])('leads back to its place: %j', (place) => {
    expect(Cursor.parse(encodeCursor(place))).toEqual(place);
  });

  it.each(['', 'x', encodeCursor({ shard: 'one' }), 'A'.repeat(1_025)])('that we did not make is refused', (text) => {
    expect(Cursor.safeParse(text).success).toBe(false);
  });
});

describe('the recipient that a path names', () => {
  it.each<[string, string | undefined, readonly string[]]>([
    ['is any text', '지원자 1/2', ['지원자 1/2']],
    ['is looked for decoded, too, if it may be encoded', 'a%2Fb', ['a%2Fb', 'a/b']],
    ['may hold what is no encoding', '100%', ['100%']],
    ['is none without a part of the path', undefined, []],
    ['is none that is too long', 'x'.repeat(129), []],
    ['is none that is half a character', '\ud800', []],
  ])('%s', (_name, applyId, expected) => {
    expect(parseApplyIds({ applyId })).toEqual(expected);
  });
});
