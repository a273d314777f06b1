import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createTemplateSource } from '../../../../../lambda/application/accept/find-template.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import { createFakeBudget } from '../../../../support/account-builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { createFakeTemplateCopies, createFakeTemplateFetcher } from '../../../../support/fake-template-copies.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: T0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** As many functions as are asked for, over one table and one SES. */
const createWorld = () => {
  const clock = () => Date.now();
  const copies = createFakeTemplateCopies();
  const fetcher = createFakeTemplateFetcher(clock);
  fetcher.before = () => sleep(100);
  const budget = createFakeBudget(clock);
  const find = (id = 'interview') => {
    const source = createTemplateSource({
      copies,
      fetcher,
      budget,
      versionOf: ({ subject }) => `v-${subject}`,
      clock,
      random: () => 0.5,
      sleep,
    });
    return source.find(id).then(
      (found) => (found?.kind === 'template' ? found.version : (found?.kind ?? 'unknown')),
      (error: unknown) => {
        if (!(error instanceof Unavailable)) throw error;
        return `again in ${error.retryAfterSeconds}`;
      },
    );
  };
  return { copies, fetcher, budget, find };
};

/** Lets time pass until all of it has ended. */
const settled = async <T>(all: readonly Promise<T>[]): Promise<T[]> => {
  const ended = Promise.all(all);
  await vi.advanceTimersByTimeAsync(20_000);
  return ended;
};
const timed = async (asked: Promise<string>) => {
  const result = await asked;
  return { result, ms: Date.now() - T0 };
};

