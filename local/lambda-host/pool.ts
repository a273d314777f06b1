import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { type FunctionChild, type FunctionDefinition, type InvokeResult, startChild } from './child.ts';
import type { Took } from './messages.ts';

/** What the answered calls of a function took. */
export interface FunctionUse extends Took {
  readonly invocations: number;
}

/** A function that can be called; it grows to its concurrency and waits there. */
export interface FunctionPool {
  readonly definition: FunctionDefinition;
  readonly invoke: (event: unknown) => Promise<InvokeResult>;
  /** Starts as many processes as may be needed at once; answers why one could not load its code, if so. */
  readonly warm: (count: number) => Promise<InvokeResult | undefined>;
  readonly pids: () => number[];
  /** What the calls that were answered have taken together. */
  readonly used: () => FunctionUse;
  /** kill -9 of every process there is now, and waiting for their end; new ones take over. */
  readonly crash: () => Promise<void>;
  /** Kills every process; what was under way ends as a function error. */
  readonly stop: () => void;
}

/** Makes the pool of one function's processes. Its log is the file `<name>.log`. */
export const createPool = (
  definition: FunctionDefinition,
  options: { readonly concurrency: number; readonly logs: string; readonly onChange: () => void },
): FunctionPool => {
  const descriptor = openSync(join(options.logs, `${definition.name}.log`), 'a');
  const log = {
    descriptor,
    write: (line: object) => {
      if (!stopped) writeSync(descriptor, `${JSON.stringify({ ...line, timestamp: new Date().toISOString() })}\n`);
    },
  };
  const children = new Set<FunctionChild>();
  const idle: FunctionChild[] = [];
  const waiting: ((child: FunctionChild) => void)[] = [];
  let stopped = false;
  let used: FunctionUse = { invocations: 0, milliseconds: 0, processorMilliseconds: 0 };

  const start = (): FunctionChild => {
    const child = startChild(definition, log, () => {
      children.delete(child);
      const place = idle.indexOf(child);
      if (place >= 0) idle.splice(place, 1);
      const next = stopped ? undefined : waiting.shift();
      if (next) next(start());
      options.onChange();
    });
    children.add(child);
    options.onChange();
    return child;
  };
  const take = (): Promise<FunctionChild> => {
    const free = idle.pop();
    if (free) return Promise.resolve(free);
    if (children.size < options.concurrency) return Promise.resolve(start());
    return new Promise((resolve) => waiting.push(resolve));
  };
  const giveBack = (child: FunctionChild) => {
    // One that is ending makes room when it has ended.
    if (!children.has(child) || !child.usable()) return;
    const next = waiting.shift();
    if (next) next(child);
    else idle.push(child);
  };

  const count = (result: InvokeResult): void => {
    if (!result.ok || result.took === undefined) return;
    used = {
      invocations: used.invocations + 1,
      milliseconds: used.milliseconds + result.took.milliseconds,
      processorMilliseconds: used.processorMilliseconds + result.took.processorMilliseconds,
    };
  };

  const warmOne = async (): Promise<InvokeResult | undefined> => {
    const child = start();
    const broken = await child.loaded;
    if (broken === undefined) giveBack(child);
    return broken;
  };

  return {
    definition,
    warm: async (count) => {
      const wanted = Math.min(count, options.concurrency) - children.size;
      const results = await Promise.all(Array.from({ length: Math.max(0, wanted) }, warmOne));
      return results.find((result) => result !== undefined);
    },
    pids: () => [...children].map((child) => child.pid),
    used: () => used,
    crash: async () => {
      const dying = [...children];
      for (const child of dying) child.kill();
      await Promise.all(dying.map(({ ended }) => ended));
    },
    invoke: async (event) => {
      if (stopped) return { ok: false, errorType: 'Host.Stopped', errorMessage: 'the local stack is stopping' };
      const child = await take();
      const result = await child.invoke(JSON.stringify(event));
      count(result);
      giveBack(child);
      return result;
    },
    stop: () => {
      stopped = true;
      for (const child of children) child.kill();
      closeSync(descriptor);
    },
  };
};
