import { beforeEach, describe, expect, it } from 'vitest';

import { type AcceptDispatchDeps, createAcceptDispatch } from '../../../../../lambda/application/accept/accept-dispatch.ts';
import type {
  CheckResult,
  CreateResult,
  Fingerprint,
  KnownDispatch,
  NewDispatch,
} from '../../../../../lambda/application/ports/accept.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import type { DispatchRequest } from '../../../../../lambda/domain/dispatch/dispatch-request.ts';
import type { SendEstimate } from '../../../../../lambda/domain/dispatch/send-estimate.ts';
import type { IsAllowedRecipient } from '../../../../../lambda/domain/recipient/allowed-recipients.ts';
import { someRecipientInputs } from '../../../../support/accept-builders.ts';
import { rowCounts } from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';

const request: DispatchRequest = {
  scenarioId: 'interview',
  recruitId: '7',
  recipients: someRecipientInputs(3),
  variables: { company: 'Acme' },
  isTest: false,
  allowRepeat: false,
};
const template = { subject: 'Hello', text: 'Dear {{name}}' };

/** Says of each field what it is, so that a difference is seen in the hash. */
const fingerprint = (of: DispatchRequest): Fingerprint => {
  const fields = {
    scenarioId: of.scenarioId,
    recruitId: of.recruitId,
    'recipients[].applyId': of.recipients.map(({ applyId }) => applyId).join(),
    'recipients[].email': of.recipients.map(({ email }) => email).join(),
    'recipients[].variables': JSON.stringify(of.recipients.map(({ variables }) => variables)),
    subject: of.subject ?? '',
    variables: JSON.stringify(of.variables),
    isTest: String(of.isTest),
    unsubscribe: of.unsubscribeUrl ?? '',
  };
  return { whole: JSON.stringify(fields), fields };
};

/** The ports in memory, and the order in which they were asked. */
const createWorld = () => {
  const asked: string[] = [];
  const stored = new Map<string, KnownDispatch>();
  const guards = new Map<string, { readonly dispatchId: string; readonly adminId: string; readonly until: number }>();
  const world = {
    asked,
    stored,
    created: new Array<NewDispatch>(),
    template: template as typeof template | undefined,
    version: 'v-1',
    check: { outcome: 'fine' } as CheckResult,
    estimate: undefined as SendEstimate | undefined,
    now: T0,
    isAllowedRecipient: (() => true) as IsAllowedRecipient,
    create: { outcome: 'created' } as CreateResult,
    /** Runs before the template is looked up: another request may be faster. */
    meanwhile: () => {},
  };
  const deps: AcceptDispatchDeps = {
    isAllowedRecipient: (address) => world.isAllowedRecipient(address),
    hashes: { dispatchId: (admin, key) => `${admin}/${key}`, fingerprint },
    dispatches: {
      find: (id) => {
        asked.push('find');
        return Promise.resolve(stored.get(id));
      },
      create: (entry) => {
        asked.push('create');
        const guard = guards.get(entry.fingerprint.whole);
        const stands = guard !== undefined && guard.until > world.now;
        if (stands && entry.guard?.overrides === false) return Promise.resolve({ outcome: 'guarded', by: guard });
        if (world.create.outcome === 'created') {
          world.created.push(entry);
          if (entry.guard) guards.set(entry.fingerprint.whole, { ...entry.dispatch, until: entry.guard.until });
          stored.set(entry.dispatch.dispatchId, {
            dispatch: entry.dispatch,
            fingerprint: entry.fingerprint.whole,
            fieldHashes: entry.fingerprint.fields,
          });
        }
        return Promise.resolve(world.create);
      },
      tooLarge: () => undefined,
    },
    templates: {
      find: (scenarioId) => {
        asked.push(`template ${scenarioId}`);
        world.meanwhile();
        return Promise.resolve(world.template && { kind: 'template', template: world.template, version: world.version });
      },
    },
    checkContent: () => {
      asked.push('check');
      return world.check;
    },
    beginEstimate: () => {
      asked.push('estimate');
      return () => Promise.resolve(world.estimate);
    },
    repeatGuardSeconds: 600,
    clock: () => world.now,
    from: '"Jobs" <jobs@example.com>',
    replyTo: undefined,
  };
  return { world, deps, accept: createAcceptDispatch(deps) };
};

