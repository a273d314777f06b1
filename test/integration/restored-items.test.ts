import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { dispatchKey } from '../../lambda/adapters/dynamo/client/keys.ts';
import { createRestoredRepository } from '../../lambda/adapters/dynamo/control/restored-repository.ts';
import { createTableIdentity } from '../../lambda/adapters/dynamo/control/table-identity.ts';
import { toIso } from '../../lambda/domain/shared/instant.ts';
import { aDispatch } from '../support/builders.ts';
import { T0 } from '../support/clock.ts';
import { startTable, type TestTable } from '../support/table.ts';

let table: TestTable;
beforeAll(async () => {
  table = await startTable();
});
afterAll(() => table.stop());

describe('the id of the table that its items belong to', () => {
  const identity = (id: string) => createTableIdentity(table.client, table.tableName, id);

  it('is unrecorded at first, then its own, and another’s in a restored table', async () => {
    expect(await identity('table-1').origin()).toBe('unrecorded');
    await identity('table-1').adopt();

    expect(await identity('table-1').origin()).toBe('own');
    expect(await identity('table-2').origin()).toBe('restored');
    await identity('table-2').adopt();
    expect(await identity('table-2').origin()).toBe('own');
  });
});

describe('a dispatch of a restored table', () => {
  const repository = () =>
    createRestoredRepository({ client: table.client, tableName: table.tableName, openIndex: 'open', retentionDays: 30 });
  const store = async (dispatchId: string, attributes: object) => {
    await table.client.send(
      new PutCommand({
        TableName: table.tableName,
        Item: { ...dispatchKey(dispatchId), ...aDispatch({ dispatchId }), createdAt: toIso(T0), ...attributes },
      }),
    );
  };
  const read = async (dispatchId: string) =>
    (await table.client.send(new GetCommand({ TableName: table.tableName, Key: dispatchKey(dispatchId), ConsistentRead: true })))
      .Item;
  const stop = (dispatchId: string) => repository().stopRestored(aDispatch({ dispatchId }), T0);

  it.each([
    ['ACCEPTED', true],
    ['IN_PROGRESS', true],
    ['COMPLETED', true],
    ['STOPPED', false],
    ['CANCELLED', false],
  ])('that is %s is stopped: %s', async (status, isStopped) => {
    await store(status, { status, generation: 4, failureReason: 'stale' });

    expect(await stop(status)).toBe(isStopped);

    const item = await read(status);
    expect(item).toMatchObject(
      isStopped
        ? { status: 'STOPPED', failureReason: 'table-restored', stoppedAt: toIso(T0), openKey: 'OPEN', generation: 5 }
        : { status, failureReason: 'stale', generation: 4 },
    );
  });

  it('loses what it had as a completed one, so that it lives as long as it is stopped', async () => {
    await store('completed', {
      status: 'COMPLETED',
      completedAt: toIso(T0),
      outcome: 'partly-sent',
      needsAttention: true,
      expiresAt: 1,
      frozenCounts: { SENT: 1 },
    });

    await stop('completed');

    const item = await read('completed');
    for (const name of ['completedAt', 'outcome', 'needsAttention', 'expiresAt']) expect(item).not.toHaveProperty(name);
    // The first exact counts stay: rows that have expired are counted by them.
    expect(item).toHaveProperty('frozenCounts');
  });

  it('that a person resumed since it was read is left alone', async () => {
    await store('resumed', { status: 'IN_PROGRESS', resumedAt: toIso(T0) });

    expect(await stop('resumed')).toBe(false);
    expect(await read('resumed')).toMatchObject({ status: 'IN_PROGRESS' });
  });
});
