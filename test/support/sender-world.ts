import type { TableOrigin } from '../../lambda/application/ports/control.ts';
import type { ContentRepository } from '../../lambda/application/ports/dispatches.ts';
import type { MailRenderer } from '../../lambda/application/ports/provider.ts';
import type { Random } from '../../lambda/application/ports/system.ts';
import { applyActions } from '../../lambda/application/send/apply-actions.ts';
import type { RecipientMessage, SendPolicy, SendSignal } from '../../lambda/application/send/finished-attempt.ts';
import { createPauseGuard, type PauseSignal } from '../../lambda/application/send/pause/pause-guard.ts';
import { createPacer, type Pacer } from '../../lambda/application/send/rate/pacer.ts';
import type { SendRate } from '../../lambda/application/send/rate/send-rate.ts';
import { neededMs } from '../../lambda/application/send/send-deps.ts';
import { createSendRecipients } from '../../lambda/application/send/send-recipients.ts';
import { createStopRule } from '../../lambda/application/send/stop-dispatch.ts';
import {
  createResolveUnclear,
  type ResolveReport,
  type ResolveSignal,
} from '../../lambda/application/unclear/resolve-unclear.ts';
import type { IsAllowedRecipient } from '../../lambda/domain/recipient/allowed-recipients.ts';
import type { MessageAction } from '../../lambda/domain/recipient/decide-message.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { ResolvePolicy } from '../../lambda/domain/recipient/unclear.ts';
import type { SendAnswer } from '../../lambda/domain/sending/send-answer.ts';
import { aContent, aKey, aPolicy, aRecipient } from './builders.ts';
import { createFakeClock, type FakeClock } from './clock.ts';
import { createFakeCanaries, createFakeQuota, type FakeCanaries, type FakeQuota } from './fake-canaries.ts';
import { createFakeDispatches, createFakeSending, type FakeDispatches, type FakeSending } from './fake-control.ts';
import { createFakeFeedback, type FakeFeedback } from './fake-feedback.ts';
import { createFakeLedger, type FakeLedger } from './fake-ledger.ts';
import {
  type Call,
  createFakeContents,
  createFakeProvider,
  createFakeRecipients,
  type FakeProvider,
  type FakeRecipients,
  plainRenderer,
} from './fakes.ts';
import { createSimulatedQueue, type SimulatedQueue } from './simulated-queue.ts';

export interface WorldOptions {
  readonly applyIds?: readonly string[];
  readonly policy?: Partial<SendPolicy & ResolvePolicy>;
  readonly answer?: (call: Call, n: number) => SendAnswer | Promise<SendAnswer>;
  readonly contents?: ContentRepository;
  readonly renderer?: MailRenderer;
  readonly isAllowedRecipient?: IsAllowedRecipient;
  readonly random?: Random;
  readonly maxSendRate?: number;
  readonly parallelCalls?: number;
  readonly observe?: (signal: SendSignal) => void;
  /** How long an invocation may run. */
  readonly invocationMs?: number;
  /** Another environment of the same service: it shares what is kept in the table. */
  readonly beside?: SenderWorld;
}

const WALK_MS = 60_000;
let environments = 0;

/** A sender with everything it touches in memory. */
export interface SenderWorld {
  readonly clock: FakeClock;
  readonly recipients: FakeRecipients;
  readonly dispatches: FakeDispatches;
  readonly sending: FakeSending;
  /** Whose items the table holds. */
  readonly table: { origin: TableOrigin | 'unavailable' };
  readonly feedback: FakeFeedback;
  readonly ledger: FakeLedger;
  readonly canaries: FakeCanaries;
  readonly quota: FakeQuota;
  readonly provider: FakeProvider;
  readonly queue: SimulatedQueue;
  readonly pacer: Pacer;
  readonly signals: (SendSignal | ResolveSignal)[];
  readonly pauses: PauseSignal[];
  /** One invocation over these messages. */
  readonly send: (messages: readonly RecipientMessage[], invocationMs?: number) => Promise<MessageAction[]>;
  /** One invocation over what the queue gives, carried out to the end. */
  readonly invoke: () => Promise<void>;
  /** One walk over the unclear attempts. */
  readonly walk: (hasTime?: () => boolean) => Promise<ResolveReport>;
  /** Invocations, walks and waiting in turn, until queue and ledger are empty or time is up. */
  readonly run: (limitMs?: number) => Promise<void>;
  readonly statuses: () => string[];
}

