import type { ContentRepository } from '../../lambda/application/ports/dispatches.ts';
import type { MailProvider, MailRenderer, OutgoingMail, SendTags } from '../../lambda/application/ports/provider.ts';
import type {
  ClaimResult,
  RecipientRepository,
  StoredRecipient,
  WriteResult,
} from '../../lambda/application/ports/recipients.ts';
import { advance, type RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { SendAnswer } from '../../lambda/domain/sending/send-answer.ts';
import { aContent, DISPATCH_ID } from './builders.ts';

const nameOf = ({ dispatchId, shard, applyId }: RecipientKey): string => `${dispatchId}/${shard}/${applyId}`;

export type Step = 'find' | 'claim' | 'write' | 'reopen' | 'cancel' | 'amend';

/** Recipients in memory, moved by the rules of the domain. */
export interface FakeRecipients extends RecipientRepository {
  readonly put: (key: RecipientKey, row: StoredRecipient) => void;
  readonly get: (key: RecipientKey) => StoredRecipient | undefined;
  readonly all: () => StoredRecipient[];
  /** Asked before each step; true: the table gives no answer, and the step is not carried out. */
  outage: (step: Step, key: RecipientKey) => boolean;
  /** Writes that were asked for, carried out or not. */
  readonly writes: { readonly key: RecipientKey; readonly result: WriteResult }[];
}

export const createFakeRecipients = (rows: readonly (readonly [RecipientKey, StoredRecipient])[] = []): FakeRecipients => {
  const table = new Map(rows.map(([key, row]) => [nameOf(key), row]));

  const fake: FakeRecipients = {
    put: (key, row) => table.set(nameOf(key), row),
    get: (key) => table.get(nameOf(key)),
    all: () => [...table.values()],
    outage: () => false,
    writes: [],

    find: (key) => Promise.resolve(fake.outage('find', key) ? 'unavailable' : table.get(nameOf(key))),

    claimAll: (claims, now) =>
      Promise.resolve(
        claims.map(({ key, lease }): ClaimResult => {
          if (fake.outage('claim', key)) return { outcome: 'unavailable' };
          const found = table.get(nameOf(key));
          if (found === undefined) return { outcome: 'refused', found };
          const transition = advance(found.recipient, { type: 'claimed', lease }, now);
          if (!transition.ok || transition.next.status !== 'PROCESSING') return { outcome: 'refused', found };
          const { round, attemptCount: n } = transition.next;
          const entry = { round, n, lease: lease.token, startedAt: now };
          const claimed = { ...found, recipient: transition.next, attempts: [...found.attempts, entry] };
          table.set(nameOf(key), claimed);
          return { outcome: 'claimed', claimed };
        }),
      ),

    writeAll: (writes) =>
      Promise.resolve(
        writes.map(({ key, token, next, attempts }): WriteResult => {
          const result = ((): WriteResult => {
            if (fake.outage('write', key)) return 'unavailable';
            const found = table.get(nameOf(key));
            if (found?.recipient.status !== 'PROCESSING' || found.recipient.lease.token !== token) return 'conflict';
            table.set(nameOf(key), { ...found, recipient: next, attempts });
            return 'written';
          })();
          fake.writes.push({ key, result });
          return result;
        }),
      ),

    reopen: (key, from, next, dispatch) => {
      if (fake.outage('reopen', key)) return Promise.resolve('unavailable');
      const found = table.get(nameOf(key));
      const isSame =
        (found?.recipient.status === 'FAILED' || found?.recipient.status === 'UNKNOWN') &&
        found.recipient.failedAt === from.failedAt;
      if (!isSame || dispatch === 'CANCELLED') return Promise.resolve('conflict');
      table.set(nameOf(key), { ...found, recipient: next });
      return Promise.resolve('written');
    },

    cancel: (key, now) => {
      if (fake.outage('cancel', key)) return Promise.resolve('unavailable');
      const found = table.get(nameOf(key));
      const transition = found && advance(found.recipient, { type: 'cancelled' }, now);
      if (found === undefined || transition?.ok !== true) return Promise.resolve('conflict');
      table.set(nameOf(key), { ...found, recipient: transition.next });
      return Promise.resolve('written');
    },

    applyPatch: (key, change) => {
      if (fake.outage('amend', key)) return Promise.resolve('unavailable');
      const found = table.get(nameOf(key));
      if (found === undefined) return Promise.resolve('gone');
      const patched = change(found);
      if (patched === undefined) return Promise.resolve('unchanged');
      table.set(nameOf(key), { ...found, ...patched });
      return Promise.resolve('written');
    },
  };
  return fake;
};

/** The contents that are there; any other dispatch is unknown. */
export const createFakeContents = (
  contents: Readonly<Record<string, Awaited<ReturnType<ContentRepository['find']>>>> = { [DISPATCH_ID]: aContent() },
): ContentRepository => ({
  find: (dispatchId) => Promise.resolve(contents[dispatchId] ?? 'unknown-dispatch'),
  stopUnreadable: () => Promise.resolve(true),
});

/** Renders every recipient the same. */
export const plainRenderer: MailRenderer = {
  render: () => ({ ok: true, mail: { subject: 'Your interview', text: 'Dear applicant' } }),
};

export interface Call {
  readonly mail: OutgoingMail;
  readonly tags: SendTags;
}

/** SES by a script; the calls it got are kept. */
export interface FakeProvider extends MailProvider {
  readonly calls: Call[];
  /** Mails of which SES answered, or may have thought, that it took them. */
  readonly taken: Call[];
  /** How many canaries were sent. */
  canaries: number;
  /** From headers of the canaries. */
  readonly canariesFrom: string[];
  /** What SES answers to the next canary. */
  canaryAnswer: (n: number) => SendAnswer;
}

export const accepted: SendAnswer = { kind: 'accepted', messageId: 'ses-1' };
export const accessDenied: SendAnswer = { kind: 'account', code: 'ACCESS_DENIED' };
export const quotaExceeded: SendAnswer = { kind: 'account', code: 'ACCOUNT_DAILY_QUOTA_EXCEEDED' };
export const credentialsRefused: SendAnswer = { kind: 'credentials', code: 'CREDENTIALS_REFUSED' };
export const throttledAnswer: SendAnswer = { kind: 'throttled', code: 'ACCOUNT_THROTTLED' };
export const accountTrouble: SendAnswer = { kind: 'account', code: 'ACCOUNT_SENDING_PAUSED' };
export const transient: SendAnswer = { kind: 'transient', code: 'NOT_CONNECTED' };
export const unclear: SendAnswer = { kind: 'unclear', code: 'TIMED_OUT' };
/** SES itself said that it failed. */
export const answered503: SendAnswer = { kind: 'unclear', code: 'SERVICE_ERROR', answered: true };
export const permanent: SendAnswer = { kind: 'permanent', code: 'MESSAGE_REJECTED' };

export const createFakeProvider = (
  answer: (call: Call, n: number) => SendAnswer | Promise<SendAnswer> = (_call, n) => ({
    kind: 'accepted',
    messageId: `ses-${n}`,
  }),
): FakeProvider => {
  const fake: FakeProvider = {
    calls: [],
    taken: [],
    canaries: 0,
    canariesFrom: [],
    canaryAnswer: (n) => ({ kind: 'accepted', messageId: `canary-${n}` }),
    sendCanary: (from) => {
      fake.canaries += 1;
      fake.canariesFrom.push(from);
      return Promise.resolve(fake.canaryAnswer(fake.canaries));
    },
    send: async (mail, tags) => {
      const call = { mail, tags };
      fake.calls.push(call);
      const result = await answer(call, fake.calls.length);
      if (result.kind === 'accepted' || result.kind === 'unclear') fake.taken.push(call);
      return result;
    },
  };
  return fake;
};
