import { setTimeout as sleep } from 'node:timers/promises';

import { SendMessageCommand, SQSServiceException } from '@aws-sdk/client-sqs';

import { type Check, failed, type Outcome, passed, skipped } from '../check.ts';
import type { Options } from '../options.ts';
import { deleteOwn, findOwn } from '../own-messages.ts';
import { readDepth, totalOf } from '../queue-depth.ts';
import type { World } from '../world.ts';

type Problem = 'never-dead' | 'not-redriven' | 'not-removed';

/** Nobody can understand it: it names this run and no recipient. */
const markerOf = ({ runId }: Pick<World, 'runId'>): string => `verify-deployment ${runId}`;

/** Waits for the message. A redrive makes a new message of it, with another id than before. */
const waitForDeadLetter = async (world: World, before?: string): Promise<string | undefined> => {
  const { waiting, target, options } = world;
  const { came, last } = await waiting.until(
    () => findOwn(target.sqs, target.queues.sendDeadLetters, markerOf(world)),
    (id) => id !== undefined && id !== before,
    options.waitSeconds,
  );
  return came ? last : undefined;
};

const deadLettersOf = async ({ target }: World): Promise<number> =>
  totalOf(await readDepth(target.sqs, target.queues.sendDeadLetters));

const removeOwn = ({ target, ...world }: World, queue: 'send' | 'sendDeadLetters'): Promise<number> =>
  deleteOwn(target.sqs, target.queues[queue], markerOf(world));

const ARRIVAL_TRIES = 12;
const BETWEEN_MS = 3_000;

/**
 * What is still in the live queue gets to the dead letters by itself, and is removed there. The live queue is read only if
 * that does not happen: each look counts as a receive of the messages of others.
 */
const removeAfterwards = async (world: World): Promise<void> => {
  for (let n = 0; n < ARRIVAL_TRIES; n += 1) {
    if ((await removeOwn(world, 'sendDeadLetters')) > 0) return;
    await sleep(BETWEEN_MS);
  }
  if ((await removeOwn(world, 'send')) === 0) throw new Error('the malformed message is in neither queue');
};

/** A message that was refused is in no queue. */
const put = async ({ target, ...world }: World, forget: () => void): Promise<void> => {
  const MessageBody = JSON.stringify({ malformed: markerOf(world) });
  try {
    await target.sqs.send(new SendMessageCommand({ QueueUrl: target.queues.send, MessageBody }));
  } catch (error) {
    if (error instanceof SQSServiceException) forget();
    throw error;
  }
};

const goRound = async (world: World): Promise<Outcome<Problem>> => {
  const { target } = world;
  const first = await waitForDeadLetter(world);
  if (first === undefined) return failed('never-dead', 'a malformed message did not reach the dead-letter queue');
  await target.redrive();
  if ((await waitForDeadLetter(world, first)) === undefined)
    return failed('not-redriven', 'after a redrive it did not come back to the dead-letter queue');
  await removeOwn(world, 'sendDeadLetters');
  return passed('dead-lettered, redriven, dead-lettered again, and removed');
};

const effectsOf = ({ redrive, stage }: Options): string[] => {
  if (!redrive) return [];
  const effects = ['Put one malformed message into the send queue, redrive it once, and remove it from the dead-letter queue.'];
  if (stage === undefined) return effects;
  return [
    ...effects,
    'That message sets off the alarm on dead letters, which pages the people on duty: tell them, or add --no-redrive.',
  ];
};

/** A message that nobody can understand ends in the dead-letter queue, and an operator can redrive and remove it. */
export const deadLetter: Check<Problem> = {
  id: 'dead-letter',
  name: 'Dead letter and redrive',
  needs: ['one'],
  disturbs: true,
  effects: effectsOf,
  advice: {
    'never-dead':
      'The message was neither dead-lettered nor understood. Look at the send queue: it needs a redrive policy (maxReceiveCount), and the sender must take messages from it. The message may still be in it; it holds no personal data.',
    'not-redriven':
      'Dead letters cannot be moved back. Your credentials need sqs:StartMessageMoveTask, ReceiveMessage, DeleteMessage and GetQueueAttributes on the dead-letter queue and SendMessage on the send queue; a redrive allow policy must not forbid it.',
    'not-removed':
      'Remove the message in the SQS console ("Poll for messages" on the dead-letter queue); its body names this run.',
  },
  run: async (world) => {
    const { target, options, cleanup } = world;
    if (!options.redrive) return skipped('Left out, as asked.');
    const before = await deadLettersOf(world);
    if (before > 0)
      return skipped(`${before} dead letters wait already: handle them first (docs/runbook.md, "Send dead letters").`);
    const forget = cleanup.add({
      what: `the malformed message "${markerOf(world)}"`,
      byHand: 'SQS console, dead-letter queue of sends, "Poll for messages", delete it',
      undo: () => removeAfterwards(world),
    });
    await put(world, forget);
    const outcome = await goRound(world);
    if (outcome.kind !== 'passed') return outcome;
    const left = await findOwn(target.sqs, target.queues.sendDeadLetters, markerOf(world));
    if (left !== undefined) return failed('not-removed', 'the malformed message is still in the dead-letter queue');
    forget();
    return outcome;
  },
};
