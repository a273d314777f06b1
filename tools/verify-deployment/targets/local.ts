import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SNSClient } from '@aws-sdk/client-sns';
import { SQSClient } from '@aws-sdk/client-sqs';

import { CREDENTIALS } from '../../../local/clients.ts';
import { REGION } from '../../../local/cloudformation/types/identity.ts';
import { redrive } from '../../../local/redrive/redrive.ts';
import { findRunningStack } from '../../../local/redrive/running-stack.ts';
import type { StackFile } from '../../../local/stack-file.ts';
import type { Options } from '../options.ts';
import { lacking, type Target, type WidgetAnswer } from '../target.ts';
import { readSubscription } from './event-destinations.ts';

/** Asks the operations page, which invokes the function as CloudWatch does. */
const askWidget = async (api: string): Promise<WidgetAnswer> => {
  const response = await fetch(`${api}/ops/widget`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: api },
    body: '{}',
  });
  const text = await response.text();
  return response.ok ? { ok: true, html: text } : { ok: false, reason: text };
};

/** A local stack as a target. */
export const toLocalTarget = (stack: StackFile, { token, operatorToken, templatePrefix }: Options): Target => {
  const at = (endpoint: string) => ({ endpoint, region: REGION, credentials: CREDENTIALS });
  const ses = new SESv2Client(at(stack.ses));
  const sns = new SNSClient(at(stack.sqs));
  const sqs = new SQSClient(at(stack.sqs));
  const { queueUrl, deadLetterQueueUrl } = stack;
  return {
    name: `the local stack at ${stack.api}`,
    api: stack.api,
    tokens: { sender: token ?? stack.tokens.admin, operator: operatorToken ?? token ?? stack.tokens.operator },
    expectedClaims: {},
    ses,
    templatePrefix: templatePrefix ?? stack.templatePrefix,
    sqs,
    queues: { send: queueUrl, sendDeadLetters: deadLetterQueueUrl, task: stack.taskQueueUrl, feedback: stack.feedbackQueueUrl },
    redrive: async () => {
      await redrive({ sqs, queueUrl, deadLetterQueueUrl });
    },
    destinations: lacking('The local SES has no event destinations to read.'),
    subscription: () => readSubscription(sns, stack.feedbackQueueUrl),
    alarms: lacking('The local stack has no alarms.'),
    widget: () => askWidget(stack.api),
    close: () => {
      for (const client of [ses, sns, sqs]) client.destroy();
    },
  };
};

/** The stack that `npm start` runs in LOCAL_DIR; throws if none does. */
export const openLocal = (options: Options, environment: NodeJS.ProcessEnv): Target =>
  toLocalTarget(findRunningStack(environment), options);
