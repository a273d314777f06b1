/** Where a crash strikes: a call of one function, before it is carried out or after it. */
export interface CrashPoint {
  /** Name of the function, or what it begins with. */
  readonly function: string;
  /** `host`: what Lambda itself does for the function. */
  readonly service: 'dynamodb' | 'sqs' | 'ses' | 'events' | 's3' | 'host';
  readonly operation: string;
  /** Text that the request's body must contain. */
  readonly match?: string;
  readonly when: 'before' | 'after';
}

const sender = 'send-recipients';

/** The moments that matter, by name. `after` means: carried out, but the function never hears of it. */
export const CRASH_POINTS = {
  'accept-after-object': { function: 'accept-dispatch', service: 's3', operation: 'PutObject', when: 'after' },
  'accept-before': { function: 'accept-dispatch', service: 'dynamodb', operation: 'TransactWriteItems', when: 'before' },
  'accept-after': { function: 'accept-dispatch', service: 'dynamodb', operation: 'TransactWriteItems', when: 'after' },
  'relay-before-send': { function: 'relay-outbox', service: 'sqs', operation: 'SendMessageBatch', when: 'before' },
  'relay-after-send': { function: 'relay-outbox', service: 'sqs', operation: 'SendMessageBatch', when: 'after' },
  'expand-midway': { function: 'run-task', service: 'dynamodb', operation: 'BatchExecuteStatement', when: 'after' },
  'expand-before-delete': { function: 'run-task', service: 'dynamodb', operation: 'DeleteItem', when: 'before' },
  'expand-after-delete': { function: 'run-task', service: 'dynamodb', operation: 'DeleteItem', when: 'after' },
  // Only a claim adds an attempt to the list in the table.
  'after-claim': {
    function: sender,
    service: 'dynamodb',
    operation: 'BatchExecuteStatement',
    match: 'list_append',
    when: 'after',
  },
  'before-accept': { function: sender, service: 'ses', operation: 'SendEmail', when: 'before' },
  'after-accept': { function: sender, service: 'ses', operation: 'SendEmail', when: 'after' },
  'before-record': {
    function: sender,
    service: 'dynamodb',
    operation: 'BatchExecuteStatement',
    match: '{"S":"SENT"}',
    when: 'before',
  },
  'after-record': {
    function: sender,
    service: 'dynamodb',
    operation: 'BatchExecuteStatement',
    match: '{"S":"SENT"}',
    when: 'after',
  },
  'reopen-after': { function: sender, service: 'dynamodb', operation: 'TransactWriteItems', when: 'after' },
  'requeue-after': { function: sender, service: 'sqs', operation: 'SendMessageBatch', when: 'after' },
  'note-before': { function: sender, service: 'dynamodb', operation: 'UpdateItem', match: 'UNCLEAR#', when: 'before' },
  'note-after': { function: sender, service: 'dynamodb', operation: 'UpdateItem', match: 'UNCLEAR#', when: 'after' },
  'resolve-after-verdict': {
    function: 'resolve-unclear',
    service: 'dynamodb',
    operation: 'UpdateItem',
    match: '"OUTCOME_UNCLEAR"',
    when: 'after',
  },
  'resolve-before-remove': { function: 'resolve-unclear', service: 'dynamodb', operation: 'DeleteItem', when: 'before' },
  'before-delete': { function: sender, service: 'host', operation: 'DeleteMessageBatch', when: 'before' },
  'feedback-before-delete': { function: 'apply-feedback', service: 'host', operation: 'DeleteMessageBatch', when: 'before' },
} as const satisfies Readonly<Record<string, CrashPoint>>;

export type CrashPointName = keyof typeof CRASH_POINTS;
