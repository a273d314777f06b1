import { withResult } from '../domain/attempt.ts';
import { meet, type MessageAction, waitOrRequeue } from '../domain/message-rule.ts';
import { advance, type In, type RecipientKey } from '../domain/recipient.ts';
import { settleUnclear } from '../domain/unclear.ts';
import {
  actionAfter,
  type AttemptAnswer,
  type AttemptEnd,
  eventOf,
  type Group,
  LOOK_AGAIN_MS,
  type RecipientMessage,
  resultOf,
  type SendPolicy,
  type SendSignal,
  signalOf,
  toWrite,
} from './attempt-end.ts';
import type { Pacer } from './pacer.ts';
import type {
  ClaimedRecipient,
  Clock,
  ContentRepository,
  MailProvider,
  MailRenderer,
  NewId,
  Random,
  RecipientRepository,
  Sleep,
  StoredRecipient,
  WriteResult,
} from './ports.ts';

export interface SendRecipientsDeps {
  readonly recipients: RecipientRepository;
  readonly contents: ContentRepository;
  readonly renderer: MailRenderer;
  readonly provider: MailProvider;
  readonly pacer: Pacer;
  readonly policy: SendPolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
  readonly sleep: Sleep;
  /** Must not throw. */
  readonly observe: (signal: SendSignal) => void;
}

/** Time kept back, beside the SES timeout, to record what SES answered. */
const RECORD_RESERVE_MS = 2_000;
const RETRY_WRITE_MS = 200;
const UNAVAILABLE_BASE_SECONDS = 5;
const UNAVAILABLE_CAP_SECONDS = 300;

const groupId = ({ dispatchId, applyId }: RecipientKey): string => `${dispatchId} ${applyId}`;

/**
 * Sends the recipients that a batch of messages names: claims, calls SES once for each, and records what it answered.
 * @returns what to do with each message, in their order
 */
export const createSendRecipients =
  (deps: SendRecipientsDeps) =>
  async (messages: readonly RecipientMessage[], remainingMs: () => number): Promise<MessageAction[]> => {
    const actions = new Map<string, MessageAction>();
    let waiting = await findContents(deps, messages, actions);
    const settledOnce = new Set<string>();

    while (waiting.length > 0) {
      const chunk = waiting.slice(0, await deps.pacer.chunkSize());
      const waitMs = await deps.pacer.book(chunk.length);
      if (remainingMs() - waitMs < deps.policy.sesTimeoutSeconds * 1000 + RECORD_RESERVE_MS) {
        deps.pacer.unbook(chunk.length);
        await leaveForLater(deps, waiting, actions);
        break;
      }
      // Senders that were woken together must not call together.
      await deps.sleep(waitMs + Math.round(deps.random() * Math.min(1000, await deps.pacer.expect(1))));
      const again = await sendChunk(deps, chunk, actions, settledOnce, remainingMs);
      waiting = [...waiting.slice(chunk.length), ...again];
    }
    return messages.map((message) => actions.get(groupId(message.key)) ?? backOff(deps, message));
  };

const findContents = async (
  { contents, observe }: SendRecipientsDeps,
  messages: readonly RecipientMessage[],
  actions: Map<string, MessageAction>,
): Promise<Group[]> => {
  const first = new Map(messages.map((message) => [groupId(message.key), message] as const).reverse());
  const groups: Group[] = [];
  for (const message of messages) {
    const { key } = message;
    if (first.get(groupId(key)) !== message) continue;
    const content = await contents.find(key.dispatchId);
    if (typeof content !== 'string') groups.push({ key, message, content });
    else if (content !== 'unavailable') {
      observe({ type: content, key });
      actions.set(groupId(key), content === 'expired' ? { do: 'delete' } : { do: 'keep-failing' });
    }
  }
  return groups;
};

/** The table did not answer: nothing was judged, so no receive is spent on it, however long it lasts. */
const backOff = ({ policy, clock }: SendRecipientsDeps, message: RecipientMessage): MessageAction => {
  const seconds = Math.min(UNAVAILABLE_CAP_SECONDS, UNAVAILABLE_BASE_SECONDS * 2 ** (message.receiveCount - 1));
  return waitOrRequeue(message, clock() + seconds * 1000, policy.maxReceiveCount);
};

