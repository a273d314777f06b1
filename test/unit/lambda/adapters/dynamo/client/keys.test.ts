import { describe, expect, it } from 'vitest';

import {
  batchKey,
  contentKey,
  controlKey,
  dispatchKey,
  parseKey,
  recipientKey,
  taskKey,
} from '../../../../../../lambda/adapters/dynamo/client/keys.ts';

describe('the keys of the table', () => {
  it('are those of the design', () => {
    expect([
      dispatchKey('d1'),
      contentKey('d1'),
      batchKey('d1', 7),
      taskKey({ dispatchId: 'd1', task: 3 }),
      recipientKey({ dispatchId: 'd1', shard: 63, applyId: 'a#1' }),
    ]).toEqual([
      { pk: 'DISPATCH#d1', sk: 'DISPATCH' },
      { pk: 'DISPATCH#d1', sk: 'CONTENT' },
      { pk: 'DISPATCH#d1', sk: 'BATCH#0007' },
      { pk: 'DISPATCH#d1', sk: 'TASK#0003' },
      { pk: 'DISPATCH#d1#63', sk: 'RECIPIENT#a#1' },
    ]);
  });

  it('of the whole service are in one place', () => {
    expect([controlKey('SENDING'), controlKey('FEEDBACK'), controlKey('SWEEPER')]).toEqual([
      { pk: 'CONTROL', sk: 'SENDING' },
      { pk: 'CONTROL', sk: 'FEEDBACK' },
      { pk: 'CONTROL', sk: 'SWEEPER' },
    ]);
  });

  it.each(['a-1', 'a#1', '지원자', '#', 'RECIPIENT#x'])('bring a recipient %o back as it was', (applyId) => {
    const key = { dispatchId: 'd1', shard: 12, applyId };

    expect(parseKey(recipientKey(key))).toEqual({ kind: 'recipient', ...key });
  });

  it('bring a batch back as it was', () => {
    expect(parseKey(batchKey('d1', 12))).toEqual({ kind: 'batch', dispatchId: 'd1', batch: 12 });
  });

  it('bring a task back as it was', () => {
    expect(parseKey(taskKey({ dispatchId: 'd1', task: 12 }))).toEqual({ kind: 'task', dispatchId: 'd1', task: 12 });
  });

  it.each([
    ['DISPATCH#d1', 'DISPATCH'],
    ['DISPATCH#d1', 'CONTENT'],
    ['CONTROL', 'SENDING'],
    ['DISPATCH#', 'BATCH#0001'],
    ['DISPATCH#d1', 'BATCH#one'],
    ['DISPATCH#d1', 'TASK#one'],
    ['DISPATCH#d1#0', 'TASK#0001'],
    ['DISPATCH#d1#0', 'BATCH#0001'],
    ['DISPATCH#d1', 'RECIPIENT#a-1'],
    ['DISPATCH#d1#x', 'RECIPIENT#a-1'],
    ['DISPATCH#d1#0', 'RECIPIENT#'],
  ])('name nothing to relay in %s %s', (pk, sk) => {
    expect(parseKey({ pk, sk })).toBeUndefined();
  });
});
