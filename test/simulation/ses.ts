import type { MailProvider, SendTags } from '../../lambda/application/ports/provider.ts';
import type { MailEventKind } from '../../lambda/domain/recipient/delivery.ts';
import type { Feedback } from '../../lambda/domain/recipient/feedback.ts';
import { DAILY_QUOTA } from '../../lambda/domain/sending/pause.ts';
import type { SendAnswer } from '../../lambda/domain/sending/send-answer.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { ControlChecks } from './control-checks.ts';
import type { Dice } from './dice.ts';
import type { Ledger, Mail } from './ledger.ts';
import { isWithin, type Plan } from './plan.ts';
import { LATE_TAKE_MS } from './row-checks.ts';
import type { Process, Scheduler } from './scheduler.ts';
import { nameOf } from './table.ts';

export interface SesDeps {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly checks: ControlChecks;
  /** Of SES's own clock. */
  readonly skewMs: number;
  /** Carries an event to the feedback queue. */
  readonly publish: (feedback: Feedback) => void;
}

/** SES: what it answers, what it really did, and what it tells of it later. */
export interface Ses {
  readonly provider: (process: () => Process) => MailProvider;
  /** Events that are still on their way. */
  readonly underWay: () => number;
}

/** What SES does with one call. */
interface EventPlan {
  readonly answer: SendAnswer['kind'];
  readonly isTaken: boolean;
  /** SES itself says that it failed. */
  readonly answered?: boolean;
}

export const createSes = (deps: SesDeps): Ses => {
  const { scheduler, dice, plan, ledger, checks } = deps;
  const timeoutMs = plan.policy.sesTimeoutSeconds * 1000;
  let mails = 0;
  let underWay = 0;

  const publish = (feedback: Feedback): void => {
    if (dice.chance(plan.events.lost)) return;
    underWay += 1;
    const isLate = dice.chance(plan.events.late);
    scheduler.at(scheduler.now() + dice.between(300, isLate ? plan.events.latestMs : 5_000), () => {
      underWay -= 1;
      deps.publish(feedback);
      if (dice.chance(plan.events.twice)) deps.publish(feedback);
    });
  };

  const take = (tags: SendTags, messageId: string): void => {
    const { dispatchId, shard, applyId, lease, round, attempt } = tags;
    const key = { dispatchId, shard, applyId };
    const mail: Mail = { key, lease, round, messageId, takenAt: scheduler.now(), isHeard: false, isWrittenOff: false };
    ledger.addMail(mail);
    checks.taken(mail);
    scheduler.trace('SES', () => `takes ${messageId} for ${applyId}`);
    const sentAt = scheduler.now() + deps.skewMs;
    for (const kind of kindsOf(dice)) {
      const event = { kind, messageId, at: sentAt + dice.whole(0, 500) };
      publish({ kind: 'event', origin: { key, round, n: attempt, lease }, event, sentAt });
    }
  };

  /** A request that SES acts upon, and its answer; it may have arrived though its sender is dead. */
  const exchange = async (process: Process, eventPlan: EventPlan, onTaken: () => void): Promise<void> => {
    const isUnclear = eventPlan.answer === 'unclear';
    const answerMs = isUnclear && dice.chance(0.7) ? timeoutMs : dice.between(20, timeoutMs * 0.9);
    const isLate = isUnclear && dice.chance(0.2);
    const takenMs = isLate ? dice.between(timeoutMs, timeoutMs + LATE_TAKE_MS) : dice.between(5, answerMs);
    if (eventPlan.isTaken) {
      scheduler.at(scheduler.now() + takenMs, () => {
        if (process.state !== 'dead' || dice.chance(0.7)) onTaken();
      });
    }
    await scheduler.call(process, eventPlan.answer, () => eventPlan.answer, { requestMs: answerMs });
  };

  const noteAnswer = (tags: SendTags, by: Process, { kind }: SendAnswer): void => {
    if (kind === 'accepted') ledger.acceptances.push(scheduler.now());
    if (kind !== 'account') return;
    ledger.refusals.push({ lease: tags.lease, recipient: nameOf(tags), round: tags.round, host: by.host, at: scheduler.now() });
  };

  return {
    underWay: () => underWay,
    provider: (process) => ({
      async send(_mail, tags) {
        const by = process();
        checks.called(tags, by);
        const claim = ledger.claims.get(tags.lease);
        scheduler.trace(by.host.name, () => `calls SES for ${tags.applyId}, round ${tags.round}, attempt ${tags.attempt}`);
        mails += 1;
        const messageId = `ses-${mails}`;
        const eventPlan = eventPlanOf(deps, nameOf(tags), scheduler.now());
        const answer = answerOf(plan, eventPlan, messageId);
        if (claim?.call !== undefined) claim.call.answer = answer;
        await exchange(by, eventPlan, () => {
          take(tags, messageId);
        });
        noteAnswer(tags, by, answer);
        return answer;
      },

      async sendCanary() {
        mails += 1;
        const messageId = `canary-${mails}`;
        const eventPlan: EventPlan = plan.areCanariesRefused
          ? { answer: 'permanent', isTaken: false }
          : eventPlanOf(deps, 'canary', scheduler.now());
        await exchange(process(), eventPlan, () => {
          publish({ kind: 'canary', sentAt: scheduler.now() + deps.skewMs, isSend: true });
        });
        const answer = answerOf(plan, eventPlan, messageId);
        if (answer.kind === 'accepted') ledger.acceptances.push(scheduler.now());
        return answer;
      },
    }),
  };
};

