import { createServer } from 'node:http';

import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, DescribeAlarmsCommand } from '@aws-sdk/client-cloudwatch';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetAccountCommand, GetConfigurationSetEventDestinationsCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { GetSubscriptionAttributesCommand, ListSubscriptionsCommand, SNSClient } from '@aws-sdk/client-sns';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  SQSServiceException,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { listen } from '../../../../local/ports.ts';
import { exportFile, rowsOf } from '../../../../tools/verify-deployment/checks/export.ts';
import { createCleanup } from '../../../../tools/verify-deployment/cleanup.ts';
import { runChecks } from '../../../../tools/verify-deployment/run-checks.ts';
import { offer } from '../../../../tools/verify-deployment/target.ts';
import { readAlarms } from '../../../../tools/verify-deployment/targets/alarms.ts';
import { openStage, startRedrive } from '../../../../tools/verify-deployment/targets/aws.ts';
import { readDestinations, readSubscription } from '../../../../tools/verify-deployment/targets/event-destinations.ts';
import { readStageOutputs } from '../../../../tools/verify-deployment/targets/stack-outputs.ts';
import { readStageSettings } from '../../../../tools/verify-deployment/targets/stage-settings.ts';
import { askWidget } from '../../../../tools/verify-deployment/targets/widget-function.ts';
import { createWorld } from '../../../../tools/verify-deployment/verify.ts';
import { printBroken, someOptions, verifyOnly } from '../../../support/verification.ts';
import { aTarget } from '../../../support/verification-target.ts';

const [cloudFormation, cloudWatch, ses, sns, sqs] = [
  mockClient(CloudFormationClient),
  mockClient(CloudWatchClient),
  mockClient(SESv2Client),
  mockClient(SNSClient),
  mockClient(SQSClient),
];
const mocks = [cloudFormation, cloudWatch, ses, sns, sqs];
beforeEach(() => {
  for (const mock of mocks) mock.reset();
});
afterAll(() => {
  for (const mock of mocks) mock.restore();
});

const broken = async (what: string, ...args: Parameters<typeof verifyOnly>) => {
  const { good, results } = await verifyOnly(...args);
  printBroken(what, results);
  expect(good).toBe(false);
  return results.find(({ status }) => status === 'failed') ?? { saw: '', advice: '' };
};

const CLIENT = { region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 's' } };

