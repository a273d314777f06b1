import type * as z from 'zod';

import type { ProblemCode } from '../../../lambda/contracts/http/problem.ts';
import { DispatchesQuery } from '../../../lambda/contracts/http/request/dispatches-query.ts';
import { RecipientsQuery } from '../../../lambda/contracts/http/request/recipients-query.ts';
import { EXAMPLES } from './examples.ts';
import type { SchemaName } from './schemas.ts';

/** One call of the API. */
export interface ApiOperation {
  readonly summary: string;
  /** A token with any one of these may call. */
  readonly scopes: readonly string[];
  readonly query?: z.ZodObject;
  readonly body?: { readonly schema: SchemaName; readonly example: unknown; readonly isOptional?: boolean };
  readonly needsKey?: boolean;
  readonly answers: Readonly<
    Record<string, { readonly schema: SchemaName; readonly description: string; readonly example?: unknown }>
  >;
  readonly problems: readonly ProblemCode[];
}

const SENDERS = ['mail:send', 'mail:operate'];
const READERS = ['mail:read', 'mail:operate'];
const OPERATORS = ['mail:operate'];

/** Of every call, of every call with a body, and of every call about one dispatch. */
const ALWAYS = ['no-subject', 'internal', 'unavailable'] as const;
const OF_BODIES = ['invalid-json', 'invalid-encoding', 'unsupported-media-type', 'body-too-large', 'invalid-request'] as const;
const OF_CONTENT = [
  'unknown-scenario',
  'template-too-costly',
  'invalid-template',
  'missing-variables',
  'rendering-fault',
] as const;

const applyCommand = { schema: 'DispatchCommand', description: 'It is changed; a task carries it out' } as const;

