import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { shardCount, shardOf } from '../../../../../lambda/domain/dispatch/shards.ts';

describe('the shards of a dispatch', () => {
  it.each([
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [50_000, 50],
    [64_000, 64],
    [1_000_000, 64],
  ])('for %i recipients are %i', (recipients, shards) => {
    expect(shardCount(recipients)).toBe(shards);
  });

  // FNV-1a, 32 bit: '' 811c9dc5, 'a' e40c292c, 'foobar' bf9cf968 are the algorithm's published vectors.
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('of %o never change', (applyId, hash) => {
    expect(shardOf(applyId, 2 ** 32)).toBe(hash);
    expect(shardOf(applyId, 50)).toBe(hash % 50);
  });

  it('hash the bytes of UTF-8, not the letters of JavaScript', () => {
    const bytes = [...Buffer.from('지원자-😀', 'utf8')];
    const hash = bytes.reduce((sum, byte) => Math.imul(sum ^ byte, 0x01000193), 0x811c9dc5) >>> 0;

    expect(shardOf('지원자-😀', 64)).toBe(hash % 64);
  });

  it('are always one of those there are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 128 }), fc.integer({ min: 1, max: 64 }), (applyId, shards) => {
        const shard = shardOf(applyId, shards);
        expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true);
      }),
    );
  });

  it.each([
    ['running numbers', (i: number) => String(i)],
    ['prefixed numbers', (i: number) => `apply-${100_000 + i}`],
  ])('get about as many recipients each when ids are %s', (_name, idOf) => {
    const sizes = new Array<number>(50).fill(0);
    for (let i = 0; i < 50_000; i += 1) {
      const shard = shardOf(idOf(i), 50);
      sizes[shard] = (sizes[shard] ?? 0) + 1;
    }

    expect(Math.min(...sizes)).toBeGreaterThan(800);
    expect(Math.max(...sizes)).toBeLessThan(1_200);
  });
});