const kindsOf = (dice: Dice): readonly MailEventKind[] =>
  dice.pick([['send'], ['send'], ['send', 'delivery'], ['send', 'bounce'], ['send', 'delivery-delay']]);

const eventPlanOf = ({ dice, plan }: SesDeps, who: string, now: Instant): EventPlan => {
  if (isRefused(plan, who)) return { answer: 'permanent', isTaken: false };
  if (now >= plan.calmAt) return { answer: 'accepted', isTaken: true };
  if (isWithin(plan.accountTrouble, now) && !(plan.isQuotaUsedUp && who === 'canary'))
    return { answer: 'account', isTaken: false };
  const { unclearTaken, unclearLost, answered, ...refusals } = plan.ses;
  for (const answer of ['throttled', 'transient', 'account', 'permanent'] as const) {
    if (dice.chance(refusals[answer])) return { answer, isTaken: false };
  }
  if (dice.chance(unclearTaken)) return { answer: 'unclear', isTaken: true };
  if (dice.chance(unclearLost)) return { answer: 'unclear', isTaken: false };
  if (dice.chance(answered)) return { answer: 'unclear', isTaken: false, answered: true };
  return { answer: 'accepted', isTaken: true };
};

/** The same recipients always: it is their mail that SES will not have. */
const isRefused = ({ refused }: Plan, who: string): boolean => {
  let hash = 7;
  for (const character of who) hash = (hash * 31 + character.charCodeAt(0)) % 1009;
  return hash / 1009 < refused && who !== 'canary';
};

const answerOf = ({ isQuotaUsedUp }: Plan, { answer, answered = false }: EventPlan, messageId: string): SendAnswer => {
  if (answer === 'account' && isQuotaUsedUp) return { kind: answer, code: DAILY_QUOTA };
  if (answer === 'accepted') return { kind: answer, messageId };
  if (answer === 'unclear') return { kind: answer, code: CODES[answer], ...(answered && { answered }) };
  return { kind: answer, code: CODES[answer] };
};

const CODES: Readonly<Record<Exclude<SendAnswer['kind'], 'accepted'>, string>> = {
  throttled: 'ACCOUNT_THROTTLED',
  account: 'ACCOUNT_SENDING_PAUSED',
  credentials: 'CREDENTIALS_REFUSED',
  transient: 'NOT_CONNECTED',
  unclear: 'TIMED_OUT',
  permanent: 'MESSAGE_REJECTED',
};
