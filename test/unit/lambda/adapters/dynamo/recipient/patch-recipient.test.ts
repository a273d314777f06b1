import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { stateAttributes, toStoredAttempt, toStoredEvent } from '../../../../../../lambda/adapters/dynamo/recipient/items.ts';
import { patchRecipient } from '../../../../../../lambda/adapters/dynamo/recipient/patch-recipient.ts';
import type { Patch, StoredRecipient } from '../../../../../../lambda/application/ports/recipients.ts';
import type { MailEvent } from '../../../../../../lambda/domain/recipient/delivery.ts';
import { isFinal, type Recipient } from '../../../../../../lambda/domain/recipient/recipient.ts';
import { aKey, anAttempt, cancelled, failed, pending, processing, sent, unknown } from '../../../../../support/builders.ts';
import { createFakeClock, T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
let clock = createFakeClock();
const Key = { pk: 'DISPATCH#d1spatch#0', sk: 'RECIPIENT#a-1' };
const DISPATCH = { pk: 'DISPATCH#d1spatch', sk: 'DISPATCH' };
const EXPIRY = Date.parse('2026-08-29T09:00:00.000Z') / 1000;

const event: MailEvent = { kind: 'delivery', messageId: 'ses-1', at: T0 + 5, detail: 'x', suppressed: false };
const attempts = [anAttempt()];
const stored = (recipient: Recipient, more: object = {}) => ({
  ...Key,
  email: 'kim@example.com',
  variables: '{}',
  ...stateAttributes(recipient),
  attempts: attempts.map(toStoredAttempt),
  ...more,
});
const finds = (Item: Record<string, unknown> | undefined) => dynamo.on(GetCommand).resolves({ ...(Item && { Item }) });
const lost = () => new ConditionalCheckFailedException({ message: 'no', $metadata: {} });
const cancelledBy = (...codes: string[]) =>
  new TransactionCanceledException({ message: 'no', $metadata: {}, CancellationReasons: codes.map((Code) => ({ Code })) });

const applyPatch = (change: (row: StoredRecipient) => Patch | undefined) =>
  patchRecipient(
    { client: documentClient(), tableName: 'mail', retentionDays: 180, clock: () => 0, random: Math.random, sleep: clock.sleep },
    aKey(),
    change,
  );
const confirm = (row: StoredRecipient): Patch => ({
  ...row,
  recipient: sent(),
  attempts: [anAttempt({ outcome: 'sent', messageId: 'ses-1' })],
  delivery: 'delivered',
  events: [event],
});

beforeEach(() => {
  dynamo.reset();
  clock = createFakeClock();
});

describe('amending a recipient', () => {
  it('reads it consistently and writes the change on what was read', async () => {
    finds(stored(processing()));
    dynamo.on(UpdateCommand).resolves({});

    expect(await applyPatch(confirm)).toBe('written');

    expect(dynamo.commandCalls(GetCommand)[0]?.args[0].input).toEqual({ TableName: 'mail', Key, ConsistentRead: true });
    const input = dynamo.commandCalls(UpdateCommand)[0]?.args[0].input;
    expect(input?.ConditionExpression).toBe(
      '#status = :was_status AND #round = :was_round AND #attemptCount = :was_attemptCount AND #leaseToken = :was_leaseToken ' +
        'AND #leaseUntil = :was_leaseUntil AND #attempts = :was_attempts AND attribute_not_exists(#delivery) AND attribute_not_exists(#events)',
    );
    expect(input?.ExpressionAttributeValues).toEqual({
      ':status': 'SENT',
      ':round': 1,
      ':attemptCount': 1,
      ':messageId': 'ses-1',
      ':sentAt': '2026-03-02T09:00:00.000Z',
      ':attempts': [
        { round: 1, n: 1, lease: 'ours', startedAt: '2026-03-02T09:00:00.000Z', outcome: 'sent', messageId: 'ses-1' },
      ],
      ':delivery': 'delivered',
      ':events': [toStoredEvent(event)],
      ':expiresAt': EXPIRY,
      ':was_status': 'PROCESSING',
      ':was_round': 1,
      ':was_attemptCount': 1,
      ':was_leaseToken': 'ours',
      ':was_leaseUntil': '2026-03-02T09:05:00.000Z',
      ':was_attempts': attempts.map(toStoredAttempt),
    });
  });

  it('of one that stays sent leaves its end and its dispatch alone', async () => {
    const events = [{ kind: 'send', messageId: 'ses-1', at: '2026-03-02T09:00:00.000Z' }];
    finds(stored(sent(), { delivery: 'delayed', events, expiresAt: 7 }));
    dynamo.on(UpdateCommand).resolves({});

    expect(await applyPatch((row) => ({ ...row, delivery: 'bounced', events: [...row.events, event] }))).toBe('written');

    const input = dynamo.commandCalls(UpdateCommand)[0]?.args[0].input;
    expect(input?.UpdateExpression).not.toContain('expiresAt');
    expect(input?.ExpressionAttributeValues).toMatchObject({
      ':delivery': 'bounced',
      ':events': [...events, toStoredEvent(event)],
      ':was_delivery': 'delayed',
      ':was_events': events,
    });
    expect(dynamo.commandCalls(TransactWriteCommand)).toHaveLength(0);
  });

  it.each<[string, Recipient]>([
    ['failed', failed()],
    ['is unknown', unknown()],
    ['was cancelled', cancelled],
  ])('that %s has its dispatch counted anew in the same transaction', async (_name, recipient) => {
    finds(stored(recipient));
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await applyPatch(confirm)).toBe('written');

    const items = dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? [];
    expect(items[0]?.Update).toMatchObject({ Key, ExpressionAttributeValues: { ':status': 'SENT', ':expiresAt': EXPIRY } });
    expect(items[1]?.Update).toEqual({
      TableName: 'mail',
      Key: { pk: 'DISPATCH#d1spatch', sk: 'DISPATCH' },
      UpdateExpression: 'SET openKey = :open, generation = generation + :one',
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(frozenGeneration)',
      ExpressionAttributeValues: { ':open': 'OPEN', ':one': 1 },
    });
  });

  it.each([
    ['moves in the counts of the last end', {}, { '#from': 'FAILED', '#to': 'SENT' }],
    ['is not in the counts of the last end when it was reopened after it', { reopenedAfter: 6 }, undefined],
  ])('that failed %s (V10)', async (_name, more, names) => {
    finds(stored(failed(), more));
    dynamo.on(GetCommand, { Key: DISPATCH }).resolves({ Item: { pk: DISPATCH.pk, frozenGeneration: 6 } });
    dynamo.on(TransactWriteCommand).resolves({});

    expect(await applyPatch(confirm)).toBe('written');

    const [, dispatch] = dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems ?? [];
    expect(dispatch?.Update?.ExpressionAttributeNames).toEqual(names);
    expect(dispatch?.Update?.ConditionExpression).toBe('attribute_exists(pk) AND frozenGeneration = :frozenGeneration');
  });

  it('finds nothing when the row has expired, though TTL has not deleted it yet', async () => {
    finds(stored(failed(), { expiresAt: 0 }));

    expect(await applyPatch(confirm)).toBe('gone');
  });

  it('to a state that is not final takes its end away', async () => {
    finds(stored(unknown(), { expiresAt: 7 }));
    dynamo.on(TransactWriteCommand).resolves({});

    await applyPatch((row) => ({ ...row, recipient: pending({ round: 2 }) }));

    expect(dynamo.commandCalls(TransactWriteCommand)[0]?.args[0].input.TransactItems?.[0]?.Update?.UpdateExpression).toMatch(
      / REMOVE #expiresAt$/,
    );
  });

  it('writes nothing when there is nothing to change', async () => {
    finds(stored(sent()));

    expect(await applyPatch(() => undefined)).toBe('unchanged');
    expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(0);
  });

  it('finds nothing when the row is gone', async () => {
    finds(undefined);

    expect(await applyPatch(confirm)).toBe('gone');
  });

  it('finds nothing when the dispatch is gone', async () => {
    finds(stored(failed()));
    dynamo.on(GetCommand, { Key: DISPATCH }).resolves({});

    expect(await applyPatch(confirm)).toBe('gone');
  });

  it.each<[string, Recipient, Error]>([
    ['another changed the row', processing(), lost()],
    ['a transaction was under way', processing(), sdkError('TransactionConflictException', 400)],
    ['another changed a final row', failed(), cancelledBy('ConditionalCheckFailed', 'None')],
    ['another wrote the dispatch', failed(), cancelledBy('None', 'TransactionConflict')],
  ])('asks anew, by what the row is by then, when %s', async (_name, first, error) => {
    dynamo
      .on(GetCommand)
      .resolvesOnce({ Item: stored(first) })
      .resolves({ Item: stored(sent()) });
    dynamo.on(UpdateCommand).resolves({});
    if (isFinal(first.status)) dynamo.on(TransactWriteCommand).rejectsOnce(error);
    else dynamo.on(UpdateCommand).rejectsOnce(error).resolves({});
    const seen: string[] = [];

    const result = await applyPatch((row) => {
      seen.push(row.recipient.status);
      return confirm(row);
    });

    expect(result).toBe('written');
    expect(seen).toEqual([first.status, 'SENT']);
  });

  it('gives up after five races, each waited out a little longer', async () => {
    finds(stored(processing()));
    dynamo.on(UpdateCommand).rejects(lost());

    expect(await applyPatch(confirm)).toBe('unavailable');

    expect(dynamo.commandCalls(UpdateCommand)).toHaveLength(5);
    expect(clock.slept).toHaveLength(4);
    for (const [i, ms] of clock.slept.entries()) {
      expect(ms).toBeGreaterThanOrEqual(40 * 2 ** i);
      expect(ms).toBeLessThanOrEqual(80 * 2 ** i);
    }
  });

  it.each<[string, object, boolean]>([
    ['the table does not answer a read', {}, false],
    ['it does not answer a write', {}, true],
  ])('is open when %s', async (_name, more, reads) => {
    finds(stored(processing(), more));
    if (!reads) dynamo.on(GetCommand).rejects(sdkError('TimeoutError'));
    dynamo.on(UpdateCommand).rejects(sdkError('TimeoutError'));

    expect(await applyPatch(confirm)).toBe('unavailable');
    expect(clock.slept).toEqual([]);
  });

  it('is unreadable, and not asked for again, when no version of this code wrote the row', async () => {
    finds(stored(processing(), { attempts: 'none' }));

    expect(await applyPatch(confirm)).toBe('unreadable');
    expect(dynamo.commandCalls(GetCommand)).toHaveLength(1);
  });

  it('fails on what no repetition will cure', async () => {
    dynamo.on(GetCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(applyPatch(confirm)).rejects.toThrow('AccessDeniedException');
  });
});
