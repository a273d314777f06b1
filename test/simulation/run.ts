import { createWorld, type World, type WorldOptions } from './world.ts';

export interface RunOptions extends Pick<WorldOptions, 'sabotage' | 'theme'> {
  /** Stops at the first schedule that breaks a promise. */
  readonly stopsAtFirst?: boolean;
}

/** A schedule that broke a promise. */
export interface Broken {
  readonly seed: number;
  /** How many schedules were begun until then, this one included. */
  readonly after: number;
  readonly violations: readonly string[];
}

export interface RunReport {
  readonly schedules: number;
  /** All that happened. */
  readonly steps: number;
  readonly broken: readonly Broken[];
  /** How often what was reached: a schedule in which nothing happens keeps every promise. */
  readonly reached: ReadonlyMap<string, number>;
}

interface Lane {
  readonly world: World;
  readonly number: number;
}

/** Schedules side by side: each is on its own, and a turn of the event loop serves them all. */
const LANES = 50;

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Runs one schedule a seed. */
export const runSchedules = async (
  seeds: Iterable<number>,
  { stopsAtFirst = false, ...options }: RunOptions = {},
): Promise<RunReport> => {
  const waiting = seeds[Symbol.iterator]();
  const broken: Broken[] = [];
  const reached = new Map<string, number>();
  let schedules = 0;
  let steps = 0;

  const begin = (): Lane | undefined => {
    const seed = waiting.next();
    if (seed.done === true) return undefined;
    schedules += 1;
    return { world: createWorld(seed.value, options), number: schedules };
  };
  const end = ({ world, number }: Lane): void => {
    const { seed, ledger } = world;
    steps += world.steps();
    for (const what of endsOf(world)) reached.set(what, (reached.get(what) ?? 0) + 1);
    if (ledger.violations.length > 0) broken.push({ seed, after: number, violations: ledger.violations });
  };

  const lanes: (Lane | undefined)[] = Array.from({ length: LANES }, begin);
  while (lanes.some((lane) => lane !== undefined) && !(stopsAtFirst && broken.length > 0)) {
    for (const [i, lane] of lanes.entries()) {
      if (lane?.world.step() !== true) continue;
      end(lane);
      lanes[i] = begin();
    }
    // All that follows from the steps runs before the next turn.
    await nextTurn();
  }
  return { schedules, steps, broken, reached };
};

const endsOf = ({ table, ledger }: World): string[] => [
  ...[...table.rows.values()].map(({ recipient }) => `recipient ${recipient.status}`),
  ...[...table.dispatches.values()].map(({ status }) => `dispatch ${status}`),
  ...[...table.rows.values()].flatMap(({ attempts }) => attempts.map(({ outcome = 'open' }) => `attempt ${outcome}`)),
  ...ledger.redrives.map(({ round }) => (round === undefined ? 'redrive of a stray' : 'redrive')),
  ...[...ledger.duplicates.values()].flatMap((count) => Array.from({ length: count }, () => 'duplicate')),
  ...[...ledger.claims.values()].filter(({ by }) => by.state === 'dead').map(() => 'death of a sender'),
];

/** Runs one schedule, and tells everything that happens in it. */
export const traceSchedule = async (
  seed: number,
  options: Pick<WorldOptions, 'sabotage' | 'theme'> = {},
): Promise<{ readonly lines: readonly string[]; readonly violations: readonly string[] }> => {
  const lines: string[] = [];
  const world = createWorld(seed, { ...options, lines });
  while (!world.step()) await nextTurn();
  const { violations } = world.ledger;
  return { lines: [`plan ${JSON.stringify(world.plan)}`, ...lines, ...violations.map((each) => `BROKEN ${each}`)], violations };
};

/** Seeds from one on. */
export const seedsFrom = (first: number, count: number): number[] => Array.from({ length: count }, (_, i) => first + i);

/** What to say about schedules that broke a promise. */
export const describeBroken = (broken: readonly Broken[]): string =>
  broken
    .slice(0, 5)
    .map(({ seed, violations }) => `SIMULATION_SEED=${seed} npx vitest run test/simulation\n  ${violations.join('\n  ')}`)
    .join('\n');
