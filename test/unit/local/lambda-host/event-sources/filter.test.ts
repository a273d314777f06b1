import { describe, expect, it } from 'vitest';

import { compileFilters } from '../../../../../local/lambda-host/event-sources/filter.ts';

const insert = { eventName: 'INSERT', dynamodb: { Keys: { sk: { S: 'RECIPIENT#1' } }, NewImage: { status: { S: 'PENDING' } } } };

describe('event filters', () => {
  it('let everything pass when there is none', () => {
    expect(compileFilters([])(insert)).toBe(true);
  });

  it.each([
    ['an exact value', '{"eventName":["INSERT"]}', true],
    ['one of several values', '{"eventName":["MODIFY","INSERT"]}', true],
    ['another value', '{"eventName":["MODIFY"]}', false],
    ['a prefix', '{"dynamodb":{"Keys":{"sk":{"S":[{"prefix":"RECIPIENT#"}]}}}}', true],
    ['another prefix', '{"dynamodb":{"Keys":{"sk":{"S":[{"prefix":"BATCH#"}]}}}}', false],
    ['one of two prefixes', '{"dynamodb":{"Keys":{"sk":{"S":[{"prefix":"BATCH#"},{"prefix":"RECIPIENT#"}]}}}}', true],
    ['a suffix', '{"eventName":[{"suffix":"SERT"}]}', true],
    ['any case', '{"eventName":[{"equals-ignore-case":"insert"}]}', true],
    ['anything but the value', '{"eventName":[{"anything-but":["INSERT"]}]}', false],
    ['anything but another value', '{"eventName":[{"anything-but":"REMOVE"}]}', true],
    ['anything but a prefix', '{"eventName":[{"anything-but":{"prefix":"IN"}}]}', false],
    ['a leaf that is there', '{"dynamodb":{"NewImage":{"status":{"S":[{"exists":true}]}}}}', true],
    ['a leaf that is not', '{"dynamodb":{"OldImage":{"status":{"S":[{"exists":false}]}}}}', true],
    ['two fields of which one differs', '{"eventName":["INSERT"],"dynamodb":{"NewImage":{"status":{"S":["SENT"]}}}}', false],
    ['a field below one that is missing', '{"dynamodb":{"OldImage":{"status":{"S":["PENDING"]}}}}', false],
  ])('match %s', (_, pattern, matches) => {
    expect(compileFilters([pattern])(insert)).toBe(matches);
  });

  it('pass an event that any one of them matches', () => {
    expect(compileFilters(['{"eventName":["MODIFY"]}', '{"eventName":["INSERT"]}'])(insert)).toBe(true);
  });

  it('take the object that "exists" asks for to be no leaf', () => {
    expect(compileFilters(['{"dynamodb":{"NewImage":[{"exists":true}]}}'])(insert)).toBe(false);
  });

  it.each(['{"a":[{"numeric":[">",1]}]}', '{"a":[{"prefix":"x","suffix":"y"}]}', '{"a":"b"}'])(
    'refuse what they do not understand: %s',
    (pattern) => {
      expect(() => compileFilters([pattern])).toThrow();
    },
  );
});
