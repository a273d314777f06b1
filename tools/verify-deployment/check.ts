import type { Options } from './options.ts';
import type { World } from './world.ts';

/** How a check ended. A problem is one of those for which the check has advice. */
export type Outcome<Problem extends string = string> =
  | { readonly kind: 'passed'; readonly saw: string }
  | { readonly kind: 'failed'; readonly problem: Problem; readonly saw: string }
  | { readonly kind: 'skipped'; readonly why: string };

/** One thing that a deployment must do. */
export interface Check<Problem extends string = string> {
  /** Short and stable: what `--only` and `needs` name it by. */
  readonly id: string;
  readonly name: string;
  /** Ids of the checks without which this one shows nothing. */
  readonly needs?: readonly string[];
  /** It delays the mails of others or handles their messages: left out on a stage in use. */
  readonly disturbs?: true;
  /** What it changes on the stage, one sentence each: said before anything is done. */
  readonly effects?: (options: Options) => readonly string[];
  /** What to do about each problem that it finds. */
  readonly advice: Readonly<Record<Problem, string>>;
  /** May throw: what any check can meet, such as a refused token, is explained in one place. */
  readonly run: (world: World) => Promise<Outcome<Problem>>;
}

/** Ends a check well. */
export const passed = (saw: string): Outcome<never> => ({ kind: 'passed', saw });

/** Ends a check with a problem. */
export const failed = <Problem extends string>(problem: Problem, saw: string): Outcome<Problem> => ({
  kind: 'failed',
  problem,
  saw,
});

/** Ends a check that has nothing to look at. */
export const skipped = (why: string): Outcome<never> => ({ kind: 'skipped', why });
