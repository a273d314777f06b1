import type { MessageAction } from '../domain/message-rule.ts';
import { advance } from '../domain/recipient.ts';
import {
  actionAfter,
  type AttemptAnswer,
  type AttemptEnd,
  eventOf,
  type Group,
  groupId,
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
  WriteResult,
} from './ports.ts';
import { meetRefused, postpone, settleIfOver, troubleMs } from './refused-claim.ts';

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

/** What was decided, message by message. */
type Actions = Map<RecipientMessage, MessageAction>;

/**
 * Sends the recipients that a batch of messages names: claims, calls SES once for each, and records what it answered.
 * @returns what to do with each message, in their order
 */
export const createSendRecipients =
  (deps: SendRecipientsDeps) =>
  async (messages: readonly RecipientMessage[], remainingMs: () => number): Promise<MessageAction[]> => {
    const actions: Actions = new Map();
    let waiting = await findContents(deps, messages, actions);
    const settledOnce = new Set<string>();

    while (waiting.length > 0) {
      const chunk = waiting.slice(0, await deps.pacer.chunkSize());
      // Senders that were woken together must not call together.
      const jitterMs = Math.round(deps.random() * Math.min(1000, await deps.pacer.expect(1)));
      const waitMs = (await deps.pacer.book(chunk.length)) + jitterMs;
      if (remainingMs() - waitMs < neededMs(deps.policy)) {
        deps.pacer.unbook(chunk.length);
        const until = deps.clock() + (await deps.pacer.expect(waiting.length));
        for (const message of waiting.flatMap((group) => group.messages))
          actions.set(message, await postpone(deps, message, until));
        break;
      }
      await deps.sleep(waitMs);
      const again = await sendChunk(deps, chunk, actions, settledOnce, remainingMs);
      waiting = [...waiting.slice(chunk.length), ...again];
    }
    const decide = async (message: RecipientMessage): Promise<MessageAction> =>
      actions.get(message) ?? postpone(deps, message, deps.clock() + troubleMs(message, deps.random()));
    return Promise.all(messages.map(decide));
  };

/** Time for one call to SES and for recording its answer. */
const neededMs = ({ sesTimeoutSeconds }: SendPolicy): number => sesTimeoutSeconds * 1000 + RECORD_RESERVE_MS;

const findContents = async (
  { contents, observe }: SendRecipientsDeps,
  messages: readonly RecipientMessage[],
  actions: Actions,
): Promise<Group[]> => {
  const groups: Group[] = [];
  for (const together of Map.groupBy(messages, ({ key }) => groupId(key)).values()) {
    const [message] = together;
    if (message === undefined) continue;
    const { key } = message;
    const content = await contents.find(key.dispatchId);
    if (typeof content !== 'string') groups.push({ key, message, messages: together, content });
    else if (content !== 'unavailable') {
      observe({ type: content, key });
      for (const each of together) actions.set(each, content === 'expired' ? { do: 'delete' } : { do: 'keep-failing' });
    }
  }
  return groups;
};

/** @returns the groups that must be claimed anew, because what had become of their last attempt is settled now */
const sendChunk = async (
  deps: SendRecipientsDeps,
  chunk: readonly Group[],
  actions: Actions,
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
    for (const message of outcome.group.messages) {
      actions.set(message, actionAfter(outcome, written[i] ?? 'unavailable', message, policy.maxReceiveCount, clock()));
    }
  }

  // After the others are recorded: trouble with a row that was refused must not touch a mail that went out.
  const again: Group[] = [];
  for (const { group, result } of answered) {
    if (result?.outcome === 'broken') {
      observe({ type: 'broken', key: group.key });
      for (const message of group.messages) actions.set(message, { do: 'keep-failing' });
    } else if (result?.outcome === 'refused') {
      const settled = await settleIfOver(deps, group, result.found, settledOnce);
      if (settled === 'claim-again') again.push(group);
      else
        for (const message of group.messages) actions.set(message, settled ?? (await meetRefused(deps, message, result.found)));
    }
  }
  return again;
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
  const needed = neededMs(policy);
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