/** A server that answers everything the same. */
const serve = async (status: number, headers: Readonly<Record<string, string>>, body: string) => {
  const server = createServer((_, response) => {
    response.writeHead(status, headers);
    response.end(body);
  });
  const port = await listen(server, { variable: 'a free port', port: 0 });
  return {
    address: `http://127.0.0.1:${port}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const NOW = { waitSeconds: 1 };

describe('alarms', () => {
  const alarm = (AlarmName: string, StateValue: 'OK' | 'ALARM' | 'INSUFFICIENT_DATA') => ({
    AlarmName: `mail-dispatch-prod-watch-${AlarmName}`,
    StateValue,
    AlarmDescription: 'Some recipients did not get their mail. Runbook: docs/runbook.md#send-dead-letters',
  });
  const target = () => {
    const client = new CloudWatchClient({ region: 'eu-west-1' });
    return aTarget({ alarms: offer(() => readAlarms(client, 'mail-dispatch-prod-watch-')) });
  };

  it('are read page by page, composite ones too, and fail the check with their impact and runbook section', async () => {
    cloudWatch
      .on(DescribeAlarmsCommand, { AlarmNamePrefix: 'mail-dispatch-prod-watch-' })
      .resolves({ MetricAlarms: [alarm('Late', 'OK'), alarm('SendDeadLetters', 'ALARM')], NextToken: 'more' })
      .on(DescribeAlarmsCommand, { NextToken: 'more' })
      .resolves({ CompositeAlarms: [alarm('Page', 'OK')] });

    const { saw, advice } = await broken('alarm in ALARM', target(), ['alarms-before'], NOW);

    expect(saw).toBe(
      '1 of 3 in ALARM: SendDeadLetters: Some recipients did not get their mail. Runbook: docs/runbook.md#send-dead-letters',
    );
    expect(advice).toContain('docs/runbook.md');
  });

  it('without data are told apart from those that are on, and a stage without alarms is no stage', async () => {
    cloudWatch.on(DescribeAlarmsCommand).resolves({ MetricAlarms: [alarm('Late', 'INSUFFICIENT_DATA')] });
    expect(await broken('alarm without data', target(), ['alarms-before'], NOW)).toMatchObject({
      saw: '1 of 1 without data: Late',
    });

    cloudWatch.on(DescribeAlarmsCommand).resolves({});
    expect(await broken('no alarms', target(), ['alarms-before'], NOW)).toMatchObject({ saw: 'the stage has no alarm' });
  });

  it('get time to end afterwards', async () => {
    cloudWatch
      .on(DescribeAlarmsCommand)
      .resolvesOnce({ MetricAlarms: [alarm('SendDeadLetters', 'ALARM')] })
      .resolves({ MetricAlarms: [alarm('SendDeadLetters', 'OK')] });

    expect((await verifyOnly(target(), ['alarms-after'], { waitSeconds: 60 })).results).toMatchObject([
      { status: 'passed', saw: '1 alarms, all OK' },
    ]);
  });
});

describe('the SES account', () => {
  const inSandbox = {
    ProductionAccessEnabled: false,
    SendingEnabled: true,
    EnforcementStatus: 'HEALTHY',
    SendQuota: { MaxSendRate: 1, Max24HourSend: 200, SentLast24Hours: 10 },
  };

  it('in the sandbox is a failure, unless that is allowed', async () => {
    ses.on(GetAccountCommand).resolves(inSandbox);

    const { saw, advice } = await broken('sandbox', aTarget(), ['account']);
    expect(saw).toBe('the account is in the sandbox: 1 mails a second, 200 in 24 hours, 190 left');
    expect(advice).toContain('Ask for production access');
    expect((await verifyOnly(aTarget(), ['account'], { allowSandbox: true })).results).toMatchObject([{ status: 'passed' }]);
  });

  it('whose quota is used up is a failure', async () => {
    ses.on(GetAccountCommand).resolves({
      ...inSandbox,
      ProductionAccessEnabled: true,
      SendQuota: { MaxSendRate: 14, Max24HourSend: 50_000, SentLast24Hours: 50_000 },
    });

    expect(await broken('quota', aTarget(), ['account'])).toMatchObject({
      saw: '14 mails a second, 50000 in 24 hours, 0 left',
    });
  });

  it('that AWS reviews, or that was switched off, is a failure', async () => {
    ses.on(GetAccountCommand).resolves({ ...inSandbox, EnforcementStatus: 'PROBATION' });
    expect(await broken('account under review', aTarget(), ['account'])).toMatchObject({
      saw: expect.stringContaining('PROBATION') as string,
    });

    ses.on(GetAccountCommand).resolves({ ...inSandbox, SendingEnabled: false });
    expect(await broken('account disabled', aTarget(), ['account'])).toMatchObject({
      saw: expect.stringContaining('disabled') as string,
    });
  });
});

describe('the path of events', () => {
  const TYPES = ['SEND', 'REJECT', 'BOUNCE', 'COMPLAINT', 'DELIVERY', 'RENDERING_FAILURE', 'DELIVERY_DELAY'] as const;
  const destination = (given: object = {}) => ({
    Name: 'Events',
    Enabled: true,
    MatchingEventTypes: [...TYPES],
    SnsDestination: { TopicArn: 'arn:aws:sns:eu-west-1:123456789012:events' },
    ...given,
  });
  const target = () => {
    const topics = new SNSClient({ region: 'eu-west-1' });
    const base = aTarget();
    return {
      ...base,
      destinations: offer(() => readDestinations(base.ses, 'the-set')),
      subscription: () => readSubscription(topics, base.queues.feedback),
    };
  };
  const subscribe = (RawMessageDelivery: string) => {
    sns
      .on(ListSubscriptionsCommand)
      .resolves({ Subscriptions: [{ SubscriptionArn: 'other', Endpoint: 'kim@example.com' }], NextToken: 'more' })
      .on(ListSubscriptionsCommand, { NextToken: 'more' })
      .resolves({ Subscriptions: [{ SubscriptionArn: 'ours', Endpoint: 'arn:aws:sqs:eu-west-1:123456789012:feedback' }] })
      .on(GetSubscriptionAttributesCommand, { SubscriptionArn: 'ours' })
      .resolves({ Attributes: { RawMessageDelivery } });
  };

  it('passes when all is on', async () => {
    ses.on(GetConfigurationSetEventDestinationsCommand).resolves({ EventDestinations: [destination()] });
    subscribe('true');

    expect((await verifyOnly(target(), ['event-path'])).results).toMatchObject([{ status: 'passed' }]);
  });

  it.each([
    ['no event destination', [], 'true', 'no event destination of SNS'],
    ['events off', [destination({ Enabled: false })], 'true', 'is disabled'],
    ['event types missing', [destination({ MatchingEventTypes: ['SEND'] })], 'true', 'no destination publishes DELIVERY, BOUNCE'],
    ['raw delivery off', [destination()], 'false', 'an envelope of SNS'],
  ] as const)('fails: %s', async (what, EventDestinations, raw, saw) => {
    ses.on(GetConfigurationSetEventDestinationsCommand).resolves({ EventDestinations: [...EventDestinations] });
    subscribe(raw);

    expect((await broken(what, target(), ['event-path'])).saw).toContain(saw);
  });

  it('fails when the queue is subscribed to nothing', async () => {
    ses.on(GetConfigurationSetEventDestinationsCommand).resolves({ EventDestinations: [destination()] });
    sns.on(ListSubscriptionsCommand).resolves({ Subscriptions: [] });

    expect((await broken('not subscribed', target(), ['event-path'])).saw).toContain('is not subscribed');
  });
});

describe('the dead letter', () => {
  const denied = new SQSServiceException({
    name: 'AccessDenied',
    message: 'User: arn:aws:iam::123456789012:user/kim is not authorized to perform: sqs:SendMessage on resource: x',
    $fault: 'client',
    $metadata: { httpStatusCode: 403 },
  });

  it('that may not be sent is a failure that names the right, and leaves nothing to put back', async () => {
    sqs.on(GetQueueAttributesCommand).resolves({ Attributes: {} });
    sqs.on(SendMessageCommand).rejects(denied);

    const { saw, advice } = await broken('queue rights missing', aTarget(), ['dead-letter'], NOW);
    expect(saw).toBe('AWS denied sqs:SendMessage to the credentials in use');
    expect(advice).toContain('allow sqs:SendMessage');
    expect(sqs.commandCalls(DeleteMessageCommand)).toEqual([]);
  });

  it('is not put beside those of others', async () => {
    sqs.on(GetQueueAttributesCommand).callsFake(({ QueueUrl }: { QueueUrl: string }) => ({
      Attributes: { ApproximateNumberOfMessages: QueueUrl.endsWith('dead') ? '2' : '0' },
    }));

    expect((await verifyOnly(aTarget(), ['dead-letter'])).results).toMatchObject([
      { status: 'skipped', saw: '2 dead letters wait already: handle them first (docs/runbook.md, "Send dead letters").' },
    ]);
    expect(sqs.commandCalls(SendMessageCommand)).toEqual([]);
  });

  it('goes round once more after a redrive before it counts as redriven, and is removed', async () => {
    const body = () => sqs.commandCalls(SendMessageCommand)[0]?.args[0].input.MessageBody ?? '';
    let ids = ['first', 'first', 'second'];
    sqs.on(GetQueueAttributesCommand).resolves({ Attributes: {} });
    sqs.on(SendMessageCommand).resolves({});
    let shown = false;
    sqs.on(ReceiveMessageCommand).callsFake(() => {
      // One message at each look, and then none.
      shown = !shown;
      const [MessageId] = ids;
      if (!shown || MessageId === undefined) return {};
      if (ids.length > 1) ids = ids.slice(1);
      return { Messages: [{ MessageId, ReceiptHandle: MessageId, Body: body() }] };
    });
    sqs.on(DeleteMessageCommand).callsFake(() => {
      ids = [];
      return {};
    });

    const { results, left } = await verifyOnly(aTarget(), ['dead-letter'], { waitSeconds: 30 });

    expect(results).toMatchObject([{ status: 'passed' }]);
    expect(left).toEqual([]);
    expect(sqs.commandCalls(DeleteMessageCommand)).toMatchObject([{ args: [{ input: { ReceiptHandle: 'second' } }] }]);
  });

  it('is redriven by SQS’s own move', async () => {
    sqs.on(GetQueueAttributesCommand).resolves({ Attributes: { QueueArn: 'arn:aws:sqs:eu-west-1:123456789012:dead' } });
    await startRedrive(new SQSClient({ region: 'eu-west-1' }), aTarget().queues.sendDeadLetters);

    expect(sqs.commandCalls(StartMessageMoveTaskCommand)).toMatchObject([
      { args: [{ input: { SourceArn: 'arn:aws:sqs:eu-west-1:123456789012:dead' } }] },
    ]);
  });
});

describe('the widget', () => {
  const target = (endpoint: string) => {
    const client = new LambdaClient({ ...CLIENT, endpoint });
    return aTarget({ widget: () => askWidget(client, 'arn:aws:lambda:eu-west-1:123456789012:function:show') });
  };

  it('that fails is a failure with the type of its error', async () => {
    const failure = JSON.stringify({ errorType: 'Runtime.ImportModuleError', errorMessage: 'x' });
    const server = await serve(200, { 'x-amz-function-error': 'Unhandled' }, failure);

    const { saw, advice } = await broken('widget failing', target(server.address), ['widget']);
    server.stop();
    expect(saw).toBe('the function failed with Runtime.ImportModuleError');
    expect(advice).toContain('lambda:InvokeFunction');
  });

  it('that answers its page passes', async () => {
    const server = await serve(200, {}, JSON.stringify('<div class="mail-dispatch light"></div>'));

    expect((await verifyOnly(target(server.address), ['widget'])).results).toMatchObject([{ status: 'passed' }]);
    server.stop();
  });
});

describe('the export', () => {
  const refusal = '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';

  it('whose link S3 refuses is a failure that names the right', async () => {
    const server = await serve(403, { 'content-type': 'application/xml' }, refusal);
    const url = `${server.address}/file.csv`;
    const world = createWorld(aTarget(), someOptions(NOW), new AbortController().signal);
    const answer = { status: 202, headers: new Headers(), body: { export: 1, state: 'running', recipients: 0 } };
    const file = { export: 1, state: 'done', recipients: 3, url };

    const results = await runChecks(
      [{ ...exportFile, needs: [] }],
      {
        ...world,
        cleanup: createCleanup(0),
        dispatches: {
          ...world.dispatches,
          accepted: () => Promise.resolve('an-id'),
          recipients: () => Promise.resolve([]),
        },
        api: { ...world.api, json: () => Promise.resolve(answer), read: (_path, form) => Promise.resolve(form.parse(file)) },
      },
      { started: () => undefined, ended: () => undefined },
    );
    server.stop();
    printBroken('bucket refused', results);

    expect(results).toMatchObject([{ status: 'failed', saw: 'the link of the file was answered 403 AccessDenied' }]);
    expect(results[0]?.advice).toContain('s3:GetObject');
  });

  it('has one row for each recipient below its header', () => {
    expect(rowsOf('applyId,email\r\na-1,a@example.com\r\na-2,b@example.com\r\n')).toBe(2);
  });
});

describe('a stage', () => {
  const outputs = (given: Readonly<Record<string, string>>) => ({
    Stacks: [
      {
        StackName: 's',
        CreationTime: new Date(0),
        StackStatus: 'CREATE_COMPLETE' as const,
        Outputs: Object.entries(given).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
      },
    ],
  });
  const client = () => new CloudFormationClient({ region: 'eu-west-1' });

  it('that is not deployed is said to be that', async () => {
    cloudFormation
      .on(DescribeStacksCommand)
      .rejects(Object.assign(new Error('Stack with id mail-dispatch-prod does not exist'), { name: 'ValidationError' }));

    await expect(readStageOutputs(client(), 'prod')).rejects.toThrow('There is no stack mail-dispatch-prod');
  });

  it('that lacks outputs is said to lack them', async () => {
    cloudFormation.on(DescribeStacksCommand).resolves(outputs({ ApiUrl: 'https://x.execute-api.eu-west-1.amazonaws.com' }));

    await expect(readStageOutputs(client(), 'prod')).rejects.toThrow('lack the outputs ConfigurationSetName, SendQueueUrl');
  });

  it('is reached by its outputs, its names and the region of the environment', async () => {
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    const queue = (name: string) => `https://sqs.eu-west-1.amazonaws.com/123456789012/${name}`;
    cloudFormation
      .on(DescribeStacksCommand, { StackName: 'mail-dispatch-prod' })
      .resolves(
        outputs({
          ApiUrl: 'https://x.execute-api.eu-west-1.amazonaws.com',
          ConfigurationSetName: 'the-set',
          SendQueueUrl: queue('sends'),
          SendDeadLetterQueueUrl: queue('dead'),
          TaskQueueUrl: queue('tasks'),
          FeedbackQueueUrl: queue('feedback'),
        }),
      )
      .on(DescribeStacksCommand, { StackName: 'mail-dispatch-prod-watch' })
      .resolves(outputs({ WidgetFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:show' }));
    cloudWatch.on(DescribeAlarmsCommand).resolves({});

    const target = await openStage('prod', someOptions({ stage: 'prod', token: 'a', operatorToken: 'b', templatePrefix: 'p-' }));
    await (target.alarms.has ? target.alarms.value() : undefined);
    target.close();
    vi.unstubAllEnvs();

    expect(target).toMatchObject({
      name: 'stage prod in eu-west-1',
      api: 'https://x.execute-api.eu-west-1.amazonaws.com',
      tokens: { sender: 'a', operator: 'b' },
      templatePrefix: 'p-',
      queues: { send: queue('sends'), sendDeadLetters: queue('dead') },
    });
    expect(cloudWatch.commandCalls(DescribeAlarmsCommand)).toMatchObject([
      { args: [{ input: { AlarmNamePrefix: 'mail-dispatch-prod-watch-', AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] } }] },
    ]);
  });

  it('cannot be checked without a token', async () => {
    await expect(openStage('prod', someOptions({ stage: 'prod' }))).rejects.toThrow('Give a token');
  });

  it('has the issuer and the prefix of cdk.json', () => {
    expect(readStageSettings('cdk.json', 'dev')).toMatchObject({ audience: ['mail-dispatch'], templatePrefix: '' });
    expect(readStageSettings('cdk.json', 'nowhere')).toEqual({ templatePrefix: '' });
  });
});