let { world, deps, accept } = createWorld();
beforeEach(() => {
  ({ world, deps, accept } = createWorld());
});

const dispatch = {
  dispatchId: 'admin-1/key-1',
  adminId: 'admin-1',
  scenarioId: 'interview',
  recruitId: '7',
  templateVersion: 'v-1',
  total: 3,
  shards: 1,
  isTest: false,
  status: 'ACCEPTED',
  generation: 0,
  createdAt: T0,
  ...rowCounts({ PENDING: 3 }),
} as const;

describe('a request with recipients whom the stage may not mail', () => {
  it('is refused, names the first 100 of them and counts all, and leaves its key free', async () => {
    world.isAllowedRecipient = (address) => address === 'kim.1@example.com';
    const recipients = someRecipientInputs(151);

    const refused = await accept('admin-1', 'key-1', { ...request, recipients });

    expect(refused).toMatchObject({ outcome: 'recipients-not-allowed', total: 150 });
    if (refused.outcome !== 'recipients-not-allowed') throw new Error(refused.outcome);
    expect(refused.recipients).toHaveLength(100);
    expect(refused.recipients.slice(0, 2)).toEqual([
      { index: 0, applyId: 'a-0' },
      { index: 2, applyId: 'a-2' },
    ]);
    expect(world.created).toEqual([]);
    expect(await accept('admin-1', 'key-1', { ...request, recipients: someRecipientInputs(2).slice(1) })).toMatchObject({
      outcome: 'accepted',
    });
  });

  it('is a replay if it was accepted while the stage might mail them', async () => {
    await accept('admin-1', 'key-1', request);
    world.isAllowedRecipient = () => false;

    expect(await accept('admin-1', 'key-1', request)).toMatchObject({ outcome: 'replayed' });
  });
});

describe('a new request', () => {
  it('is looked up, checked, and stored whole', async () => {
    expect(await accept('admin-1', 'key-1', request)).toEqual({ outcome: 'accepted', dispatch });
    expect(world.asked).toEqual(['find', 'template interview', 'check', 'estimate', 'create']);
    expect(world.created).toEqual([
      {
        dispatch,
        fingerprint: fingerprint(request),
        recipients: request.recipients,
        content: { template, variables: { company: 'Acme' }, from: '"Jobs" <jobs@example.com>' },
        guard: { until: T0 + 600_000, overrides: false },
      },
    ]);
  });

  it('is stored with everything that is optional', async () => {
    const full = { ...request, subject: 'For {{name}}', unsubscribeUrl: 'https://example.com/u', isTest: true };

    await createAcceptDispatch({ ...deps, replyTo: 'hr@example.com' })('admin-1', 'key-1', full);

    expect(world.created[0]).toMatchObject({
      dispatch: { isTest: true },
      content: { subject: 'For {{name}}', unsubscribeUrl: 'https://example.com/u', replyTo: 'hr@example.com' },
    });
  });

  it.each<[string, Partial<DispatchRequest>]>([
    ['other content', { recruitId: '8' }],
    ['leave to repeat', { allowRepeat: true }],
  ])('of another admin under the same key, with %s, is another dispatch (A5)', async (_name, change) => {
    await accept('admin-1', 'key-1', request);

    expect(await accept('admin-2', 'key-1', { ...request, ...change })).toMatchObject({
      outcome: 'accepted',
      dispatch: { adminId: 'admin-2' },
    });
  });

  it('is answered with the estimate, if there is one', async () => {
    world.estimate = { mailsPerSecond: 12.6, doneAt: T0 + 1_000, waitingForNextWindow: 0 };

    expect(await accept('admin-1', 'key-1', request)).toMatchObject({ outcome: 'accepted', estimate: world.estimate });
  });
});

