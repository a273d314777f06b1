import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { SendMessageBody, TaskMessageBody, toAsciiJson } from '../../lambda/contracts/queue/queue-messages.ts';

/** Messages of version 1, as they may lie in a queue for days, and in a dead-letter queue for two weeks. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded/queue-messages.json'), 'utf8')) as {
  send: string;
  expand: string;
  runTask: string;
};

const send = {
  v: 1,
  id: '3f0e6c5e-56c8-4a3a-9a0d-0f6f1a1c2b3d',
  dispatchId: 'k5ux3ad2q',
  shard: 12,
  applyId: '지원-1',
  enqueuedAt: '2026-03-02T09:00:00.000Z',
} as const;
const expand = {
  v: 1,
  id: '9a0b6c5e-56c8-4a3a-9a0d-0f6f1a1c2b3d',
  kind: 'expand',
  dispatchId: 'k5ux3ad2q',
  batch: 49,
} as const;
const runTask = {
  v: 1,
  id: '9a0b6c5e-56c8-4a3a-9a0d-0f6f1a1c2b3d',
  kind: 'run',
  dispatchId: 'k5ux3ad2q',
  task: 2,
} as const;

describe('a message of version 1', () => {
  it('is understood', () => {
    expect(SendMessageBody.parse(JSON.parse(recorded.send))).toEqual(send);
    expect(TaskMessageBody.parse(JSON.parse(recorded.expand))).toEqual(expand);
    expect(TaskMessageBody.parse(JSON.parse(recorded.runTask))).toEqual(runTask);
  });

  it('is still written byte for byte as it was', () => {
    expect(toAsciiJson(send)).toBe(recorded.send);
    expect(toAsciiJson(expand)).toBe(recorded.expand);
    expect(toAsciiJson(runTask)).toBe(recorded.runTask);
  });

  it('is understood with fields that a later version added', () => {
    expect(SendMessageBody.parse({ ...send, priority: 1 })).toEqual(send);
  });

  it.each<[string, object]>([
    ['is of another version', { v: 2 }],
    ['has no id of its own', { id: '' }],
    ['names no dispatch', { dispatchId: '' }],
    ['names no recipient', { applyId: '' }],
    ['has a shard that is none', { shard: -1 }],
    ['has a shard that is a text', { shard: '12' }],
    ['has no time', { enqueuedAt: 'now' }],
  ])('is refused when it %s', (_name, change) => {
    expect(SendMessageBody.safeParse({ ...send, ...change }).success).toBe(false);
  });

  it.each<[string, object]>([
    ['is of another version', { v: 2 }],
    ['asks for something nobody knows', { kind: 'erase' }],
    ['has a batch that is none', { batch: 1.5 }],
    ['is to run a task and names none', { kind: 'run' }],
    ['has a task that is none', { kind: 'run', task: 0 }],
  ])('of a task is refused when it %s', (_name, change) => {
    expect(TaskMessageBody.safeParse({ ...expand, ...change }).success).toBe(false);
  });
});
