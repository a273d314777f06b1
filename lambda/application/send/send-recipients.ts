import type { MessageAction } from '../../domain/recipient/decide-message.ts';
import type { ClaimResult, WriteResult } from '../ports/recipients.ts';
import { noteUnclearEnds } from '../unclear/note-unclear.ts';
import { actionAfter, type FinishedAttempt, type Group, type RecipientMessage, type SendableGroup } from './finished-attempt.ts';
import { type Actions, groupMessages } from './group-messages.ts';
import { handleInactive, handlePaused, handleRefused, postpone, troubleMs } from './handle-refused-claim.ts';
import { makeAttempt } from './make-attempt.ts';
import { toNotedAnswer } from './pause/noted-answer.ts';
import { prepareMails } from './prepare-mails.ts';
import { createQueueTurns, type QueueTurns } from './rate/queue-turns.ts';
import { recordOutcomes } from './record-outcomes.ts';
import { neededMs, type SendDeps } from './send-deps.ts';
import { type Choice, setAsideWaiting } from './set-aside.ts';

/** Longest sleep for the pace: what is due later waits on the queue, which costs less. */
const LONGEST_SLEEP_MS = 1_000;

/** One invocation: what is decided so far, and the time that is left. */
interface Invocation extends Choice {
  readonly actions: Actions;
  readonly remainingMs: () => number;
}

/**
 * Sends the recipients that a batch of messages names: claims, calls SES once for each, and records what it answered.
 * @returns what to do with each message, in their order
 */
export const createSendRecipients = (deps: SendDeps) => {
  const turns = createQueueTurns(deps);
  return async (messages: readonly RecipientMessage[], remainingMs: () => number): Promise<MessageAction[]> => {
    const invocation: Invocation = { actions: new Map(), lookedAt: new Set(), remainingMs };
    const { actions } = invocation;
    const { sendable, inactive } = await groupMessages(deps, messages, actions);
    await sendAll(deps, turns, sendable, invocation);

    const pausedUntil = inactive.length === 0 ? undefined : await deps.guard.pausedUntil();
    for (const group of inactive) {
      if (pausedUntil !== undefined) await handlePaused(deps, group, pausedUntil, actions);
      else await handleInactive(deps, group, actions);
    }
    const decide = async (message: RecipientMessage): Promise<MessageAction> =>
      actions.get(message) ?? postpone(deps, message, deps.clock() + troubleMs(message, deps.random()));
    return Promise.all(messages.map(decide));
  };
};

const sendAll = async (
  deps: SendDeps,
  turns: QueueTurns,
  sendable: readonly SendableGroup[],
  invocation: Invocation,
): Promise<void> => {
  let waiting = sendable;
  while (waiting.length > 0) {
    const leave = await deps.guard.acquire(invocation.remainingMs);
    if (leave.may === 'wait') {
      for (const group of waiting) await handlePaused(deps, group, leave.until, invocation.actions);
      return;
    }
    const chunk = waiting.slice(0, leave.may === 'probe' ? 1 : await deps.pacer.chunkSize());
    const others = waiting.slice(chunk.length);
    const claimable = (await mustWait(deps, chunk.length)) ? await setAsideWaiting(deps, chunk, invocation) : chunk;
    if (claimable.length < chunk.length) {
      waiting = [...claimable, ...others];
    } else if (await waitForTurn(deps, chunk.length, invocation.remainingMs)) {
      await sendChunk(deps, chunk, invocation);
      waiting = others;
    } else {
      await leaveToQueue(deps, turns, waiting, invocation.actions);
      return;
    }
  }
};

const mustWait = async ({ pacer }: SendDeps, calls: number): Promise<boolean> => {
  const waitMs = await pacer.book(calls);
  pacer.unbook(calls);
  return waitMs > 0;
};

