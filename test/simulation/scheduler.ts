import type { Instant } from '../../lambda/domain/shared/instant.ts';
import { T0 } from '../support/clock.ts';
import type { Dice } from './dice.ts';

/** What a process is for. */
export type Role = 'sender' | 'walk' | 'relay' | 'feedback' | 'task' | 'sweeper' | 'progress' | 'person';

/** Where code runs. */
export interface Host {
  readonly role: Role;
  readonly name: string;
  /** How far its clock is from the true time. */
  readonly skewMs: number;
}

/** A run of code that may die at any of its waits: an invocation, or one call of a person. */
export interface Process {
  readonly host: Host;
  readonly startedAt: Instant;
  /** Nothing of it runs after that. */
  readonly deadline: Instant;
  state: 'running' | 'returned' | 'dead';
  /** When it returned or died. */
  endedAt?: Instant;
}

/** How a process ended. */
export type End<T> =
  | { readonly how: 'returned'; readonly value: T }
  | { readonly how: 'failed'; readonly error: unknown }
  /** Crashed, or out of time. */
  | { readonly how: 'died' };

/** How a wait may go on; asked anew at each. */
export interface Weather {
  /** Milliseconds that a call, or its answer, is on its way. */
  readonly delay: () => number;
  /** Whether the process dies before it sees the answer. */
  readonly crashes: (process: Process) => boolean;
}

/** Virtual time, and all that is still to happen. What follows from an event runs before the next one. */
export interface Scheduler {
  readonly now: () => Instant;
  /** How much has happened. */
  readonly steps: () => number;
  readonly at: (time: Instant, action: () => void) => void;
  readonly start: <T>(
    host: Host,
    limitMs: number,
    body: (process: Process) => Promise<T>,
    onEnd: (end: End<T>, process: Process) => void,
  ) => Process;
  /** A call of a process to something outside: it arrives later, takes effect at once, and is answered later still. */
  readonly call: <T>(process: Process, what: string, effect: () => T, delays?: CallDelays) => Promise<T>;
  readonly sleep: (process: Process, ms: number) => Promise<void>;
  /** Lets some events happen, none after one that lets a process go on. */
  readonly step: () => void;
  readonly trace: (who: string, what: () => string) => void;
}

export interface CallDelays {
  readonly requestMs?: number;
  readonly answerMs?: number;
}

interface Event {
  readonly time: Instant;
  readonly action: () => void;
}

const ON_ITS_WAY_MS = 1_000;
const EVENTS_AT_ONCE = 100;

export const createScheduler = (dice: Dice, weather: Weather, lines?: string[]): Scheduler => {
  /** The latest first, so that the next one is popped; of two at one time the earlier planned goes first. */
  const agenda: Event[] = [];
  let now: Instant = T0;
  let steps = 0;
  /** How often a process was let go on. */
  let wakes = 0;

  const at = (time: Instant, action: () => void): void => {
    if (Number.isNaN(time)) throw new RangeError('an event without a time');
    const event = { time: Math.max(time, now), action };
    let place = agenda.length;
    while (place > 0 && (agenda[place - 1]?.time ?? Infinity) <= event.time) place -= 1;
    agenda.splice(place, 0, event);
  };

  const trace: Scheduler['trace'] = (who, what) => {
    lines?.push(`${((now - T0) / 1000).toFixed(3).padStart(10)} ${who.padEnd(14)} ${what()}`);
  };

  const onDeath = new Map<Process, () => void>();
  const kill = (process: Process, why: string): void => {
    if (process.state !== 'running') return;
    process.state = 'dead';
    process.endedAt = now;
    trace(process.host.name, () => `dies: ${why}`);
    onDeath.get(process)?.();
  };

  const goOn = (process: Process, resume: () => void): void => {
    // What an invocation left behind when it returned goes on with the next one, or never.
    if (process.state === 'dead' || (process.state === 'returned' && dice.chance(0.5))) return;
    if (process.state === 'running' && weather.crashes(process)) kill(process, 'crash');
    else {
      wakes += 1;
      resume();
    }
  };

  /** A request of one that died just now may have been on its way already. */
  const wasSent = ({ endedAt = now }: Process): boolean => now - endedAt < ON_ITS_WAY_MS && dice.chance(0.5);

  return {
    now: () => now,
    steps: () => steps,
    at,
    trace,

    start: (host, limitMs, body, onEnd) => {
      wakes += 1;
      const process: Process = { host, startedAt: now, deadline: now + limitMs, state: 'running' };
      const end = (ended: Parameters<typeof onEnd>[0]): void => {
        onDeath.delete(process);
        onEnd(ended, process);
      };
      onDeath.set(process, () => {
        end({ how: 'died' });
      });
      const finish = (ended: Parameters<typeof onEnd>[0]): void => {
        if (process.state !== 'running') return;
        process.state = 'returned';
        process.endedAt = now;
        end(ended);
      };
      at(process.deadline, () => {
        kill(process, 'out of time');
      });
      body(process).then(
        (value) => {
          finish({ how: 'returned', value });
        },
        (error: unknown) => {
          finish({ how: 'failed', error });
        },
      );
      return process;
    },

    call: (process, what, effect, { requestMs = weather.delay(), answerMs = weather.delay() } = {}) =>
      new Promise((resolve) => {
        at(now + requestMs, () => {
          if (process.state === 'dead' && !wasSent(process)) return;
          const answer = effect();
          trace(process.host.name, () => `${what} → ${summary(answer)}`);
          at(now + answerMs, () => {
            goOn(process, () => {
              resolve(answer);
            });
          });
        });
      }),

    sleep: (process, ms) =>
      new Promise((resolve) => {
        at(now + ms, () => {
          goOn(process, resolve);
        });
      }),

    step: () => {
      const before = wakes;
      for (let events = 0; events < EVENTS_AT_ONCE && wakes === before; events += 1) {
        const next = agenda.pop();
        if (next === undefined) return;
        now = next.time;
        steps += 1;
        next.action();
      }
    },
  };
};

const summary = (answer: unknown): string => {
  const text = JSON.stringify(answer) as string | undefined;
  return text === undefined ? 'done' : text.slice(0, 400);
};