describe('a template', () => {
  it('is fetched once for twenty-eight accepts at once with a cold copy (V22)', async () => {
    const { find, fetcher } = createWorld();
    fetcher.templates.set('interview', { subject: 'one' });

    const all = await settled(Array.from({ length: 28 }, () => timed(find())));

    expect(all.map(({ result }) => result)).toEqual(all.map(() => 'v-one'));
    expect(Math.max(...all.map(({ ms }) => ms))).toBeLessThan(1_000);
    expect(fetcher.calls).toHaveLength(1);
  });

  it('of twenty-eight cold scenarios at once is found, or promised for later, and found when asked again (V22)', async () => {
    const { find, fetcher } = createWorld();
    const ids = Array.from({ length: 28 }, (_, i) => `s-${i}`);
    for (const id of ids) fetcher.templates.set(id, { subject: id });

    let open: readonly string[] = ids;
    for (let round = 0; open.length > 0; round += 1) {
      const results = await settled(open.map((id) => timed(find(id))));
      for (const [i, { result }] of results.entries()) expect(result).toMatch(new RegExp(`^(v-${open[i]}|again in \\d+)$`));
      open = open.filter((_, i) => results[i]?.result.startsWith('again'));
      if (round > 40) throw new Error('never all');
    }
    expect(fetcher.calls).toHaveLength(28);
    for (const [i, { at }] of fetcher.calls.entries()) expect(at - (fetcher.calls[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
  });

  it('that changed is what every function gets five seconds later, though a copy was there (V12)', async () => {
    const { find, fetcher } = createWorld();
    fetcher.templates.set('interview', { subject: 'old' });
    await settled([find()]);
    const fetchedAt = Date.now() - 20_000;
    expect(fetcher.calls.map(({ at }) => at)).toEqual([fetchedAt]);

    await settled([find()]);
    fetcher.templates.set('interview', { subject: 'new' });
    const changedAt = Date.now();
    vi.setSystemTime(changedAt + 5_000);

    expect(await settled(Array.from({ length: 8 }, () => find()))).toEqual(Array.from({ length: 8 }, () => 'v-new'));
  });

  it('that a preview showed is what an accept right after it gets (V12)', async () => {
    const { find, fetcher } = createWorld();
    fetcher.templates.set('interview', { subject: 'old' });
    await settled([find()]);
    fetcher.templates.set('interview', { subject: 'new' });

    const preview = find();
    await vi.advanceTimersByTimeAsync(100);
    expect(await preview).toBe('v-new');
    expect(await find()).toBe('v-new');
    expect(fetcher.calls).toHaveLength(2);
  });

  it('is not fetched while its copy is fresh', async () => {
    const { find, fetcher } = createWorld();
    fetcher.templates.set('interview', { subject: 'one' });
    const first = find();
    await vi.advanceTimersByTimeAsync(100);
    await first;

    await vi.advanceTimersByTimeAsync(4_899);
    expect(await find()).toBe('v-one');
    expect(fetcher.calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await settled([find()]);
    expect(fetcher.calls).toHaveLength(2);
  });

  it('that does not exist is believed missing for five seconds, and then asked for again', async () => {
    const { find, fetcher } = createWorld();
    const first = find();
    await vi.advanceTimersByTimeAsync(100);
    expect(await first).toBe('unknown');
    fetcher.templates.set('interview', { subject: 'one' });

    await vi.advanceTimersByTimeAsync(4_800);
    expect(await find()).toBe('unknown');
    await vi.advanceTimersByTimeAsync(200);
    expect(await settled([find()])).toEqual(['v-one']);
  });

  it('is fetched at once although many invented ids are asked for', async () => {
    const { find, fetcher } = createWorld();
    fetcher.templates.set('interview', { subject: 'old' });
    await settled([find()]);
    fetcher.templates.set('interview', { subject: 'new' });

    const invented = Array.from({ length: 50 }, (_, i) => find(`invented-${i}`));
    const known = timed(find());
    await settled(invented);

    expect(await known).toMatchObject({ result: 'v-new' });
    expect((await known).ms - 20_000).toBeLessThan(2_000);
    expect(fetcher.calls.filter(({ id }) => id.startsWith('invented')).length).toBeLessThanOrEqual(3);
  });
});

describe('when SES cannot be asked', () => {
  const withCopy = async (ageMs: number) => {
    const world = createWorld();
    world.fetcher.templates.set('interview', { subject: 'one' });
    const first = world.find();
    await vi.advanceTimersByTimeAsync(100);
    await first;
    vi.setSystemTime(T0 + ageMs);
    return world;
  };

  it.each([
    [600_000, 'v-one'],
    [600_001, 'again in 40'],
  ])('for want of a slot, a copy %i ms old gives %s', async (age, expected) => {
    const world = await withCopy(age);
    world.budget.book = () => Promise.resolve({ isBooked: false, retryAt: Date.now() + 40_000 });

    expect(await Promise.race([world.find(), sleep(1).then(() => 'waits')])).toBe(expected);
  });

  it('for want of a slot soon, a caller without a copy waits for one as long as it may', async () => {
    const world = createWorld();
    world.fetcher.templates.set('interview', { subject: 'one' });
    await world.budget.book('unknown-template');
    for (let i = 0; i < 10; i += 1) await world.budget.book('known-template', `t-${i}`);

    const asked = timed(world.find());
    await settled([asked]);
    expect(await asked).toMatchObject({ result: 'v-one' });
    expect((await asked).ms).toBeLessThan(12_000);
  });

  it.each([
    [600_000, 'v-one'],
    [600_001, 'again in 2'],
  ])('since it does not answer, a copy %i ms old gives %s', async (age, expected) => {
    const world = await withCopy(age);
    world.fetcher.before = () => Promise.reject(new Unavailable('SES', 2));

    expect(await settled([world.find()])).toEqual([expected]);
  });

  it('a cold scenario is promised for later', async () => {
    const world = createWorld();
    world.fetcher.before = () => Promise.reject(new Unavailable('SES', 2));

    expect(await settled([world.find()])).toEqual(['again in 2']);
  });

  it('for want of a right, the error is told', async () => {
    const world = createWorld();
    world.fetcher.before = () => Promise.reject(new TypeError('x is not a function'));

    const asked = world.find().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await asked).toBeInstanceOf(TypeError);
    expect(world.copies.table.get('interview')?.leaseUntil).toBeUndefined();
  });

  it('a caller that dies keeps the others waiting for three seconds', async () => {
    const world = createWorld();
    world.fetcher.templates.set('interview', { subject: 'one' });
    world.fetcher.before = () => new Promise<never>(() => undefined);
    void world.find();
    await vi.advanceTimersByTimeAsync(10);
    world.fetcher.before = () => Promise.resolve();
    // An id that may not exist gets one slot in five seconds.
    const other = timed(world.find());

    await settled([other]);
    expect(await other).toMatchObject({ result: 'v-one' });
    expect((await other).ms).toBeLessThan(6_000);
  });
});

it('an answer of SES whose call began earlier never takes the place of a later one', async () => {
  const { copies, find, fetcher } = createWorld();
  fetcher.templates.set('interview', { subject: 'old' });
  fetcher.before = () => sleep(4_000);
  const slow = find();
  await vi.advanceTimersByTimeAsync(1_000);
  // The slow one has lost its lease meanwhile, and another one was faster.
  await copies.store('interview', {
    found: { kind: 'template', template: { subject: 'new' }, version: 'v-new' },
    fetchedAt: Date.now(),
    freshSeconds: 5,
  });

  expect(await settled([slow])).toEqual(['v-new']);
  expect(await copies.find('interview')).toMatchObject({ copy: { found: { version: 'v-new' } } });
});
