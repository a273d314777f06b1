import { describe, expect, it } from 'vitest';

import { type References, resolveValue } from '../../../../local/cloudformation/resolve.ts';

const references: References = {
  ref: (name) => `ref-${name}`,
  attribute: (resource, attribute) => `${resource}/${attribute}`,
  importValue: (name) => `imported-${name}`,
};
const resolve = (value: unknown) => resolveValue(value, references);

describe('intrinsic functions', () => {
  it.each([
    [{ Ref: 'Queue' }, 'ref-Queue'],
    [{ 'Fn::GetAtt': ['Queue', 'Arn'] }, 'Queue/Arn'],
    [{ 'Fn::GetAtt': 'Queue.Arn' }, 'Queue/Arn'],
    [{ 'Fn::ImportValue': 'a:b' }, 'imported-a:b'],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'B' }, 3]] }, 'a/ref-B/3'],
    [{ 'Fn::Sub': 'x-${A}-${B.Arn}-${!C}' }, 'x-ref-A-B/Arn-${C}'],
    [{ 'Fn::Sub': ['${own}-${A}', { own: { Ref: 'O' } }] }, 'ref-O-ref-A'],
    [{ 'Fn::Select': ['1', { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
  ])('%j is %j', (value, expected) => {
    expect(resolve(value)).toBe(expected);
  });

  it('are found at any depth, and everything else stays as it is', () => {
    expect(resolve({ a: [{ b: { Ref: 'X' } }], n: 1, t: true, nothing: null })).toEqual({
      a: [{ b: 'ref-X' }],
      n: 1,
      t: true,
      nothing: null,
    });
  });

  it.each([{ 'Fn::If': ['C', 'a', 'b'] }, { 'Fn::Cidr': [] }])('that are unknown are refused: %j', (value) => {
    expect(() => resolve(value)).toThrow('not understood');
  });

  it('refuse to select what is not there', () => {
    expect(() => resolve({ 'Fn::Select': [3, ['a']] })).toThrow('no element 3');
  });
});
