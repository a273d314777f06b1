import { beforeAll, describe, expect, it } from 'vitest';

import type { RawRow } from '../../local/table-rows.ts';
import type { CrashPointName } from '../chaos/crash/points.ts';
import type { Tally } from '../chaos/invariants.ts';
import type { DispatchBody } from '../chaos/request.ts';
import { outcomesOf } from '../support/attempts.ts';
import { checkFromOutside } from '../support/invariants.ts';
import { poll, type TestStack } from '../support/stack.ts';
import { AUTO_STACK, CRASH_HOOKS, LONGER_CALLS, MANUAL_STACK } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const POLICIES = ['auto', 'resend', 'manual'] as const;
type Policy = (typeof POLICIES)[number];

const stacks: Readonly<Record<Policy, TestStack>> = {
  auto: useStack('events-off', AUTO_STACK),
  resend: useStack('events-off', {
    ...LONGER_CALLS,
    LOCAL_HOOKS: CRASH_HOOKS,
    UNCLEAR_POLICY: 'resend',
    MAX_CONCURRENCY: '2',
    // Longer, so that no second attempt is in hand while the crashes are still going on.
    LEASE_SECONDS: '30',
    VISIBILITY_SECONDS: '32',
  }),
  manual: useStack('events-off', MANUAL_STACK),
};
const bodies = new Map<string, DispatchBody>();

/** The mail is out if SES took it before the crash. */
const POINTS = ['after-claim', 'before-accept', 'after-accept', 'before-record', 'after-record'] as const;
/** At these the record of what SES answered is lost. */
const UNRECORDED: readonly CrashPointName[] = ['after-claim', 'before-accept', 'after-accept', 'before-record'];
const TAKEN: readonly CrashPointName[] = ['after-accept', 'before-record'];

const post = (stack: TestStack, key: string, recipients = 1): Promise<string> => {
  const body = stack.bodyOf(recipients, (i) => `${key}-${i}`);
  bodies.set(key, body);
  return stack.accepted(key, body);
};

const crash = async (stack: TestStack, key: string, point: CrashPointName) => {
  await stack.crash({ point, about: stack.idOf(key) });
  await post(stack, key);
};

/** With nobody else sending: two mails together of which one's event is late, and a sender that dies before its call. */
const onAQuietDay = async (stack: TestStack) => {
  await stack.fault({ fault: 'reset-after-accept', recipient: 'two-0', times: 1 });
  // As 6 minutes are to a lease of 5.
  await stack.events({ recipient: 'two-0', delaySeconds: 11 });
  const two = await post(stack, 'two', 2);
  await poll(
    () => Promise.resolve(stack.journal(two)),
    (mails) => mails.length === 2,
  );
  await crash(stack, 'quiet', 'after-claim');
  await stack.crashed();
  // Both need events: those that are lost from here on must not be theirs.
  await Promise.all(['quiet', 'two'].map((key) => stack.finished(stack.idOf(key))));
};

const withoutEvents = async (stack: TestStack) => {
  await stack.events({ lost: true });
  await stack.finished(await post(stack, 'plain', 20));
  // First, since it takes the longest: two leases.
  await stack.fault({ fault: 'reset-after-accept', recipient: 'twice-', times: 2 });
  await post(stack, 'twice');
  await poll(
    () => Promise.resolve(stack.mails(stack.idOf('twice')).size),
    (mails) => mails === 1,
  );
  for (const point of POINTS) {
    await crash(stack, point, point);
    await stack.crashed();
  }
};

beforeAll(async () => {
  await Promise.all([onAQuietDay(stacks.auto), withoutEvents(stacks.resend), withoutEvents(stacks.manual)]);
  await withoutEvents(stacks.auto);
});

const outcomeOf = async (policy: Policy, key: string): Promise<Tally & { readonly rows: readonly RawRow[] }> => {
  const stack = stacks[policy];
  const id = stack.idOf(key);
  await stack.finished(id);
  const body = bodies.get(key);
  if (body === undefined) throw new Error(`nothing was posted under ${key}`);
  const tally = await checkFromOutside(stack, id, body, {
    events: false,
    duplicates: policy === 'resend' ? body.recipients.length : 0,
  });
  return { ...tally, rows: await stack.table.rows(id) };
};

describe('on a quiet day', () => {
  it('a canary moves the watermark, and who was claimed by a dead sender gets the mail without an operator (L2, L4)', async () => {
    const { rows, ...tally } = await outcomeOf('auto', 'quiet');

    expect(tally).toMatchObject({ sent: 1, duplicates: 0 });
    expect(rows.map(outcomesOf)).toEqual([['unsent', 'sent']]);
  });

  it('a mail whose event is late is not sent again because another’s was in time (L4b)', async () => {
    const { rows, ...tally } = await outcomeOf('auto', 'two');

    expect(tally).toMatchObject({ sent: 2, duplicates: 0 });
    expect(rows).toMatchObject(new Array(2).fill({ attemptCount: 1 }));
  });
});

describe.each(POLICIES)('without any event, under the policy %s,', (policy) => {
  it('all are SENT whose answer came: that needs no event (U11)', async () => {
    const { rows, sent } = await outcomeOf(policy, 'plain');

    expect(sent).toBeGreaterThan(0);
    // On a busy machine an answer may come too late to count.
    const others = rows.filter(({ status }) => status !== 'SENT');
    expect(others.flatMap(outcomesOf).filter((outcome) => outcome !== 'unclear')).toEqual([]);
  });

  it('a crash after the record changes nothing (L4)', async () => {
    expect(await outcomeOf(policy, 'after-record')).toMatchObject({ sent: 1, duplicates: 0 });
  });
});

describe.each(['auto', 'manual'] as const)('without any event, under the policy %s,', (policy) => {
  it.each(UNRECORDED)('who was in the hand of a sender that died is UNKNOWN, with one mail at most (L4): %s', async (point) => {
    const { rows, ...tally } = await outcomeOf(policy, point);

    expect(tally).toMatchObject({ unknown: 1, sent: 0, duplicates: 0 });
    expect(rows).toMatchObject([{ attemptCount: 1, lastErrorCode: 'OUTCOME_UNCLEAR' }]);
  });
});

describe('without any event, under the policy resend,', () => {
  it.each(UNRECORDED)('who was in the hand of a sender that died is sent to once more (L4): %s', async (point) => {
    const { rows, ...tally } = await outcomeOf('resend', point);

    // The second mail of one whose first SES had taken is the price of this policy.
    expect(tally).toMatchObject({ sent: 1, unknown: 0, duplicates: TAKEN.includes(point) ? 1 : 0 });
    expect(rows.map(outcomesOf)).toEqual([['unclear', 'sent']]);
    expect(stacks.resend.log('resolve-unclear')).toMatch(
      new RegExp(`"signal":"resent","dispatchId":"${stacks.resend.idOf(point)}"`),
    );
  });

  it('a second unclear attempt is the last: then it is UNKNOWN (L4)', async () => {
    const { rows, ...tally } = await outcomeOf('resend', 'twice');

    expect(tally).toMatchObject({ unknown: 1, sent: 0, duplicates: 1 });
    expect(stacks.resend.mails(stacks.resend.idOf('twice'))).toEqual(new Map([['twice-0@example.com', 2]]));
    expect(rows.map(outcomesOf)).toEqual([['unclear', 'unclear']]);
  });
});
