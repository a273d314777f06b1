import { type CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import * as z from 'zod';

/** The outputs that the tool needs of the three stacks of a stage. */
export const StageOutputs = z.object({
  ApiUrl: z.url(),
  ConfigurationSetName: z.string(),
  SendQueueUrl: z.url(),
  SendDeadLetterQueueUrl: z.url(),
  TaskQueueUrl: z.url(),
  FeedbackQueueUrl: z.url(),
  WidgetFunctionArn: z.string(),
});
export type StageOutputs = z.output<typeof StageOutputs>;

/** Names of the stacks of a stage: service, and alarms. */
export const stacksOf = (stage: string): readonly string[] => [`mail-dispatch-${stage}`, `mail-dispatch-${stage}-watch`];

/** The deployment cannot be found, in words for a person. */
export class NotDeployed extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'NotDeployed';
  }
}

const readStack = async (client: CloudFormationClient, StackName: string): Promise<Record<string, string>> => {
  try {
    const { Stacks = [] } = await client.send(new DescribeStacksCommand({ StackName }));
    const outputs = Stacks[0]?.Outputs ?? [];
    return Object.fromEntries(outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]));
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError') {
      throw new NotDeployed(
        `There is no stack ${StackName} in this account and region: compare AWS_PROFILE and AWS_REGION, or deploy.`,
      );
    }
    throw error;
  }
};

/** Reads the outputs of a stage; throws NotDeployed. */
export const readStageOutputs = async (client: CloudFormationClient, stage: string): Promise<StageOutputs> => {
  const all = await Promise.all(stacksOf(stage).map((name) => readStack(client, name)));
  const outputs = StageOutputs.safeParse(Object.assign({}, ...all));
  if (outputs.success) return outputs.data;
  const missing = outputs.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new NotDeployed(
    `The stacks of ${stage} lack the outputs ${missing}: deploy this version of the app, or use the tool of the deployed one.`,
  );
};
