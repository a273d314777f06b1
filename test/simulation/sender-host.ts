import type { SendQueue } from '../../lambda/application/ports/queues.ts';
import { applyActions } from '../../lambda/application/send/apply-actions.ts';
import type { SendSignal } from '../../lambda/application/send/finished-attempt.ts';
import { createPauseGuard, type PauseGuard } from '../../lambda/application/send/pause/pause-guard.ts';
import { createPacer } from '../../lambda/application/send/rate/pacer.ts';
import { neededMs } from '../../lambda/application/send/send-deps.ts';
import { createSendRecipients } from '../../lambda/application/send/send-recipients.ts';
import { createStopRule, type StopRule } from '../../lambda/application/send/stop-dispatch.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import { pauseFor, type PausePolicy } from '../../lambda/domain/sending/pause.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import { aContent } from '../support/builders.ts';
import { createFakeContents, plainRenderer } from '../support/fakes.ts';
import { createCanaryPort, createDispatchPort, createSendingPort, createSweepStatesPort } from './control-ports.ts';
import type { Environment } from './event-source.ts';
import { countDuplicate } from './feedback-host.ts';
import { isWithin } from './plan.ts';
import type { PortDeps } from './ports.ts';
import { createRecipientPort } from './recipient-port.ts';
import type { Host, Process } from './scheduler.ts';
import type { Ses } from './ses.ts';
import { createLedgerPort } from './unclear-port.ts';

/** What a message of the send queue says. */
export interface SendBody {
  readonly id: string;
  readonly key: RecipientKey;
}

export interface SenderHostDeps extends PortDeps {
  readonly ses: Ses;
  readonly sendQueue: (process: () => Process) => SendQueue;
  readonly newId: () => string;
}

/** A loaded sender. */
export const loadSender = (deps: SenderHostDeps, host: Host): Environment<SendBody> => {
  const { scheduler, dice, plan } = deps;
  let current: Process | undefined;
  const process = (): Process => {
    if (current === undefined) throw new Error('nothing runs here');
    return current;
  };
  const clock = (): Instant => scheduler.now() + host.skewMs;
  const dispatches = createDispatchPort(deps, process, clock);
  const queue = deps.sendQueue(process);
  const stopRule = createStopRule({ dispatches, clock, observe: () => undefined });
  const sendRecipients = createSendRecipients({
    recipients: createRecipientPort(deps, process),
    dispatches,
    contents: createFakeContents(Object.fromEntries(['d-1', 'd-2'].map((id) => [id, aContent()]))),
    ledger: createLedgerPort(deps, process),
    renderer: plainRenderer,
    isAllowedRecipient: () => true,
    provider: deps.ses.provider(process),
    pacer: createPacer({
      clock,
      sendRate: () => Promise.resolve({ perSecond: plan.maxSendRate, isGuess: false }),
      rateShare: 0.9,
      senders: plan.senders,
      parallelCalls: plan.parallelCalls,
    }),
    guard: watched(deps, createGuard(deps, process, clock, stopRule), process),
    stopRule,
    policy: plan.policy,
    clock,
    random: dice.next,
    newId: deps.newId,
    sleep: (ms) => scheduler.sleep(process(), ms),
    observe: (signal) => {
      observe(deps, signal);
    },
  });

  return {
    host,
    async handle(messages, invoked) {
      current = invoked;
      const receivedAt = clock();
      const { sabotage } = deps;
      const remainingMs = () => (sabotage === 'time-unchecked' ? 60_000 : invoked.deadline - scheduler.now());
      const understood = messages.map(({ body: { id, key }, sentAt, receives }) => ({
        ...{ id, key, sentAt, receivedAt },
        receiveCount: receives,
      }));
      const actions = await sendRecipients(understood, remainingMs);
      scheduler.trace(host.name, () =>
        understood.map(({ key, id }, i) => `${key.applyId} (${id}): ${JSON.stringify(actions[i])}`).join('; '),
      );
      const stays = await applyActions(
        queue,
        clock,
        messages.map(({ handle, body: { key } }, i) => ({
          receiptHandle: handle,
          key,
          action: actions[i] ?? { do: 'keep-failing' },
        })),
      );
      for (const [i, { id }] of understood.entries()) if (stays[i] === false) deps.ledger.letGo.add(id);
      return stays;
    },
  };
};

const createGuard = (deps: SenderHostDeps, process: () => Process, clock: () => Instant, stopRule: StopRule): PauseGuard =>
  createPauseGuard({
    sending: createSendingPort(deps, process),
    sweeps: createSweepStatesPort(deps, process),
    identity: { origin: () => Promise.resolve('own') },
    canaries: createCanaryPort(deps, process),
    provider: deps.ses.provider(process),
    quota: { hasRoom: () => Promise.resolve(!isWithin(deps.plan.accountTrouble, deps.scheduler.now())) },
    stopDispatch: (...args) => stopRule.stop(...args),
    policy: { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: deps.plan.policy.sesTimeoutSeconds + 15 },
    fromAddress: aContent().from,
    lookAgainSeconds: 900,
    callMs: neededMs(deps.plan.policy),
    clock,
    random: deps.dice.next,
    newId: deps.newId,
    sleep: (ms) => deps.scheduler.sleep(process(), ms),
    observe: () => undefined,
  });

const PAUSES: PausePolicy = { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: 25 };

/** Remembers when leave was asked for, and how long the answer took: what it says is that much older. */
const watched = (deps: SenderHostDeps, guard: PauseGuard, process: () => Process): PauseGuard => {
  const { scheduler, ledger, sabotage } = deps;
  const sending = createSendingPort(deps, process);
  let lagMs = 0;
  const time = async <T>(ask: () => Promise<T>): Promise<T> => {
    const askedAt = scheduler.now();
    const leave = await ask();
    // An answer from memory takes no time; one that took some was read just now.
    if (scheduler.now() > askedAt) lagMs = scheduler.now() - askedAt;
    ledger.leaves.set(process(), { askedAt, lagMs });
    return leave;
  };
  return {
    acquire: (remainingMs) => time(() => guard.acquire(remainingMs)),
    pausedUntil: () => time(() => guard.pausedUntil()),
    weigh: (answer, ...args) =>
      sabotage === 'refusals-counted' && answer.kind === 'account'
        ? Promise.resolve({ kind: 'refused-alone', code: answer.code })
        : guard.weigh(answer, ...args),
    async record(answers, remainingMs) {
      await guard.record(answers, remainingMs);
      const refused = answers.find(({ answer }) => answer.kind === 'account')?.answer;
      if (sabotage !== 'paused-by-one-refusal' || refused === undefined || !('code' in refused)) return;
      const seen = await sending.read();
      const next = seen === 'unavailable' ? undefined : pauseFor(seen, refused.code, PAUSES, scheduler.now());
      if (next !== undefined) await sending.change(next);
    },
  };
};

const observe = ({ ledger }: SenderHostDeps, { type, key }: SendSignal): void => {
  if (type === 'duplicate' && key !== undefined) countDuplicate(ledger, key);
};
