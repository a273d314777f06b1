import { describe, expect, it } from 'vitest';

import { all, one, plain, synthesize } from './synthesized.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

const { dispatch } = synthesize('prod', { templatePrefix: 'recruiting-' });

const asList = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);
const statements = (role: string): Statement[] =>
  (one(dispatch, 'AWS::IAM::Policy', `${role}RoleDefaultPolicy`).Properties['PolicyDocument'] as { Statement: Statement[] })
    .Statement;

/** Logical ids end in a hash that says nothing to a reader. */
const readable = (resource: unknown): string =>
  plain(resource)
    .replace(/(Table|Queue|Bus|Logs|ListsBucket|RelayFailures|Exports|ConfigurationSet)[0-9A-F]{8}/g, '$1')
    .replace(/\.?(Stream)?Arn[0-9A-F]{0,8}/, (_, stream: string | undefined) => (stream === undefined ? '' : '/stream'));

/** `action on resource`, one line for each pair that is allowed. */
const rights = (role: string): string[] =>
  statements(role)
    .flatMap(({ Action, Resource }) =>
      asList(Action).flatMap((action) => asList(Resource).map((on) => `${action} on ${readable(on)}`)),
    )
    .sort();

const log = (role: string) => [`logs:CreateLogStream on ${role}Logs`, `logs:PutLogEvents on ${role}Logs`];
const FOLLOWER = [
  'dynamodb:DescribeStream on DispatchesTable/stream',
  'dynamodb:GetRecords on DispatchesTable/stream',
  'dynamodb:GetShardIterator on DispatchesTable/stream',
  'dynamodb:ListStreams on *',
  's3:ListBucket on RelayFailures',
  's3:PutObject on RelayFailures/*',
];
const table = (...actions: string[]) => actions.map((action) => `dynamodb:${action} on DispatchesTable`);
const SES = 'arn:Partition:ses:Region:AccountId:';

describe('the role of each function may do exactly this', () => {
  it.each<[string, string[]]>([
    [
      'AcceptDispatch',
      [
        ...table('GetItem', 'PutItem', 'UpdateItem'),
        's3:PutObject on ListsBucket/*',
        `ses:GetEmailTemplate on ${SES}template/recruiting-*`,
        'sqs:GetQueueAttributes on SendsQueue',
      ],
    ],
    [
      'ReadDispatches',
      [
        ...table('GetItem', 'Query'),
        'dynamodb:Query on DispatchesTable/index/by-admin',
        'dynamodb:Query on DispatchesTable/index/open',
        's3:GetObject on Exports/*',
      ],
    ],
    ['OperateDispatches', table('GetItem', 'PutItem', 'Query', 'UpdateItem')],
    ['OperateSending', table('GetItem', 'UpdateItem')],
    ['RelayOutbox', [...FOLLOWER, 'sqs:SendMessage on SendsQueue', 'sqs:SendMessage on TasksQueue']],
    ['FollowProgress', [...FOLLOWER, ...table('GetItem', 'Query', 'UpdateItem'), 'events:PutEvents on NewsBus']],
    [
      'RunTask',
      [
        ...table('ConditionCheckItem', 'DeleteItem', 'GetItem', 'PartiQLInsert', 'Query', 'UpdateItem'),
        's3:DeleteObject on ListsBucket/*',
        's3:GetObject on Exports/*',
        's3:GetObject on ListsBucket/*',
        's3:ListBucket on ListsBucket',
        's3:PutObject on Exports/*',
        'sqs:ChangeMessageVisibility on TasksQueue',
        'sqs:DeleteMessage on TasksQueue',
        'sqs:GetQueueAttributes on TasksQueue',
        'sqs:ReceiveMessage on TasksQueue',
        'sqs:SendMessage on SendsQueue',
        'sqs:SendMessage on TasksQueue',
      ],
    ],
    [
      'SendRecipients',
      [
        ...table('ConditionCheckItem', 'GetItem', 'PartiQLUpdate', 'Query', 'UpdateItem'),
        's3:GetObject on ListsBucket/*',
        's3:ListBucket on ListsBucket',
        'ses:GetAccount on *',
        `ses:SendEmail on ${SES}configuration-set/EventsConfigurationSet`,
        `ses:SendEmail on ${SES}identity/*@simulator.amazonses.com`,
        `ses:SendEmail on ${SES}identity/example.org`,
        `ses:SendEmail on ${SES}identity/jobs@mail.example.org`,
        `ses:SendEmail on ${SES}identity/mail.example.org`,
        'sqs:ChangeMessageVisibility on SendsQueue',
        'sqs:DeleteMessage on SendsQueue',
        'sqs:GetQueueAttributes on SendsQueue',
        'sqs:ReceiveMessage on SendsQueue',
        'sqs:SendMessage on SendsQueue',
      ],
    ],
    [
      'ApplyFeedback',
      [
        ...table('GetItem', 'UpdateItem'),
        'sqs:DeleteMessage on EventsFeedbackQueue',
        'sqs:GetQueueAttributes on EventsFeedbackQueue',
        'sqs:ReceiveMessage on EventsFeedbackQueue',
      ],
    ],
    ['ShowOperations', [...table('GetItem', 'Query'), 'dynamodb:Query on DispatchesTable/index/open']],
    [
      'ResolveUnclear',
      [
        ...table('DeleteItem', 'GetItem', 'Query', 'UpdateItem'),
        `ses:SendEmail on ${SES}configuration-set/EventsConfigurationSet`,
        `ses:SendEmail on ${SES}identity/*@simulator.amazonses.com`,
        `ses:SendEmail on ${SES}identity/example.org`,
        `ses:SendEmail on ${SES}identity/jobs@mail.example.org`,
        `ses:SendEmail on ${SES}identity/mail.example.org`,
        'sqs:SendMessage on SendsQueue',
      ],
    ],
    [
      'Sweep',
      [
        ...table('GetItem', 'Query', 'UpdateItem'),
        'dynamodb:Query on DispatchesTable/index/open',
        's3:DeleteObject on ListsBucket/*',
        's3:ListBucket on ListsBucket',
        'ses:GetAccount on *',
        'sqs:GetQueueAttributes on SendsQueue',
        'sqs:SendMessage on SendsQueue',
        'sqs:SendMessage on TasksQueue',
      ],
    ],
  ])('%s', (role, expected) => {
    expect(rights(role)).toEqual([...log(role), ...expected].sort());
  });
});

it('nothing but these policies gives rights: no managed policy, no inline one, no permission that is no allowance', () => {
  const roles = all(dispatch, 'AWS::IAM::Role');
  expect(roles).toHaveLength(12);
  expect(all(dispatch, 'AWS::IAM::Policy')).toHaveLength(12);
  for (const { Properties } of roles) expect(Object.keys(Properties)).toEqual(['AssumeRolePolicyDocument']);
});
