import { expect, it } from 'vitest';

import { readBatchAnswer } from '../../../../../local/lambda-host/event-sources/batch-answer.ts';

const answered = (payload: string) => readBatchAnswer({ ok: true, payload }, ['a', 'b'], true);

it.each(['null', '{}', '{"batchItemFailures":[]}', '{"batchItemFailures":null}'])('takes %s for success', (payload) => {
  expect(answered(payload)).toEqual({ kind: 'done', failures: [] });
});

it('names the failed items', () => {
  expect(answered('{"batchItemFailures":[{"itemIdentifier":"b"}]}')).toEqual({ kind: 'done', failures: ['b'] });
});

it.each([
  '{"batchItemFailures":[{"itemIdentifier":""}]}',
  '{"batchItemFailures":[{"itemIdentifier":null}]}',
  '{"batchItemFailures":[{"itemidentifier":"a"}]}',
  '{"batchItemFailures":[{"itemIdentifier":"of another batch"}]}',
  'not json',
])('takes %s for a failure of the whole batch', (payload) => {
  expect(answered(payload).kind).toBe('failed');
});

it('takes a function error for a failure of the whole batch', () => {
  const result = readBatchAnswer({ ok: false, errorType: 'Sandbox.Timedout', errorMessage: 'too late' }, ['a'], true);
  expect(result).toEqual({ kind: 'failed', reason: 'Sandbox.Timedout: too late' });
});

it('does not look at the answer if the mapping does not report items', () => {
  const payload = '{"batchItemFailures":[{"itemIdentifier":"a"}]}';
  expect(readBatchAnswer({ ok: true, payload }, ['a'], false)).toEqual({ kind: 'done', failures: [] });
});