/** Waits for the pace; false, with nothing booked, if that takes too long or leaves no time for a call. */
const waitForTurn = async ({ pacer, policy, random, sleep }: SendDeps, calls: number, remainingMs: () => number) => {
  // Senders that were woken together must not call together.
  const jitterMs = Math.round(random() * Math.min(1000, await pacer.expect(1)));
  const waitMs = await pacer.book(calls);
  const sleepMs = Math.min(LONGEST_SLEEP_MS, waitMs + jitterMs);
  if (waitMs > LONGEST_SLEEP_MS || remainingMs() - sleepMs < neededMs(policy)) {
    pacer.unbook(calls);
    return false;
  }
  await sleep(sleepMs);
  return true;
};

/** Each recipient gets a turn of its own. */
const leaveToQueue = async (
  deps: SendDeps,
  turns: QueueTurns,
  groups: readonly SendableGroup[],
  actions: Actions,
): Promise<void> => {
  for (const { messages } of groups) {
    const until = await turns.next();
    for (const message of messages) actions.set(message, await postpone(deps, message, until));
  }
};

const sendChunk = async (deps: SendDeps, chunk: readonly SendableGroup[], invocation: Invocation): Promise<void> => {
  const { recipients, policy, clock, newId, pacer } = deps;
  const { actions, remainingMs } = invocation;
  const now = clock();
  const claims = chunk.map(({ key }) => ({ key, lease: { token: newId(), until: now + policy.leaseSeconds * 1000 } }));
  const results = await recipients.claimAll(claims, now);

  const answered = chunk.map((group, i) => ({ group, result: results[i] }));
  const granted = answered.flatMap(({ group, result }) =>
    result?.outcome === 'claimed' ? [{ group, claimed: result.claimed }] : [],
  );
  pacer.unbook(chunk.length - granted.length);

  const mails = prepareMails(deps, granted);
  const ends = await Promise.all(mails.map((mail) => makeAttempt(deps, mail, remainingMs)));
  const written = await recordOutcomes(deps, ends, remainingMs);
  const noted = await noteUnclearEnds(deps, ends, written);
  for (const [i, end] of ends.entries()) {
    for (const message of end.group.messages)
      actions.set(
        message,
        noted.has(end)
          ? { do: 'delete' }
          : actionAfter(end, written[i] ?? 'unavailable', message, policy.maxReceiveCount, clock()),
      );
  }
  // After the others are recorded: neither the rules below nor a row that was refused may touch a mail that went out.
  await deps.guard.record(ends.map(toNotedAnswer), remainingMs).catch(() => undefined);
  for (const { group, result } of answered) await handleUnclaimed(deps, group, result, invocation);
  await checkDispatches(deps, ends, written, remainingMs);
};

/** Counting the rows of a large dispatch takes a while, about as long as a call, and the messages in hand may not have it. */
const checkDispatches = async (
  { stopRule, policy }: SendDeps,
  ends: readonly FinishedAttempt[],
  written: readonly WriteResult[],
  remainingMs: () => number,
): Promise<void> => {
  const refused = ends.filter(({ answer }, i) => isRefusal(answer) && written[i] === 'written');
  if (refused.length > 0 && remainingMs() > neededMs(policy)) await stopRule.refused(refused.map(({ group }) => group.key));
};

/** SES will never take that mail, or it cannot be rendered or may not be sent. */
const isRefusal = ({ kind }: FinishedAttempt['answer']): boolean =>
  kind === 'permanent' || kind === 'unrenderable' || kind === 'not-allowed';

const handleUnclaimed = async (
  deps: SendDeps,
  group: Group,
  result: ClaimResult | undefined,
  { actions }: Invocation,
): Promise<void> => {
  switch (result?.outcome) {
    case 'refused':
      await handleRefused(deps, group, result.found, actions);
      return;
    case 'broken':
      deps.observe({ type: 'broken', key: group.key });
      for (const message of group.messages) actions.set(message, { do: 'keep-failing' });
      return;
    case 'claimed':
    case 'unavailable':
    case undefined:
      return;
  }
};
