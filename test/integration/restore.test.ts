import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

import { restoreTable, type Snapshot, takeSnapshot } from '../support/restored-table.ts';
import { poll, TestStack } from '../support/stack.ts';

const RESTORED = 'mail-dispatch-local-restored';
const WAITING = 12;

/** Runs the steps of "Restore the table" in docs/deploy.md on one stack. */
const stack = new TestStack();
let waiting: string;
let underWay: string;
let done: string;
let afterwards: string;

beforeAll(async () => {
  await stack.start();
});
afterAll(async () => {
  await stack.end();
});

const Shown = z.looseObject({ status: z.string(), failureReason: z.string().optional() });
const shown = async (id: string) => Shown.parse(await (await stack.request('GET', `/dispatches/${id}`)).json());

/** How many mails each recipient of a dispatch got. */
const copies = (id: string): number[] => [...stack.mails(id).values()];
const times = (recipients: number, mails: number): number[] => new Array<number>(recipients).fill(mails);

const clientOf = () =>
  new DynamoDBClient({
    endpoint: stack.description.dynamodb,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });

/** The pause of the test itself was not there at the restore point. */
const withoutPause = (snapshot: Snapshot): Snapshot => snapshot.filter(({ pk, sk }) => !(pk === 'CONTROL' && sk === 'SENDING'));

describe('a table restored to a point in time', { timeout: 300_000 }, () => {
  it('holds as unsent what was sent after that point (U8)', async () => {
    done = await stack.accepted('done', stack.bodyOf(3));
    await stack.finished(done);
    // SES takes this mail, its answer is lost, and its event comes long after the restore point. No other event comes until the
    // restart, so nothing shows silence about it.
    await stack.fault({ fault: 'reset-after-accept', recipient: 'unclear', times: 1 });
    await stack.events({ lost: true });
    await stack.events({ recipient: 'unclear', delaySeconds: 30 });
    underWay = await stack.accepted(
      'under-way',
      stack.bodyOf(1, () => 'unclear'),
    );
    await poll(
      () => Promise.resolve(stack.journal(underWay)),
      ({ length }) => length === 1,
    );
    await stack.pause('a restore point before these mails');
    waiting = await stack.accepted('waiting', stack.bodyOf(WAITING));
    await poll(
      () => stack.table.rows(waiting),
      ({ length }) => length === WAITING,
    );
    const client = clientOf();
    const { tableName } = stack.description;
    const snapshot = withoutPause(await takeSnapshot(client, tableName));

    await stack.sending({ paused: false });
    afterwards = await stack.accepted('afterwards', stack.bodyOf(2));
    for (const id of [waiting, underWay, afterwards])
      expect((await stack.finished(id, 120_000)).counts['SENT']).toBeGreaterThan(0);
    expect([copies(done), copies(underWay), copies(waiting)]).toEqual([times(3, 1), times(1, 1), times(WAITING, 1)]);

    await stack.pause('restore');
    const { streamArn, id } = await restoreTable(client, snapshot, { from: tableName, to: RESTORED });
    client.destroy();
    await stack.launched.stop();
    await stack.start({ RESTORED_TABLE_STREAM_ARN: streamArn, RESTORED_TABLE_ID: id });
    expect(stack.description.tableName).toBe(RESTORED);
  });

  it('has every open dispatch stopped before anything is sent, though nobody paused it (U8)', async () => {
    for (const id of [waiting, underWay]) {
      const dispatch = await poll(
        () => shown(id),
        ({ status }) => status === 'STOPPED',
      );
      expect(dispatch.failureReason).toBe('table-restored');
    }
    expect((await shown(done)).status).toBe('COMPLETED');
    // What was accepted after the restore point is not there any more.
    expect((await stack.request('GET', `/dispatches/${afterwards}`)).status).toBe(404);
  });

  it('sends new dispatches, and nothing of the old ones a second time (U8)', async () => {
    const fresh = await stack.accepted('fresh', stack.bodyOf(4));
    expect((await stack.finished(fresh)).counts['SENT']).toBe(4);
    // The events of the new mails show silence about the unclear one; even so nothing of it is sent.
    await poll(
      () => stack.table.rows(underWay),
      ([row]) => row?.status !== 'PROCESSING',
      120_000,
    );

    expect([copies(done), copies(underWay), copies(waiting)]).toEqual([times(3, 1), times(1, 1), times(WAITING, 1)]);
    expect((await shown(waiting)).status).toBe('STOPPED');
  });

  it('sends again only what a person resumes (U8)', async () => {
    expect((await stack.operate(waiting, 'resume')).status).toBe(202);
    expect((await stack.operate(underWay, 'cancel')).status).toBe(202);
    expect((await stack.finished(waiting)).counts['SENT']).toBe(WAITING);
    await stack.finished(underWay);

    expect([copies(done), copies(underWay), copies(waiting)]).toEqual([times(3, 1), times(1, 1), times(WAITING, 2)]);
  });
});
