import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { stopDispatch } from '../../../../../../lambda/adapters/dynamo/dispatch/stop.ts';
import type { Stop } from '../../../../../../lambda/domain/dispatch/stop-rule.ts';
import { aDispatch } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { documentClient, sdkError } from '../../../../../support/dynamo.ts';

const dynamo = mockClient(DynamoDBDocumentClient);
const stop = (how: Stop, resumedAt?: number) =>
  stopDispatch(
    { client: documentClient(), tableName: 'mail' },
    aDispatch({ dispatchId: 'd1', ...(resumedAt !== undefined && { resumedAt }) }),
    how,
    T0,
  );

beforeEach(() => {
  dynamo.reset();
});

describe('stopping a dispatch', () => {
  it('says why, and stands on what was read (S10)', async () => {
    dynamo.on(UpdateCommand).resolves({});

    expect(await stop({ reason: 'permanent-failures', faultCode: 'BAD_REQUEST', faultSince: T0 - 9 }, T0 - 60_000)).toBe(true);

    const input = dynamo.commandCalls(UpdateCommand)[0]?.args[0].input;
    expect(input?.Key).toEqual({ pk: 'DISPATCH#d1', sk: 'DISPATCH' });
    expect(input?.UpdateExpression).toBe(
      'SET #status = :status, #failureReason = :failureReason, #stoppedAt = :stoppedAt, #faultCode = :faultCode, #faultSince = :faultSince',
    );
    expect(input?.ConditionExpression).toBe('#resumedAt = :was_resumedAt AND #status IN (:accepted, :inProgress)');
    expect(input?.ExpressionAttributeValues).toEqual({
      ':status': 'STOPPED',
      ':failureReason': 'permanent-failures',
      ':stoppedAt': '2026-03-02T09:00:00.000Z',
      ':faultCode': 'BAD_REQUEST',
      ':faultSince': '2026-03-02T08:59:59.991Z',
      ':was_resumedAt': '2026-03-02T08:59:00.000Z',
      ':accepted': 'ACCEPTED',
      ':inProgress': 'IN_PROGRESS',
    });
  });

  it.each<[Stop, string]>([
    [{ reason: 'stale' }, '#faultCode, #faultSince'],
    [{ reason: 'permanent-failures', faultSince: T0 }, '#faultCode'],
  ])('takes away what an earlier stop left: %o', async (how, removed) => {
    dynamo.on(UpdateCommand).resolves({});
    await stop(how);

    expect(dynamo.commandCalls(UpdateCommand)[0]?.args[0].input.UpdateExpression?.split(' REMOVE ')[1]).toBe(removed);
  });

  it('does not happen when the dispatch is another by now', async () => {
    dynamo.on(UpdateCommand).rejects(new ConditionalCheckFailedException({ message: 'no', $metadata: {} }));

    expect(await stop({ reason: 'stale' })).toBe(false);
  });

  it('fails on anything else', async () => {
    dynamo.on(UpdateCommand).rejects(sdkError('AccessDeniedException', 400));

    await expect(stop({ reason: 'stale' })).rejects.toThrow('AccessDeniedException');
  });
});