export const createSenderWorld = ({
  applyIds = ['a-1'],
  policy: changes = {},
  answer,
  contents = createFakeContents(),
  renderer = plainRenderer,
  isAllowedRecipient = () => true,
  random = () => 0.5,
  maxSendRate = 1000,
  parallelCalls = 10,
  observe,
  invocationMs = 30_000,
  beside,
}: WorldOptions = {}): SenderWorld => {
  const clock = beside?.clock ?? createFakeClock();
  const policy = aPolicy(changes);
  const recipients =
    beside?.recipients ??
    createFakeRecipients(applyIds.map((applyId) => [aKey(applyId), aRecipient(undefined, { applyId })] as const));
  const provider = createFakeProvider(answer);
  const queue = beside?.queue ?? createSimulatedQueue(clock, { maxReceiveCount: policy.maxReceiveCount });
  const pacer = createPacer({ clock: clock.now, sendRate: aSendRate(maxSendRate), rateShare: 0.9, senders: 1, parallelCalls });
  const dispatches = beside?.dispatches ?? createFakeDispatches(recipients);
  const sending = beside?.sending ?? createFakeSending();
  const table = beside?.table ?? { origin: 'own' };
  const canaries = beside?.canaries ?? createFakeCanaries();
  const quota = beside?.quota ?? createFakeQuota();
  const feedback = beside?.feedback ?? createFakeFeedback();
  const ledger = beside?.ledger ?? createFakeLedger();
  const signals: (SendSignal | ResolveSignal)[] = [];
  const pauses: PauseSignal[] = [];
  let tokens = 0;
  const postJson = observe ?? ((signal: SendSignal) => signals.push(signal));
  const stopRule = createStopRule({ dispatches, clock: clock.now, observe: postJson });

  const sendRecipients = createSendRecipients({
    recipients,
    dispatches,
    contents,
    ledger,
    renderer,
    isAllowedRecipient,
    provider,
    pacer,
    guard: createPauseGuard({
      sending,
      sweeps: sending,
      identity: { origin: () => Promise.resolve(table.origin) },
      canaries,
      provider,
      quota,
      stopDispatch: (...args) => stopRule.stop(...args),
      policy: { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: policy.sesTimeoutSeconds + 15 },
      fromAddress: aContent().from,
      lookAgainSeconds: 900,
      callMs: neededMs(policy),
      clock: clock.now,
      random,
      newId: () => `environment-${(environments += 1)}`,
      sleep: clock.sleep,
      observe: (signal) => pauses.push(signal),
    }),
    stopRule,
    policy,
    clock: clock.now,
    random,
    newId: () => `lease-${beside === undefined ? '' : 'b-'}${(tokens += 1)}`,
    sleep: clock.sleep,
    observe: postJson,
  });

  const resolveUnclear = createResolveUnclear({
    ledger,
    walks: ledger.walks,
    recipients,
    feedback,
    sending,
    sendQueue: queue,
    provider,
    from: 'Recruiting <jobs@example.org>',
    policy,
    clock: clock.now,
    random,
    observe: (signal) => signals.push(signal),
  });

  const send = (messages: readonly RecipientMessage[], ms = invocationMs): Promise<MessageAction[]> => {
    const deadline = clock.now() + ms;
    return sendRecipients(messages, () => deadline - clock.now());
  };

  const invoke = async (): Promise<void> => {
    const received = queue.receive();
    const actions = await send(received.map(({ message }) => message));
    const inHand = received.map(({ receiptHandle, message: { key } }, i) => ({
      receiptHandle,
      key,
      action: actions[i] ?? { do: 'keep-failing' as const },
    }));
    const stays = await applyActions(queue, clock.now, inHand);
    for (const [i, { receiptHandle }] of inHand.entries()) if (stays[i] === false) queue.remove(receiptHandle);
  };

  return {
    clock,
    recipients,
    dispatches,
    sending,
    table,
    feedback,
    ledger,
    canaries,
    quota,
    provider,
    queue,
    pacer,
    signals,
    pauses,
    send,
    invoke,
    walk: (hasTime = () => true) => resolveUnclear(hasTime),
    run: async (limitMs = 24 * 3_600_000) => {
      const end = clock.now() + limitMs;
      for (;;) {
        const nextWalk = ledger.items.size === 0 ? Infinity : clock.now() + WALK_MS;
        const next = Math.min(queue.nextVisibleAt() ?? Infinity, nextWalk);
        if (next > end) return;
        clock.to(next);
        await (next === nextWalk ? resolveUnclear(() => true) : invoke());
      }
    },
    statuses: () => recipients.all().map(({ recipient }) => recipient.status),
  };
};

/** A rate that is known. */
export const aSendRate = (perSecond: number) => (): Promise<SendRate> => Promise.resolve({ perSecond, isGuess: false });

/** Messages as the relay puts them on the queue. */
export const relay = async (world: SenderWorld, keys: readonly RecipientKey[]): Promise<void> => {
  await world.queue.send(keys.map((key) => ({ key, delaySeconds: 0 })));
};
