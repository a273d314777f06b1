import { describe, expect, it } from 'vitest';

import type { DetailsRepository, RecipientSeen } from '../../../../../lambda/application/ports/queries.ts';
import { createReadDetails } from '../../../../../lambda/application/queries/read-details.ts';
import type { Reader } from '../../../../../lambda/application/queries/read-dispatch.ts';
import { NO_DELIVERIES } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import { shardOf } from '../../../../../lambda/domain/dispatch/shards.ts';
import { aDispatch, aRecipient, sent, someCounts } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const BAD = { applyId: 'b-1', status: 'FAILED', delivery: 'none', code: 'MESSAGE_REJECTED' } as const;
const COUNTS = someCounts({ SENT: 3 });
const TASK = { task: 1, kind: 'resume', requestedAt: T0 } as const;

const postJson = (applyIds: readonly string[], row: Partial<RecipientSeen> = {}, { dispatchId = 'd1', counts = COUNTS } = {}) => {
  const readers: Reader[] = [];
  const keys: string[] = [];
  const detailsRepository: DetailsRepository = {
    pendingTasks: () => Promise.resolve([TASK]),
    pendingBatches: () => Promise.resolve(2),
    badRecipients: (_, limit) => Promise.resolve(limit === 10 ? [BAD] : []),
    recipient: ({ applyId, shard }) => {
      keys.push(`${applyId} in ${shard}`);
      return Promise.resolve(applyId === 'a-1' ? { ...aRecipient(sent()), ...row } : undefined);
    },
  };
  const dispatches = {
    dispatch: (reader: Reader, id: string) => {
      readers.push(reader);
      const dispatch = aDispatch({ dispatchId: id, adminId: 'kim@example.com', shards: 5 });
      return Promise.resolve(id === 'd1' ? { dispatch, counts, deliveries: NO_DELIVERIES } : undefined);
    },
  };
  return {
    readers,
    keys,
    details: createReadDetails({ dispatches, detailsRepository, unclearPolicy: 'manual', clock: () => T0 })({
      dispatchId,
      applyIds,
    }),
  };
};

describe('a story', () => {
  it('is told of any admin’s dispatch, whose name is masked', async () => {
    const { readers, details } = postJson([]);

    expect(await details).toEqual({
      now: T0,
      dispatch: aDispatch({ dispatchId: 'd1', adminId: 'k…@example.com', shards: 5 }),
      counts: COUNTS,
      deliveries: NO_DELIVERIES,
      unclearPolicy: 'manual',
      pendingTasks: [TASK],
      pendingBatches: 2,
      badRecipients: [],
    });
    expect(readers).toEqual([{ adminId: '', isOperator: true }]);
  });

  it('is told of a recipient, masked, without the note of who settled it', async () => {
    const settled = { as: 'sent', who: 'lee@example.org', at: T0, note: 'Kim told me' } as const;

    expect(await postJson(['a-1'], { settled }).details).toMatchObject({
      recipient: { applyId: 'a-1', email: 'k…@example.com', settled: { as: 'sent', who: 'l…@example.org', at: T0, note: '' } },
    });
  });

  it('has some recipients to look into if there are any, unless it is of a recipient', async () => {
    const counts = someCounts({ FAILED: 1, SENT: 2 });

    expect(await postJson([], {}, { counts }).details).toMatchObject({ badRecipients: [BAD] });
    expect(await postJson(['a-1'], {}, { counts }).details).toMatchObject({ badRecipients: [] });
  });

  it('looks for each id in its shard until one is found', async () => {
    const { keys, details } = postJson(['b', 'a-1', 'c']);

    expect(await details).toMatchObject({ recipient: { applyId: 'a-1' } });
    expect(keys).toEqual([`b in ${shardOf('b', 5)}`, `a-1 in ${shardOf('a-1', 5)}`]);
  });

  it('says that there is no such recipient, or no such dispatch', async () => {
    expect(await postJson(['b']).details).toMatchObject({ recipient: 'no-recipient' });
    expect(await postJson(['a-1'], {}, { dispatchId: 'd2' }).details).toBe('not-found');
  });
});
