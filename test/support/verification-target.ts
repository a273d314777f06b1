import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SQSClient } from '@aws-sdk/client-sqs';

import { lacking, type Target } from '../../tools/verify-deployment/target.ts';

/** A target whose parts answer nothing by themselves. */
export const aTarget = (given: Partial<Target> = {}): Target => {
  const client = { region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' } };
  return {
    name: 'a stage',
    api: 'http://127.0.0.1:1',
    tokens: { sender: 'e30.e30.x', operator: 'e30.e30.x' },
    expectedClaims: {},
    ses: new SESv2Client(client),
    templatePrefix: '',
    sqs: new SQSClient({ ...client, maxAttempts: 1 }),
    queues: {
      send: 'https://sqs.eu-west-1.amazonaws.com/123456789012/sends',
      sendDeadLetters: 'https://sqs.eu-west-1.amazonaws.com/123456789012/dead',
      task: 'https://sqs.eu-west-1.amazonaws.com/123456789012/tasks',
      feedback: 'https://sqs.eu-west-1.amazonaws.com/123456789012/feedback',
    },
    redrive: () => Promise.resolve(),
    destinations: lacking('not here'),
    subscription: () => Promise.resolve({ raw: true }),
    alarms: lacking('not here'),
    widget: () => Promise.resolve({ ok: true, html: '' }),
    close: () => undefined,
    ...given,
  };
};