describe('a key that is known', () => {
  beforeEach(async () => {
    await accept('admin-1', 'key-1', request);
    world.asked.length = 0;
  });

  it('with the same request is a replay of the dispatch as it is now (A1)', async () => {
    const known = world.stored.get('admin-1/key-1');
    if (known) world.stored.set('admin-1/key-1', { ...known, dispatch: { ...known.dispatch, status: 'COMPLETED' } });

    expect(await accept('admin-1', 'key-1', request)).toEqual({
      outcome: 'replayed',
      dispatch: { ...dispatch, status: 'COMPLETED' },
    });
    expect(world.asked).toEqual(['find']);
  });

  it('is a replay although the template is gone (S16)', async () => {
    world.template = undefined;

    expect(await accept('admin-1', 'key-1', request)).toMatchObject({ outcome: 'replayed' });
  });

  const [first, second, third] = someRecipientInputs(3);
  it.each<[string, Partial<DispatchRequest>]>([
    ['scenarioId', { scenarioId: 'rejection' }],
    ['recruitId', { recruitId: '8' }],
    ['recipients[].applyId', { recipients: someRecipientInputs(4) }],
    ['recipients[].applyId', { recipients: someRecipientInputs(2) }],
    [
      'recipients[].email',
      { recipients: [first, second, { ...third, email: 'new@example.com' }] as DispatchRequest['recipients'] },
    ],
    ['recipients[].variables', { recipients: someRecipientInputs(3, () => ({ name: 'Lee' })) }],
    ['subject', { subject: 'New' }],
    ['variables', { variables: {} }],
    ['isTest', { isTest: true }],
    ['unsubscribe', { unsubscribeUrl: 'https://example.com/u' }],
  ])('with another %s is a conflict that names it, and nothing else is done (A3)', async (field, change) => {
    expect(await accept('admin-1', 'key-1', { ...request, ...change })).toEqual({ outcome: 'conflict', fields: [field] });
    expect(world.asked).toEqual(['find']);
  });

  it('with several differences names them all', async () => {
    expect(await accept('admin-1', 'key-1', { ...request, subject: 'New', isTest: true })).toEqual({
      outcome: 'conflict',
      fields: ['subject', 'isTest'],
    });
  });

  it('of a record without a fingerprint is a conflict, never a replay (A8)', async () => {
    world.stored.set('admin-1/key-1', { dispatch, fieldHashes: {} });

    expect(await accept('admin-1', 'key-1', request)).toEqual({ outcome: 'conflict', fields: [] });
  });
});

describe('the same content under another key', () => {
  beforeEach(async () => {
    await accept('admin-1', 'key-1', request);
  });

  it('is taken for a double click, and its admin is told which dispatch it repeats', async () => {
    expect(await accept('admin-1', 'key-2', request)).toEqual({ outcome: 'possible-duplicate', dispatchId: 'admin-1/key-1' });
    expect(world.created).toHaveLength(1);
  });

  it('of another admin is not taken either, and nothing of the other one’s is told', async () => {
    expect(await accept('admin-2', 'key-1', request)).toEqual({ outcome: 'possible-duplicate' });
  });

  it('is taken after ten minutes and not before', async () => {
    world.now = T0 + 599_999;
    expect(await accept('admin-1', 'key-2', request)).toMatchObject({ outcome: 'possible-duplicate' });

    world.now = T0 + 600_000;
    expect(await accept('admin-1', 'key-2', request)).toMatchObject({ outcome: 'accepted' });
  });

  it('is taken if a repetition is allowed, and then guards anew', async () => {
    world.now = T0 + 300_000;
    expect(await accept('admin-1', 'key-2', { ...request, allowRepeat: true })).toMatchObject({ outcome: 'accepted' });

    world.now = T0 + 600_000;
    expect(await accept('admin-1', 'key-3', request)).toEqual({ outcome: 'possible-duplicate', dispatchId: 'admin-1/key-2' });
  });

  it('is taken as a test as often as one likes', async () => {
    const test = { ...request, isTest: true };

    for (const key of ['key-2', 'key-3']) expect(await accept('admin-1', key, test)).toMatchObject({ outcome: 'accepted' });
    expect(world.created.slice(1).map(({ guard }) => guard)).toEqual([undefined, undefined]);
  });

  it('is a replay if its own key was taken meanwhile', async () => {
    const { whole, fields } = fingerprint(request);
    const own = { ...dispatch, dispatchId: 'admin-1/key-2' };
    world.meanwhile = () => {
      world.stored.set('admin-1/key-2', { dispatch: own, fingerprint: whole, fieldHashes: fields });
    };

    expect(await accept('admin-1', 'key-2', request)).toEqual({ outcome: 'replayed', dispatch: own });
  });

  it('leaves its key free', async () => {
    await accept('admin-1', 'key-2', request);

    expect(await accept('admin-1', 'key-2', { ...request, recruitId: '8' })).toMatchObject({ outcome: 'accepted' });
  });
});

