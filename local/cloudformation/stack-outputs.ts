import * as z from 'zod';

import type { StackFile } from '../stack-file.ts';
import type { Model } from './model.ts';

/** The templates' outputs that a stack's description names. */
const Outputs = z
  .object({
    TableName: z.string(),
    FailureBucketName: z.string(),
    ListBucketName: z.string(),
    EventBusName: z.string(),
    SendQueueUrl: z.string(),
    SendDeadLetterQueueUrl: z.string(),
    TaskQueueUrl: z.string(),
    TaskDeadLetterQueueUrl: z.string(),
    FeedbackQueueUrl: z.string(),
    FeedbackDeadLetterQueueUrl: z.string(),
  })
  .transform((outputs) => ({
    tableName: outputs.TableName,
    failureBucket: outputs.FailureBucketName,
    listBucket: outputs.ListBucketName,
    eventBusName: outputs.EventBusName,
    queueUrl: outputs.SendQueueUrl,
    deadLetterQueueUrl: outputs.SendDeadLetterQueueUrl,
    taskQueueUrl: outputs.TaskQueueUrl,
    taskDeadLetterQueueUrl: outputs.TaskDeadLetterQueueUrl,
    feedbackQueueUrl: outputs.FeedbackQueueUrl,
    feedbackDeadLetterQueueUrl: outputs.FeedbackDeadLetterQueueUrl,
  }));

const AcceptVariables = z.object({ TEMPLATE_PREFIX: z.string(), FROM_ADDRESS: z.string() });

/** The settings that the accepting function has from the template. */
const readAcceptSettings = (model: Model): Pick<StackFile, 'templatePrefix' | 'fromAddress'> => {
  for (const { properties } of model.functions) {
    const { data } = AcceptVariables.safeParse(properties.Environment.Variables);
    if (data) return { templatePrefix: data.TEMPLATE_PREFIX, fromAddress: data.FROM_ADDRESS };
  }
  throw new Error('no function of the template has TEMPLATE_PREFIX and FROM_ADDRESS');
};

/** What a stack's description takes from the templates. */
export const readOutputs = (model: Model) => ({ ...Outputs.parse(model.outputs), ...readAcceptSettings(model) });
