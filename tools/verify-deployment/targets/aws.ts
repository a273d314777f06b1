import { join } from 'node:path';

import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SNSClient } from '@aws-sdk/client-sns';
import { GetQueueAttributesCommand, SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';

import { type Options, UsageError } from '../options.ts';
import { offer, type Target } from '../target.ts';
import { readAlarms } from './alarms.ts';
import { readDestinations, readSubscription } from './event-destinations.ts';
import { readStageOutputs } from './stack-outputs.ts';
import { readStageSettings } from './stage-settings.ts';
import { askWidget } from './widget-function.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Starts a redrive of SQS's own, by which all dead letters go back to their queue. */
export const startRedrive = async (sqs: SQSClient, deadLetterQueueUrl: string): Promise<void> => {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLetterQueueUrl, AttributeNames: ['QueueArn'] }),
  );
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: Attributes['QueueArn'] }));
};

/** A stage on AWS, reached with the credentials and the region of the environment; throws NotDeployed and UsageError. */
export const openStage = async (stage: string, options: Options): Promise<Target> => {
  const { token } = options;
  if (token === undefined) throw new UsageError('Give a token of the stage’s issuer: --token, or the variable TOKEN.');
  const cloudFormation = new CloudFormationClient();
  const clients = { ses: new SESv2Client(), sns: new SNSClient(), sqs: new SQSClient() };
  const cloudWatch = new CloudWatchClient();
  const lambda = new LambdaClient();
  const outputs = await readStageOutputs(cloudFormation, stage);
  const { templatePrefix, ...expectedClaims } = readStageSettings(join(ROOT, 'cdk.json'), stage);

  return {
    name: `stage ${stage} in ${await cloudFormation.config.region()}`,
    api: outputs.ApiUrl.replace(/\/$/, ''),
    tokens: { sender: token, operator: options.operatorToken ?? token },
    expectedClaims,
    ses: clients.ses,
    templatePrefix: options.templatePrefix ?? templatePrefix,
    sqs: clients.sqs,
    queues: {
      send: outputs.SendQueueUrl,
      sendDeadLetters: outputs.SendDeadLetterQueueUrl,
      task: outputs.TaskQueueUrl,
      feedback: outputs.FeedbackQueueUrl,
    },
    redrive: () => startRedrive(clients.sqs, outputs.SendDeadLetterQueueUrl),
    destinations: offer(() => readDestinations(clients.ses, outputs.ConfigurationSetName)),
    subscription: () => readSubscription(clients.sns, outputs.FeedbackQueueUrl),
    alarms: offer(() => readAlarms(cloudWatch, `mail-dispatch-${stage}-watch-`)),
    widget: () => askWidget(lambda, outputs.WidgetFunctionArn),
    close: () => {
      for (const client of [cloudFormation, cloudWatch, lambda, ...Object.values(clients)]) client.destroy();
    },
  };
};