it('the same key is a replay whatever version of the template is given (V12)', async () => {
  await accept('admin-1', 'key-1', { ...request, templateVersion: 'v-1' });
  world.version = 'v-2';

  for (const templateVersion of [undefined, 'v-1', 'v-2', 'v-3'])
    expect(await accept('admin-1', 'key-1', { ...request, ...(templateVersion && { templateVersion }) })).toMatchObject({
      outcome: 'replayed',
      dispatch: { templateVersion: 'v-1' },
    });
});

it('a request that names the current version of the template is accepted (V12)', async () => {
  expect(await accept('admin-1', 'key-1', { ...request, templateVersion: 'v-1' })).toMatchObject({
    outcome: 'accepted',
    dispatch: { templateVersion: 'v-1' },
  });
});

it('the same key with leave to repeat is a replay all the same', async () => {
  await accept('admin-1', 'key-1', request);

  expect(await accept('admin-1', 'key-1', { ...request, allowRepeat: true })).toMatchObject({ outcome: 'replayed' });
});

describe('a request that is refused', () => {
  const faults = [{ index: 0, applyId: 'a-0', rule: 'missing-variable', name: 'name' }] as const;
  const cases: [string, () => void, object][] = [
    ['has no template', () => (world.template = undefined), { outcome: 'unknown-scenario' }],
    [
      'has a template that is not valid',
      () => (world.check = { outcome: 'invalid-template', faults: [] }),
      { outcome: 'invalid-template' },
    ],
    [
      'cannot be rendered (S11)',
      () => (world.check = { outcome: 'cannot-render', faults, total: 1 }),
      { outcome: 'cannot-render', faults, total: 1 },
    ],
    [
      'names another version of the template (V12)',
      () => (world.version = 'v-2'),
      { outcome: 'template-changed', current: 'v-2' },
    ],
    ['takes too long to check', () => (world.check = { outcome: 'too-costly' }), { outcome: 'too-costly' }],
    [
      'is too large',
      () => (world.create = { outcome: 'too-large', limit: 'content' }),
      { outcome: 'too-large', limit: 'content' },
    ],
  ];

  const asked = { ...request, templateVersion: 'v-1' };

  it.each(cases)('because it %s leaves its key free', async (_name, arrange, expected) => {
    arrange();

    expect(await accept('admin-1', 'key-1', asked)).toMatchObject(expected);
    expect(world.created).toEqual([]);
    world.template = template;
    world.version = 'v-1';
    world.check = { outcome: 'fine' };
    world.create = { outcome: 'created' };
    expect(await accept('admin-1', 'key-1', { ...request, recruitId: '8' })).toMatchObject({ outcome: 'accepted' });
  });

  it.each(cases)('because it %s is a replay if it was taken meanwhile', async (_name, arrange) => {
    arrange();
    world.meanwhile = () => {
      const { whole, fields } = fingerprint(request);
      world.stored.set('admin-1/key-1', { dispatch, fingerprint: whole, fieldHashes: fields });
    };

    expect(await accept('admin-1', 'key-1', asked)).toEqual({ outcome: 'replayed', dispatch });
  });
});

describe('a request that meets another one while it is stored (A2)', () => {
  const { whole, fields } = fingerprint(request);

  it('is a replay of the same', async () => {
    world.create = { outcome: 'exists', known: { dispatch, fingerprint: whole, fieldHashes: fields } };

    expect(await accept('admin-1', 'key-1', request)).toEqual({ outcome: 'replayed', dispatch });
  });

  it('is a conflict with another', async () => {
    world.create = { outcome: 'exists', known: { dispatch, fingerprint: 'other', fieldHashes: { ...fields, subject: 'x' } } };

    expect(await accept('admin-1', 'key-1', request)).toEqual({ outcome: 'conflict', fields: ['subject'] });
  });
});

it('a service that does not answer is no refusal', async () => {
  const templates = { find: () => Promise.reject(new Unavailable('SES', 2)) };

  await expect(createAcceptDispatch({ ...deps, templates })('admin-1', 'key-1', request)).rejects.toBeInstanceOf(Unavailable);
});
