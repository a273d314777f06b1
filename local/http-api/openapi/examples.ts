const ID = 'k5q3v7x2m4n6p2r4t6w2y4a6c2e4g6i2k4m6o2q4s6u2w4y6a2c4';
const LINKS = { self: `/dispatches/${ID}`, recipients: `/dispatches/${ID}/recipients` };
const DISPATCH = {
  id: ID,
  status: 'IN_PROGRESS',
  total: 3,
  scenarioId: 'interview-invitation',
  recruitId: '2026-backend',
  templateVersion: '3q2-7wAAAAAAAAAAAAAAAA',
  adminId: 'admin-1',
  isTest: false,
  createdAt: '2026-03-02T09:00:00.000Z',
  links: LINKS,
};

/** Bodies that the schemas accept; a test says so. */
export const EXAMPLES = {
  dispatchRequest: {
    scenarioId: 'interview-invitation',
    recruitId: '2026-backend',
    recipients: [{ applyId: 'a-1', email: 'kim@example.com', variables: { name: 'Kim' } }],
    variables: { company: 'Example' },
  },
  accepted: { ...DISPATCH, status: 'ACCEPTED', estimate: null },
  dispatch: {
    ...DISPATCH,
    counts: { PENDING: 1, PROCESSING: 0, SENT: 2, FAILED: 0, UNKNOWN: 0, CANCELLED: 0 },
    deliveries: { delayed: 0, 'soft-bounced': 0, delivered: 1, rejected: 0, suppressed: 0, bounced: 0, complained: 0 },
  },
  recipient: {
    applyId: 'a-1',
    email: 'kim@example.com',
    status: 'SENT',
    round: 1,
    attemptCount: 1,
    messageId: '0100018e-example',
    sentAt: '2026-03-02T09:00:02.120Z',
    delivery: 'delivered',
    attempts: [
      { round: 1, n: 1, startedAt: '2026-03-02T09:00:02.000Z', outcome: 'sent', messageId: '0100018e-example', ms: 118 },
    ],
    events: [{ kind: 'delivery', at: '2026-03-02T09:00:04.000Z', messageId: '0100018e-example' }],
  },
  retry: { statuses: ['FAILED', 'UNKNOWN'], applyIds: ['a-1', 'a-2'] },
  retried: {
    recipients: [
      { applyId: 'a-1', result: 'reopened', status: 'PENDING' },
      { applyId: 'a-2', result: 'left-alone', status: 'SENT' },
    ],
  },
  settleMany: { as: 'failed', note: 'They are not in the log of our mail server.', applyIds: ['a-1', 'a-2'] },
  settled: {
    recipients: [
      { applyId: 'a-1', result: 'settled', status: 'FAILED' },
      { applyId: 'a-2', result: 'left-alone', status: 'SENT' },
    ],
  },
  settle: { as: 'sent', note: 'The applicant answered the mail.' },
  export: {
    export: 2,
    state: 'done',
    status: 'FAILED',
    requestedAt: '2026-03-02T09:00:00.000Z',
    recipients: 27,
    url: 'https://bucket.example.com/recipients.csv?X-Amz-Signature=example',
    urlExpiresAt: '2026-03-02T09:06:00.000Z',
    links: { self: `/dispatches/${ID}/exports/2` },
  },
} as const;