const leaveForLater = async (
  { pacer, policy, clock }: SendRecipientsDeps,
  groups: readonly Group[],
  actions: Map<string, MessageAction>,
) => {
  const until = clock() + (await pacer.expect(groups.length));
  for (const { key, message } of groups) actions.set(groupId(key), waitOrRequeue(message, until, policy.maxReceiveCount));
};

/** @returns the groups that must be claimed anew, because what had become of their last attempt is settled now */
const sendChunk = async (
  deps: SendRecipientsDeps,
  chunk: readonly Group[],
  actions: Map<string, MessageAction>,
  settledOnce: Set<string>,
  remainingMs: () => number,
): Promise<Group[]> => {
  const { recipients, policy, clock, newId, pacer, observe } = deps;
  const now = clock();
  const claims = chunk.map(({ key }) => ({ key, lease: { token: newId(), until: now + policy.leaseSeconds * 1000 } }));
  const results = await recipients.claimAll(claims, now);

  const answered = chunk.map((group, i) => ({ group, result: results[i] }));
  const granted = answered.flatMap(({ group, result }) =>
    result?.outcome === 'claimed' ? [{ group, claimed: result.claimed }] : [],
  );
  pacer.unbook(chunk.length - granted.length);

  const outcomes = await Promise.all(granted.map(({ group, claimed }) => attempt(deps, group, claimed, remainingMs)));
  const written = await record(deps, outcomes, remainingMs);
  for (const [i, outcome] of outcomes.entries()) {
    actions.set(groupId(outcome.group.key), actionAfter(outcome, written[i] ?? 'unavailable', policy.maxReceiveCount, clock()));
  }

  // After the others are recorded: trouble with a row that was refused must not touch a mail that went out.
  const again: Group[] = [];
  for (const { group, result } of answered) {
    if (result?.outcome === 'broken') {
      observe({ type: 'broken', key: group.key });
      actions.set(groupId(group.key), { do: 'keep-failing' });
    } else if (result?.outcome === 'refused') {
      const action = await handleRefused(deps, group, result.found, settledOnce);
      if (action === 'claim-again') again.push(group);
      else actions.set(groupId(group.key), action);
    }
  }
  return again;
};

const handleRefused = async (
  deps: SendRecipientsDeps,
  group: Group,
  found: StoredRecipient | undefined,
  settledOnce: Set<string>,
): Promise<MessageAction | 'claim-again'> => {
  const { policy, clock } = deps;
  const lookAgain: MessageAction = waitOrRequeue(group.message, clock() + LOOK_AGAIN_MS, policy.maxReceiveCount);
  const meeting = meet(found?.recipient, group.message, clock(), policy.maxReceiveCount);
  switch (meeting.do) {
    case 'claim':
      // It became due, or was given back, between the claim and the look.
      return lookAgain;
    case 'settle':
      if (found?.recipient.status !== 'PROCESSING' || settledOnce.has(groupId(group.key))) return lookAgain;
      settledOnce.add(groupId(group.key));
      return settle(deps, group, { ...found, recipient: found.recipient }, lookAgain);
    case 'reopen':
      return found?.recipient.status === 'FAILED' ? reopen(deps, group, found.recipient, lookAgain) : lookAgain;
    case 'delete':
    case 'wait':
    case 'requeue':
    case 'keep-failing':
      return meeting;
  }
};

const settle = async (
  { recipients, policy, clock, observe }: SendRecipientsDeps,
  { key }: Group,
  { recipient, attempts }: StoredRecipient & { readonly recipient: In<'PROCESSING'> },
  lookAgain: MessageAction,
): Promise<MessageAction | 'claim-again'> => {
  const { token } = recipient.lease;
  const type = settleUnclear(policy.unclear, recipient, attempts, policy.attemptsPerRound);
  const transition = advance(recipient, { type, token }, clock());
  if (!transition.ok) return lookAgain;
  const [result] = await recipients.writeAll([
    { key, token, next: transition.next, attempts: withResult(attempts, token, { outcome: 'unclear' }) },
  ]);
  if (result !== 'written') return lookAgain;
  observe({
    type: type === 'settled-unsent' ? 'resent' : 'unknown',
    key,
    round: recipient.round,
    attempt: recipient.attemptCount,
  });
  return type === 'settled-unsent' ? 'claim-again' : { do: 'delete' };
};

