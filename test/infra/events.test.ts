import { describe, expect, it } from 'vitest';

import { one, plain, synthesize } from './synthesized.ts';

const { dispatch } = synthesize();

describe('events of SES', () => {
  it('are published for what becomes of a mail, not for what its reader does', () => {
    const { Properties } = one(dispatch, 'AWS::SES::ConfigurationSetEventDestination', 'Events');
    const destination = Properties['EventDestination'] as {
      Enabled: boolean;
      MatchingEventTypes: string[];
      SnsDestination: { TopicARN: unknown };
    };

    expect(destination.Enabled).toBe(true);
    expect(destination.MatchingEventTypes).toEqual([
      'send',
      'reject',
      'bounce',
      'complaint',
      'delivery',
      'renderingFailure',
      'deliveryDelay',
    ]);
    expect(plain(destination.SnsDestination.TopicARN)).toMatch(/^EventsTopic/);
  });

  it('reach the feedback queue as SES wrote them; what cannot be delivered is kept', () => {
    const { Properties } = one(dispatch, 'AWS::SNS::Subscription', 'Events');
    const { deadLetterTargetArn } = Properties['RedrivePolicy'] as { deadLetterTargetArn: unknown };

    expect(Properties).toMatchObject({ Protocol: 'sqs', RawMessageDelivery: true });
    expect(plain(Properties['Endpoint'])).toMatch(/^EventsFeedbackQueue/);
    expect(plain(deadLetterTargetArn)).toMatch(/^EventsFeedbackDeadLetters/);
  });

  it('are encrypted on the way with a key that SES of this account may use', () => {
    const key = one(dispatch, 'AWS::KMS::Key', 'Events');
    const { Statement } = key.Properties['KeyPolicy'] as { Statement: unknown[] };

    expect(plain(one(dispatch, 'AWS::SNS::Topic', 'Events').Properties['KmsMasterKeyId'])).toBe(`${key.id}.Arn`);
    expect(key.Properties['EnableKeyRotation']).toBe(true);
    expect(Statement).toContainEqual({
      Effect: 'Allow',
      Principal: { Service: 'ses.amazonaws.com' },
      Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
      Resource: '*',
      Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
    });
  });
});
