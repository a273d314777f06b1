import type { StackFile } from '../stack-file.ts';

/** A queue, and where its messages go that could not be handled. */
export interface RepairableQueue {
  readonly queueUrl: string;
  readonly deadLetterQueueUrl: string;
}

type QueueUrls = Pick<
  StackFile,
  | 'queueUrl'
  | 'deadLetterQueueUrl'
  | 'taskQueueUrl'
  | 'taskDeadLetterQueueUrl'
  | 'feedbackQueueUrl'
  | 'feedbackDeadLetterQueueUrl'
>;

/** The queues that have dead letters, by the name that a person calls them by. */
export const repairableQueues = (stack: QueueUrls): Readonly<Record<string, RepairableQueue>> => ({
  sends: { queueUrl: stack.queueUrl, deadLetterQueueUrl: stack.deadLetterQueueUrl },
  tasks: { queueUrl: stack.taskQueueUrl, deadLetterQueueUrl: stack.taskDeadLetterQueueUrl },
  feedback: { queueUrl: stack.feedbackQueueUrl, deadLetterQueueUrl: stack.feedbackDeadLetterQueueUrl },
});
