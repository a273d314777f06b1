import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import ts from 'typescript';
import { describe, expect, it } from 'vitest';

import { one, ROOT, synthesize } from './synthesized.ts';

const { dispatch } = synthesize();

/** What a word in an adapter's code asks IAM for; a transaction and a batch ask for the kinds of write they are made of. */
const ASKS: readonly (readonly [RegExp, string])[] = [
  [/\bnew GetCommand\(/, 'dynamodb:GetItem'],
  [/\bnew QueryCommand\(|\bpaginateQuery\(/, 'dynamodb:Query'],
  [/\bnew PutCommand\(|\bPut: \{/, 'dynamodb:PutItem'],
  [/\bnew UpdateCommand\(|\bUpdate: [{\w]/, 'dynamodb:UpdateItem'],
  [/\bnew DeleteCommand\(|\bDelete: \{/, 'dynamodb:DeleteItem'],
  [/\bConditionCheck: \{/, 'dynamodb:ConditionCheckItem'],
  [/\bnew (BatchGet|TransactGet)Command\(/, 'dynamodb:BatchGetItem'],
  [/`UPDATE "/, 'dynamodb:PartiQLUpdate'],
  [/`INSERT INTO "/, 'dynamodb:PartiQLInsert'],
  [/`DELETE FROM "/, 'dynamodb:PartiQLDelete'],
  [/`SELECT /, 'dynamodb:PartiQLSelect'],
  [/\bnew SendMessage(Batch)?Command\(/, 'sqs:SendMessage'],
  [/\bnew ChangeMessageVisibility(Batch)?Command\(/, 'sqs:ChangeMessageVisibility'],
  [/\bnew GetQueueAttributesCommand\(/, 'sqs:GetQueueAttributes'],
  [/\bnew SendEmailCommand\(/, 'ses:SendEmail'],
  [/\bnew GetAccountCommand\(/, 'ses:GetAccount'],
  [/\bnew GetEmailTemplateCommand\(/, 'ses:GetEmailTemplate'],
  [/\bnew PutEventsCommand\(/, 'events:PutEvents'],
  [/\bnew PutObjectCommand\(/, 's3:PutObject'],
  [/\bnew GetObjectCommand\(/, 's3:GetObject'],
  [/\bnew DeleteObjectCommand\(/, 's3:DeleteObject'],
  [/\bnew ListObjectsV2Command\(/, 's3:ListBucket'],
];

/** Every file of ours that a handler loads. */
const filesOf = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file) || !existsSync(file)) return seen;
  seen.add(file);
  for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles) {
    if (fileName.startsWith('.')) filesOf(join(dirname(file), fileName), seen);
  }
  return seen;
};

const askedBy = (handler: string): Set<string> => {
  const code = [...filesOf(join(ROOT, 'lambda/handlers', handler, 'index.ts'))]
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  return new Set(ASKS.filter(([word]) => word.test(code)).map(([, action]) => action));
};

const allowedTo = (construct: string): string[] => {
  const document = one(dispatch, 'AWS::IAM::Policy', `${construct}RoleDefaultPolicy`).Properties['PolicyDocument'];
  return (document as { Statement: { Action: string | string[] }[] }).Statement.flatMap(({ Action }) => Action);
};

const STREAM = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map((action) => `dynamodb:${action}`);
/** Without it S3 answers 403 for an object that is missing, and nobody could tell that from a missing right. */
const TO_TELL_MISSING = ['s3:ListBucket'];
const CONSUMER = ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'];

/** Who uses rights of a role besides our code; and what a shared adapter could do but this function never does. */
const FUNCTIONS: [string, string, { readonly byLambda?: string[]; readonly neverDone?: string[] }][] = [
  // It shares a client's file with the sender, but sends nothing.
  ['AcceptDispatch', 'accept-dispatch', {}],
  ['ReadDispatches', 'read-dispatches', {}],
  // It reopens and settles recipients, but claims nothing.
  ['OperateDispatches', 'operate-dispatches', { neverDone: ['dynamodb:PartiQLUpdate'] }],
  ['OperateSending', 'operate-sending', {}],
  [
    'RelayOutbox',
    'relay-outbox',
    { byLambda: [...STREAM, 's3:ListBucket'], neverDone: ['sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'] },
  ],
  ['FollowProgress', 'follow-progress', { byLambda: [...STREAM, 's3:ListBucket', 's3:PutObject'] }],
  // It cancels and reopens, but claims nothing.
  ['RunTask', 'run-task', { byLambda: [...CONSUMER, ...TO_TELL_MISSING], neverDone: ['dynamodb:PartiQLUpdate'] }],
  // It notes unclear attempts, and removes none.
  ['SendRecipients', 'send-recipients', { byLambda: [...CONSUMER, ...TO_TELL_MISSING], neverDone: ['dynamodb:DeleteItem'] }],
  // It shares the recipients' repository, but claims nothing.
  ['ApplyFeedback', 'apply-feedback', { byLambda: CONSUMER, neverDone: ['dynamodb:PartiQLUpdate'] }],
  // It shares the repositories of those who pause, sweep and listen, but changes nothing.
  ['ShowOperations', 'show-operations', { neverDone: ['dynamodb:UpdateItem'] }],
  // It counts unclear attempts, and removes none.
  ['Sweep', 'sweep', { neverDone: ['dynamodb:DeleteItem', 'sqs:ChangeMessageVisibility'] }],
  // It resolves rows without a claim, and asks for nothing that is in a queue.
  [
    'ResolveUnclear',
    'resolve-unclear',
    { neverDone: ['dynamodb:PartiQLUpdate', 'sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes'] },
  ],
];

describe('the rights of a function and what its code calls are the same', () => {
  it.each(FUNCTIONS)('%s', (construct, handler, { byLambda = [], neverDone = [] }) => {
    const asked = [...askedBy(handler)].filter((action) => !neverDone.includes(action) && !byLambda.includes(action));
    const allowed = allowedTo(construct).filter((action) => !action.startsWith('logs:') && !byLambda.includes(action));

    expect([...new Set(allowed)].sort()).toEqual(asked.sort());
  });
});