/** Every call, by its route. */
export const OPERATIONS: Readonly<Record<string, ApiOperation>> = {
  'POST /dispatches': {
    summary: 'Send a scenario to recipients. The same admin and key name one dispatch for ever.',
    scopes: ['mail:send'],
    needsKey: true,
    body: { schema: 'DispatchRequest', example: EXAMPLES.dispatchRequest },
    answers: {
      202: { schema: 'AcceptedDispatch', description: 'It is stored and will be sent', example: EXAMPLES.accepted },
      200: { schema: 'AcceptedDispatch', description: 'This key was used for this request before: the dispatch as it is now' },
    },
    problems: [
      ...ALWAYS,
      ...OF_BODIES,
      ...OF_CONTENT,
      'idempotency-key-missing',
      'idempotency-key-invalid',
      'idempotency-key-conflict',
      'possible-duplicate',
      'template-changed',
      'dispatch-too-large',
    ],
  },
  'POST /dispatches/preview': {
    summary: 'What such a request would come to: faults, warnings, the first mails. Nothing is stored.',
    scopes: ['mail:send'],
    body: { schema: 'DispatchRequest', example: EXAMPLES.dispatchRequest },
    answers: { 200: { schema: 'Preview', description: 'Faults are part of the answer' } },
    problems: [...ALWAYS, ...OF_BODIES],
  },
  'GET /dispatches': {
    summary: 'Your dispatches, newest first, as they were last looked over. Operators: another admin’s, or all that are open.',
    scopes: READERS,
    query: DispatchesQuery,
    answers: { 200: { schema: 'Dispatches', description: 'A page; there may be more while `next` is not null' } },
    problems: [...ALWAYS, 'invalid-query', 'operators-only'],
  },
  'GET /dispatches/{dispatchId}': {
    summary: 'A dispatch, with its recipients counted now.',
    scopes: READERS,
    answers: { 200: { schema: 'Dispatch', description: 'As it is now', example: EXAMPLES.dispatch } },
    problems: [...ALWAYS, 'not-found'],
  },
  'GET /dispatches/{dispatchId}/recipients': {
    summary: 'Recipients of a dispatch, page by page, also by state.',
    scopes: READERS,
    query: RecipientsQuery,
    answers: { 200: { schema: 'Recipients', description: 'A page; there may be more while `next` is not null' } },
    problems: [...ALWAYS, 'invalid-query', 'not-found'],
  },
  'GET /dispatches/{dispatchId}/recipients/{applyId}': {
    summary: 'One recipient with its attempts and the events of its mails.',
    scopes: READERS,
    answers: { 200: { schema: 'Recipient', description: 'As it is now', example: EXAMPLES.recipient } },
    problems: [...ALWAYS, 'not-found', 'no-such-recipient'],
  },
  'POST /dispatches/{dispatchId}/retry': {
    summary:
      'Send again to those whose mail failed or of whom nobody knows; never to one whose mail was sent. To repeat it does no harm.',
    scopes: SENDERS,
    body: { schema: 'RetryRequest', example: EXAMPLES.retry },
    answers: {
      202: { ...applyCommand, description: 'Of all recipients: a task carries it out' },
      200: { schema: 'RetriedRecipients', description: 'Of given recipients: what happened to each', example: EXAMPLES.retried },
    },
    problems: [...ALWAYS, ...OF_BODIES, 'not-found', 'already-cancelled', 'expired'],
  },
  'POST /dispatches/{dispatchId}/recipients/{applyId}/settle': {
    summary: 'Say what became of a mail whose outcome is UNKNOWN, and how you know.',
    scopes: SENDERS,
    body: { schema: 'SettleRequest', example: EXAMPLES.settle },
    answers: { 200: { schema: 'Recipient', description: 'As it is now' } },
    problems: [...ALWAYS, ...OF_BODIES, 'not-found', 'no-such-recipient', 'not-unknown'],
  },
  'POST /dispatches/{dispatchId}/settle': {
    summary:
      'Say what became of several mails whose outcome is UNKNOWN, or of all of a dispatch (`"all": true`), and how you know. Only recipients that are UNKNOWN change; repeating the request is safe.',
    scopes: SENDERS,
    body: { schema: 'SettleManyRequest', example: EXAMPLES.settleMany },
    answers: {
      202: { ...applyCommand, description: 'Of all recipients: a task carries it out' },
      200: { schema: 'SettledRecipients', description: 'Of given recipients: what happened to each', example: EXAMPLES.settled },
    },
    problems: [...ALWAYS, ...OF_BODIES, 'not-found'],
  },
  'POST /dispatches/{dispatchId}/exports': {
    summary: 'Write recipients into a CSV file, all or those in a state.',
    scopes: READERS,
    body: { schema: 'ExportRequest', example: { status: 'FAILED' }, isOptional: true },
    answers: { 202: { schema: 'Export', description: 'It is being written' } },
    problems: [...ALWAYS, ...OF_BODIES, 'not-found'],
  },
  'GET /dispatches/{dispatchId}/exports/{export}': {
    summary: 'How an export stands, and where its file is: for a day, under an address that is good for five minutes.',
    scopes: READERS,
    answers: { 200: { schema: 'Export', description: 'As it is now', example: EXAMPLES.export } },
    problems: [...ALWAYS, 'not-found', 'no-such-export'],
  },
  'POST /dispatches/{dispatchId}/cancel': {
    summary: 'Send no more of a dispatch. A send that has begun ends as what it is.',
    scopes: SENDERS,
    answers: { 202: applyCommand },
    problems: [...ALWAYS, 'not-found', 'already-completed'],
  },
  'POST /dispatches/{dispatchId}/resume': {
    summary: 'Go on with a dispatch that was stopped.',
    scopes: SENDERS,
    answers: { 202: applyCommand },
    problems: [...ALWAYS, 'not-found', 'not-stopped'],
  },
  'GET /sending': {
    summary: 'Whether mails are sent at all.',
    scopes: OPERATORS,
    answers: { 200: { schema: 'Sending', description: 'As it is now' } },
    problems: ALWAYS,
  },
  'PUT /sending': {
    summary: 'Pause or resume all sending.',
    scopes: OPERATORS,
    body: { schema: 'SendingRequest', example: { paused: true, reason: 'wrong template' } },
    answers: { 200: { schema: 'Sending', description: 'As it is now' } },
    problems: [...ALWAYS, ...OF_BODIES],
  },
};
