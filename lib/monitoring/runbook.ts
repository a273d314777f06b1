/** Sections of docs/runbook.md, in their order; each alarm leads to one of them, by the anchor of its heading. */
export const RUNBOOK_SECTIONS = [
  'page',
  'send-dead-letters',
  'task-dead-letters',
  'feedback-dead-letters',
  'sending-paused',
  'mails-refused-for-the-account',
  'canary-unusable',
  'credentials-refused',
  'dispatch-stopped',
  'outcome-unknown',
  'unclear-attempts-not-resolved',
  'canary-refused',
  'feedback-silent',
  'raw-delivery-off',
  'duplicate-sent',
  'mails-discarded',
  'mails-overdue',
  'batches-overdue',
  'send-queue-old',
  'send-queue-full',
  'feedback-queue-old',
  'sweep-silent',
  'sweep-rounds-slow',
  'relay-silent',
  'recovery-fails',
  'records-not-relayed',
  'records-not-counted',
  'records-lost',
  'unreadable-data',
  'stream-late',
  'function-errors',
  'sender-throttled',
  'sender-slow',
  'table-throttled',
  'api-errors',
  'api-slow',
  'quota-nearly-used',
  'concurrency-nearly-used',
  'account-outdated',
  'bounce-rate',
  'complaint-rate',
] as const;

/** Others, to which only the widget on the dashboard leads. */
export const SECTIONS_WITHOUT_ALARM = ['mails-refused'] as const;

export type RunbookSection = (typeof RUNBOOK_SECTIONS)[number];

/** Where the section is found in this repository. */
export const runbookPath = (section: RunbookSection): string => `docs/runbook.md#${section}`;
