import type { Check } from './check.ts';
import { explainError } from './explain-error.ts';
import { Interrupted } from './waiting.ts';
import type { World } from './world.ts';

/** A check that was run, or was not and why. */
export interface Result {
  readonly id: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly saw: string;
  /** Of a failed one: what to do. */
  readonly advice?: string;
}

/** The chosen checks and those that they need, in order; throws for an id that no check has. */
export const chooseChecks = (checks: readonly Check[], only: readonly string[]): readonly Check[] => {
  if (only.length === 0) return checks;
  const unknown = only.filter((id) => !checks.some((check) => check.id === id));
  if (unknown.length > 0) {
    throw new Error(`There is no check ${unknown.join(', ')}. Checks: ${checks.map(({ id }) => id).join(', ')}`);
  }
  const wanted = new Set(only);
  // A check comes after what it needs, so one way back finds all of them.
  for (const { id, needs = [] } of checks.toReversed()) if (wanted.has(id)) for (const need of needs) wanted.add(need);
  return checks.filter(({ id }) => wanted.has(id));
};

const runOne = async (check: Check, world: World): Promise<Omit<Result, 'id' | 'name'>> => {
  if (check.disturbs && world.options.inUse) return { status: 'skipped', saw: 'Left out: the stage is in use.' };
  try {
    const outcome = await check.run(world);
    if (outcome.kind === 'failed') {
      return { status: 'failed', saw: outcome.saw, advice: check.advice[outcome.problem] ?? outcome.problem };
    }
    return outcome.kind === 'passed' ? { status: 'passed', saw: outcome.saw } : { status: 'skipped', saw: outcome.why };
  } catch (error) {
    if (error instanceof Interrupted) return { status: 'skipped', saw: 'interrupted' };
    return { status: 'failed', ...explainError(error) };
  }
};

/** Runs checks one after the other; what needs a failed one is skipped, and after Ctrl-C all the rest. */
export const runChecks = async (
  checks: readonly Check[],
  world: World,
  observe: { readonly started: (check: Check) => void; readonly ended: (result: Result) => void },
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  const isInterrupted = () => results.some(({ saw }) => saw === 'interrupted');
  for (const check of checks) {
    const { id, name, needs = [] } = check;
    const missing = results.find((result) => needs.includes(result.id) && result.status !== 'passed');
    observe.started(check);
    const result: Result = {
      id,
      name,
      ...(isInterrupted()
        ? { status: 'skipped', saw: 'interrupted' }
        : missing
          ? { status: 'skipped', saw: `It needs "${missing.name}", which did not pass.` }
          : await runOne(check, world)),
    };
    results.push(result);
    observe.ended(result);
  }
  return results;
};
