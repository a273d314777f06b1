import type { TemplateFetcher } from '../../lambda/application/ports/provider.ts';
import type { StoredCopy, TemplateCopies } from '../../lambda/application/ports/templates.ts';
import type { TemplateParts } from '../../lambda/domain/dispatch/content.ts';
import type { TemplateCopy } from '../../lambda/domain/dispatch/template-copy.ts';

/** The copies of templates in memory. */
export interface FakeTemplateCopies extends TemplateCopies {
  readonly table: Map<string, { copy?: TemplateCopy; leaseUntil?: number }>;
}

export const createFakeTemplateCopies = (): FakeTemplateCopies => {
  const table: FakeTemplateCopies['table'] = new Map();
  const entry = (id: string) => {
    const found = table.get(id) ?? {};
    table.set(id, found);
    return found;
  };
  return {
    table,
    find: (id) => {
      const { copy, leaseUntil } = table.get(id) ?? {};
      const stored: StoredCopy = {
        isKnown: copy !== undefined && copy.found.kind !== 'missing',
        ...(copy && { copy, fetchedAt: copy.fetchedAt }),
        ...(leaseUntil !== undefined && { leaseUntil }),
      };
      return Promise.resolve(stored);
    },
    lease: (id, read, until) => {
      const found = entry(id);
      const isSame = found.copy?.fetchedAt === read.fetchedAt && found.leaseUntil === read.leaseUntil;
      if (isSame) found.leaseUntil = until;
      return Promise.resolve(isSame);
    },
    prolong: (id, { from, until }) => {
      const found = entry(id);
      if (found.leaseUntil === from) found.leaseUntil = until;
      return Promise.resolve();
    },
    release: (id, until) => {
      const found = entry(id);
      if (found.leaseUntil === until) delete found.leaseUntil;
      return Promise.resolve();
    },
    store: (id, copy) => {
      const found = entry(id);
      if (found.copy !== undefined && found.copy.fetchedAt >= copy.fetchedAt) return Promise.resolve(found.copy);
      found.copy = copy;
      delete found.leaseUntil;
      return Promise.resolve(copy);
    },
  };
};

/** SES's templates by a script. */
export interface FakeTemplateFetcher extends TemplateFetcher {
  readonly templates: Map<string, TemplateParts>;
  /** When and for what SES was asked. */
  readonly calls: { readonly id: string; readonly at: number }[];
  /** Runs before each answer. */
  before: () => Promise<void>;
}

export const createFakeTemplateFetcher = (clock: () => number): FakeTemplateFetcher => {
  const fake: FakeTemplateFetcher = {
    templates: new Map(),
    calls: [],
    before: () => Promise.resolve(),
    fetch: async (id) => {
      fake.calls.push({ id, at: clock() });
      const found = fake.templates.get(id);
      await fake.before();
      return found;
    },
  };
  return fake;
};
