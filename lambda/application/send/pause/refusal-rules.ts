import { DAILY_QUOTA } from '../../../domain/sending/pause.ts';
import { readCanary } from '../../../domain/sending/probe.ts';
import { endOf, isForeignFrom, previousRefusal } from '../../../domain/sending/refusals.ts';
import type { Instant } from '../../../domain/shared/instant.ts';
import type { CanaryResult } from '../../ports/control.ts';
import type { ClaimedRecipient } from '../../ports/recipients.ts';
import type { AttemptAnswer } from '../finished-attempt.ts';
import type { NotedAnswer } from './noted-answer.ts';
import type { PauseGuardDeps } from './pause-guard.ts';
import { createRefusalWatch, type RefusalRun } from './refusal-watch.ts';
import type { SharedCanary } from './shared-canary.ts';

/** Why sending should pause, or why a canary could not say so. */
export interface Decided {
  readonly code: string;
  readonly pauses: boolean;
  readonly isUnusable: boolean;
}

/** Decides what refusals for the account's sake mean: for the recipient, its dispatch, and the whole account. */
export interface RefusalRules {
  /** Tells a refusal that counts as an attempt of its recipient from one that is given back. Never throws. */
  weigh(answer: AttemptAnswer, claimed: ClaimedRecipient, from: string): Promise<AttemptAnswer>;
  /** Adds a chunk. */
  add(answers: readonly NotedAnswer[]): void;
  /** Asks a canary if ten refusals in a row, or a repeated one, call for it. @param hasTime whether it may be sent now */
  decide(hasTime: () => boolean): Promise<Decided | undefined>;
  forget(): void;
}

export type RefusalRulesDeps = Pick<PauseGuardDeps, 'stopDispatch' | 'fromAddress' | 'clock'> & { readonly canary: SharedCanary };

/** While mails of a From address are accepted, a refusal of one says nothing about the address. */
const FROM_WORKS_MS = 60_000;

/** Rules for one sender environment. */
export const createRefusalRules = ({ canary, stopDispatch, fromAddress, clock }: RefusalRulesDeps): RefusalRules => {
  const watch = createRefusalWatch();
  /** When the newest accepted mail of each From was claimed. */
  const acceptedAt = new Map<string, Instant>();
  let foreign: { readonly dispatchId: string; readonly code: string }[] = [];
  /** The last time that a recipient was refused again, and nothing says yet that other mails are accepted. */
  let repeated: { readonly at: Instant; readonly code: string } | undefined;
  /** Start of the canary that was last reported as unusable: its result may be met several times. */
  let reportedAt: Instant | undefined;
  let chunk = 0;

  const worksSince = async (at: Instant, from: string): Promise<boolean> => {
    if ((acceptedAt.get(from) ?? -Infinity) > at) return true;
    const asked = await canary.newest();
    return asked !== undefined && asked.answer.kind === 'accepted' && asked.beganAt >= at;
  };

  const isForeign = (code: string, from: string): boolean =>
    isForeignFrom(code, from, fromAddress) && (acceptedAt.get(from) ?? -Infinity) + FROM_WORKS_MS <= clock();

  const weigh = async (
    answer: AttemptAnswer,
    { recipient, attempts }: ClaimedRecipient,
    from: string,
  ): Promise<AttemptAnswer> => {
    if (answer.kind !== 'account' || answer.code === DAILY_QUOTA || isForeign(answer.code, from)) return answer;
    const { code } = answer;
    const previous = previousRefusal({ attempts, round: recipient.round, lease: recipient.lease.token, code });
    if (previous === undefined) return answer;
    repeated = { at: clock(), code };
    return (await worksSince(endOf(previous), from)) ? { kind: 'refused-alone', code } : answer;
  };

  /** Stops dispatches whose mails are refused while the account works. */
  const stopRefusedAlone = async (known: CanaryResult | undefined): Promise<void> => {
    const byMail = acceptedAt.get(fromAddress) ?? -Infinity;
    const worked = known?.answer.kind === 'accepted' ? Math.max(byMail, known.beganAt) : byMail;
    for (const { dispatchId, code } of watch.accountWorked(worked)) {
      await stopDispatch(dispatchId, 'refused-though-account-works', code);
      watch.forget(dispatchId);
    }
  };

  /** What one run of ten comes to, by what a canary said that began after it. */
  const decideRun = (run: RefusalRun, { answer }: CanaryResult): Decided | undefined => {
    const { dispatchId, code } = run;
    const verdict = readCanary(answer, code);
    const isUnusable = verdict.kind === 'unusable';
    if (isUnusable) watch.forget(dispatchId);
    if (dispatchId !== undefined) return undefined;
    if (verdict.kind === 'works') watch.beginAnew();
    if (verdict.kind === 'refused') return { code: verdict.code, pauses: true, isUnusable };
    return isUnusable ? { code, pauses: true, isUnusable } : undefined;
  };

  /** An unusable canary is reported also where it pauses nothing: recipients that are refused again wait until one is accepted. */
  const reportUnusable = (codes: readonly string[], { answer, beganAt }: CanaryResult): Decided | undefined => {
    const code = codes.find((each) => readCanary(answer, each).kind === 'unusable');
    if (code === undefined || reportedAt === beganAt) return undefined;
    reportedAt = beganAt;
    return { code, pauses: false, isUnusable: true };
  };

  return {
    weigh: (answer, claimed, from) => weigh(answer, claimed, from).catch(() => answer),

    add(answers) {
      chunk += 1;
      for (const { answer, from, startedAt } of answers) {
        if (answer.kind === 'accepted') acceptedAt.set(from, Math.max(acceptedAt.get(from) ?? -Infinity, startedAt));
      }
      const isOfForeign = ({ answer, from }: NotedAnswer) => answer.kind === 'account' && isForeign(answer.code, from);
      foreign = answers
        .filter(isOfForeign)
        .map(({ key, answer }) => ({ dispatchId: key.dispatchId, code: 'code' in answer ? answer.code : '' }));
      watch.add(
        answers.filter((each) => !isOfForeign(each)),
        chunk,
        clock(),
      );
    },

    async decide(hasTime) {
      for (const [dispatchId, [first]] of Map.groupBy(foreign.splice(0), (each) => each.dispatchId))
        await stopDispatch(dispatchId, 'sender-not-configured', first?.code ?? '');
      const runs = watch.runs();
      const after = Math.max(repeated?.at ?? -Infinity, ...runs.map((run) => run.lastAt));
      if (after === -Infinity || !hasTime()) return undefined;
      const asked = await canary.askedAfter(after);
      // Any sender's canary tells of the account, though it began before the newest refusal.
      await stopRefusedAlone(asked ?? (await canary.newest()));
      if (asked === undefined) return undefined;
      let decided = reportUnusable([...(repeated ? [repeated.code] : []), ...runs.map(({ code }) => code)], asked);
      repeated = undefined;
      // Dispatches first: an unusable canary makes all runs begin anew.
      for (const run of runs.toReversed()) decided = decideRun(run, asked) ?? decided;
      return decided;
    },

    forget() {
      watch.forget();
      repeated = undefined;
    },
  };
};
