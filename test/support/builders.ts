import type { StoredRecipient } from '../../lambda/application/ports/recipients.ts';
import type { RecipientMessage, SendPolicy } from '../../lambda/application/send/finished-attempt.ts';
import type { DispatchContent } from '../../lambda/domain/dispatch/content.ts';
import {
  type Counts,
  type Deliveries,
  type Dispatch,
  NO_COUNTS,
  NO_DELIVERIES,
  type RowCounts,
} from '../../lambda/domain/dispatch/dispatch.ts';
import type { Attempt } from '../../lambda/domain/recipient/attempt.ts';
import type { SendMessage } from '../../lambda/domain/recipient/decide-message.ts';
import type { Recipient, RecipientIn, RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { ResolvePolicy } from '../../lambda/domain/recipient/unclear.ts';
import { T0 } from './clock.ts';

export const DISPATCH_ID = 'd1spatch';

export const aKey = (applyId = 'a-1', dispatchId = DISPATCH_ID): RecipientKey => ({ dispatchId, shard: 0, applyId });

export const pending = (state: Partial<RecipientIn<'PENDING'>> = {}): RecipientIn<'PENDING'> => ({
  status: 'PENDING',
  round: 1,
  attemptCount: 0,
  nextAttemptAt: T0,
  ...state,
});

export const processing = (state: Partial<RecipientIn<'PROCESSING'>> = {}): RecipientIn<'PROCESSING'> => ({
  status: 'PROCESSING',
  round: 1,
  attemptCount: 1,
  lease: { token: 'ours', until: T0 + 300_000 },
  ...state,
});

export const sent = (state: Partial<RecipientIn<'SENT'>> = {}): RecipientIn<'SENT'> => ({
  status: 'SENT',
  round: 1,
  attemptCount: 1,
  messageId: 'ses-1',
  sentAt: T0,
  ...state,
});

export const failed = (state: Partial<RecipientIn<'FAILED'>> = {}): RecipientIn<'FAILED'> => ({
  status: 'FAILED',
  round: 1,
  attemptCount: 1,
  lastErrorCode: 'MESSAGE_REJECTED',
  failedAt: T0,
  ...state,
});

/** Attempts used up while the message `m-1`, sent at T0, was in hand. */
export const exhausted = (state: Partial<RecipientIn<'FAILED'>> = {}): RecipientIn<'FAILED'> =>
  failed({ attemptCount: 7, lastErrorCode: 'ATTEMPTS_EXHAUSTED', deadMessage: { id: 'm-1', sentAt: T0 }, ...state });

export const unknown = (state: Partial<RecipientIn<'UNKNOWN'>> = {}): RecipientIn<'UNKNOWN'> => ({
  status: 'UNKNOWN',
  round: 1,
  attemptCount: 1,
  lastErrorCode: 'OUTCOME_UNCLEAR',
  failedAt: T0,
  ...state,
});

export const cancelled: RecipientIn<'CANCELLED'> = { status: 'CANCELLED', round: 1, attemptCount: 0, cancelledAt: T0 };

export const anAttempt = (attempt: Partial<Attempt> = {}): Attempt => ({
  round: 1,
  n: 1,
  lease: 'ours',
  startedAt: T0,
  ...attempt,
});

/** A recipient as it is stored. */
export const aRecipient = (
  recipient: Recipient = pending(),
  rest: Partial<Omit<StoredRecipient, 'recipient'>> = {},
): StoredRecipient => ({
  applyId: 'a-1',
  email: 'kim@example.com',
  variables: {},
  attempts: recipient.status === 'PROCESSING' ? [anAttempt({ lease: recipient.lease.token, n: recipient.attemptCount })] : [],
  delivery: 'none',
  events: [],
  recipient,
  ...rest,
});

export const aSendMessage = (message: Partial<SendMessage> = {}): SendMessage => ({
  id: 'm-1',
  sentAt: T0,
  receiveCount: 1,
  receivedAt: T0,
  ...message,
});

export const aMessage = (message: Partial<RecipientMessage> = {}): RecipientMessage => ({
  key: aKey(),
  ...aSendMessage(),
  ...message,
});

export const aContent = (content: Partial<DispatchContent> = {}): DispatchContent => ({
  template: { subject: 'Your interview', text: 'Dear {{name}}' },
  variables: {},
  from: 'Recruiting <jobs@example.org>',
  ...content,
});

/** How sending and the walks go about it. */
export const aPolicy = (policy: Partial<SendPolicy & ResolvePolicy> = {}): SendPolicy & ResolvePolicy => ({
  leaseSeconds: 300,
  sesTimeoutSeconds: 10,
  attemptsPerRound: 7,
  backoff: { baseSeconds: 30, capSeconds: 3600 },
  refusals: { baseSeconds: 60, capSeconds: 600 },
  maxReceiveCount: 11,
  unclear: 'auto',
  watermarkMarginSeconds: 60,
  redeliverySeconds: 70,
  unknownAfterSeconds: 3600,
  resendsAfterLost: 1,
  ...policy,
});

export const someCounts = (counts: Partial<Counts>): Counts => ({ ...NO_COUNTS, ...counts });

export const someDeliveries = (deliveries: Partial<Deliveries>): Deliveries => ({ ...NO_DELIVERIES, ...deliveries });

/** Recipients counted both ways. */
export const rowCounts = (counts: Partial<Counts>, deliveries: Partial<Deliveries> = {}): RowCounts => ({
  counts: someCounts(counts),
  deliveries: someDeliveries(deliveries),
});

export const aDispatch = (dispatch: Partial<Dispatch> = {}): Dispatch => ({
  dispatchId: DISPATCH_ID,
  adminId: 'admin-1',
  scenarioId: 'interview',
  recruitId: 'r-1',
  total: 3,
  shards: 1,
  isTest: false,
  status: 'ACCEPTED',
  generation: 0,
  createdAt: T0,
  ...dispatch,
});
