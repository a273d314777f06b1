import { areHeavy, extended, isRun, type Losses, NO_STREAK, recentLosses, type Streak } from '../../../domain/sending/streak.ts';
import type { Clock } from '../../ports/system.ts';
import { type NotedAnswer, recipientOf, wasAsked } from './noted-answer.ts';

/** Sees when SES, or the way to it, fails for all mails of one sender environment. */
export interface TroubleWatch {
  /** Adds a chunk. @returns why sending should pause, if it should */
  add(answers: readonly NotedAnswer[]): 'in-a-row' | 'answers-lost' | undefined;
  forget(): void;
}

export const createTroubleWatch = (clock: Clock): TroubleWatch => {
  let streak: Streak = NO_STREAK;
  let losses: readonly Losses[] = [];
  let chunk = 0;

  return {
    add(answers) {
      const called = answers.filter(({ answer }) => wasAsked(answer));
      if (called.length === 0) return undefined;
      const now = clock();
      chunk += 1;
      const failed = called.filter(({ answer: { kind } }) => kind === 'transient' || kind === 'unclear');
      const lost = called.filter(({ answer }) => answer.kind === 'unclear' && answer.answered !== true).length;
      losses = recentLosses(losses, { at: now, calls: called.length, lost });
      // Throttled or refused for the account's sake: SES answered, but nobody looked at the mail.
      const isOver = called.some(({ answer: { kind } }) => kind === 'accepted' || kind === 'permanent');
      streak = isOver ? NO_STREAK : extended(streak, failed.map(recipientOf), chunk, now);
      if (failed.length > 0 && isRun(streak)) return 'in-a-row';
      return lost > 0 && areHeavy(losses) ? 'answers-lost' : undefined;
    },

    forget() {
      streak = NO_STREAK;
      losses = [];
    },
  };
};
