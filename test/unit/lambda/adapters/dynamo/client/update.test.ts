import { describe, expect, it } from 'vitest';

import { updateOf } from '../../../../../../lambda/adapters/dynamo/client/update.ts';

const key = { pk: 'p', sk: 's' };

describe('an update', () => {
  it('sets what is given and removes what is not, if the item is as it was said to be', () => {
    expect(updateOf('mail', key, { status: 'B', count: 0, note: undefined }, { status: 'A', token: undefined })).toEqual({
      TableName: 'mail',
      Key: key,
      UpdateExpression: 'SET #status = :status, #count = :count REMOVE #note',
      ConditionExpression: '#status = :was_status AND attribute_not_exists(#token)',
      ExpressionAttributeNames: { '#status': 'status', '#count': 'count', '#note': 'note', '#token': 'token' },
      ExpressionAttributeValues: { ':status': 'B', ':count': 0, ':was_status': 'A' },
    });
  });

  it('without anything to remove has no such part', () => {
    expect(updateOf('mail', key, { a: 1 }, { a: 2 }).UpdateExpression).toBe('SET #a = :a');
  });
});