/** A redriven message only reopens; the relay sends a fresh one. */
const reopen = async (
  { recipients, clock, observe }: SendRecipientsDeps,
  { key, message }: Group,
  from: In<'FAILED'>,
  lookAgain: MessageAction,
): Promise<MessageAction> => {
  const transition = advance(from, { type: 'redriven', message: { id: message.id, sentAt: message.sentAt } }, clock());
  if (!transition.ok) return lookAgain;
  const result = await recipients.reopen(key, from, transition.next);
  if (result !== 'written') return lookAgain;
  observe({ type: 'reopened', key, round: transition.next.round });
  return { do: 'delete' };
};

const attempt = async (
  deps: SendRecipientsDeps,
  group: Group,
  claimed: ClaimedRecipient,
  remainingMs: () => number,
): Promise<AttemptEnd> => {
  const { policy, clock, random, observe, pacer } = deps;
  const startedAt = clock();
  const answer = await answerFor(deps, group, claimed, remainingMs);
  if (answer.kind === 'throttled') pacer.throttled();

  const now = clock();
  const event = eventOf(answer, claimed, group.message, policy, now, random());
  const transition = advance(claimed.recipient, event, now);
  // The row was claimed by this worker a moment ago, so each of its own events is allowed.
  if (!transition.ok) throw new Error(`${event.type} is not allowed: ${transition.because}`);
  const result = { ...resultOf(answer), ms: now - startedAt };
  observe(signalOf(answer, transition.next, group.key, claimed));
  return { group, claimed, next: transition.next, result, answer };
};

/** A crash of the renderer is a fault of this mail, and nothing was sent: the others of the chunk go on. */
const render = (renderer: MailRenderer, ...args: Parameters<MailRenderer['render']>): ReturnType<MailRenderer['render']> => {
  try {
    return renderer.render(...args);
  } catch {
    return { ok: false, code: 'RENDERING_CRASHED' };
  }
};

const answerFor = async (
  { policy, clock, provider, renderer }: SendRecipientsDeps,
  { key, content }: Group,
  claimed: ClaimedRecipient,
  remainingMs: () => number,
): Promise<AttemptAnswer> => {
  const rendered = render(renderer, key.dispatchId, content, claimed);
  if (!rendered.ok) return { kind: 'permanent', code: rendered.code };
  const needed = policy.sesTimeoutSeconds * 1000;
  if (claimed.recipient.lease.until - clock() <= needed || remainingMs() <= needed)
    return { kind: 'no-time', code: 'NO_TIME_LEFT' };
  const { from, replyTo } = content;
  return provider.send(
    { ...rendered.mail, from, ...(replyTo !== undefined && { replyTo }), to: claimed.email },
    { ...key, round: claimed.recipient.round, attempt: claimed.recipient.attemptCount, lease: claimed.recipient.lease.token },
  );
};

/** Writes until each outcome stands or is disowned, or time runs out: what SES answered must not be lost lightly. */
const record = async (
  { recipients, sleep, observe }: SendRecipientsDeps,
  ends: readonly AttemptEnd[],
  remainingMs: () => number,
): Promise<WriteResult[]> => {
  const results: WriteResult[] = ends.map(() => 'unavailable');
  for (;;) {
    const open = [...ends.entries()].filter(([i]) => results[i] === 'unavailable');
    // Whatever the table says, SES has answered: giving up here would lose that, so the write is repeated.
    const written = open.length === 0 ? [] : await recipients.writeAll(open.map(([, end]) => toWrite(end))).catch(() => []);
    for (const [n, [i]] of open.entries()) results[i] = written[n] ?? 'unavailable';
    if (!results.includes('unavailable') || remainingMs() < RETRY_WRITE_MS * 5) break;
    await sleep(RETRY_WRITE_MS);
  }
  for (const [i, { group }] of ends.entries()) if (results[i] !== 'written') observe({ type: 'not-recorded', key: group.key });
  return results;
};
