import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { checkpointKey, forgetCheckpoints, openCheckpoints } from '../../../../../local/lambda-host/event-sources/checkpoints.ts';

it('finds checkpoints again after a restart', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'checkpoints-')), 'checkpoints.json');
  const first = openCheckpoints(file);
  expect(first.get('shard-1')).toEqual({});
  first.set('shard-1', { sequenceNumber: '41' });
  first.set('shard-1', { sequenceNumber: '42' });
  first.set('shard-0', { sequenceNumber: '7', closed: true });

  const second = openCheckpoints(file);
  expect(second.get('shard-1')).toEqual({ sequenceNumber: '42' });
  expect(second.get('shard-0')).toEqual({ sequenceNumber: '7', closed: true });
});

it('forgets the place of one function and leaves that of another alone', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'checkpoints-')), 'checkpoints.json');
  const first = openCheckpoints(file);
  const relay = checkpointKey('relay-outbox-function', 'arn:s', 'shard-1');
  const progress = checkpointKey('follow-progress-function', 'arn:s', 'shard-1');
  first.set(relay, { sequenceNumber: '42' });
  first.set(progress, { sequenceNumber: '40' });

  forgetCheckpoints(file, 'follow-progress');

  const second = openCheckpoints(file);
  expect(second.get(progress)).toEqual({});
  expect(second.get(relay)).toEqual({ sequenceNumber: '42' });
});
