import { SendEmailCommand, SESv2Client, SESv2ServiceException } from '@aws-sdk/client-sesv2';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createMailProvider } from '../../../../lambda/adapters/ses/mail-provider.ts';
import { createSendQueue } from '../../../../lambda/adapters/sqs/send-queue.ts';
import { createMailRenderer } from '../../../../lambda/adapters/template/content/mail-renderer.ts';
import type { ContentRepository } from '../../../../lambda/application/ports/dispatches.ts';
import type { MailRenderer } from '../../../../lambda/application/ports/provider.ts';
import type { SendPolicy } from '../../../../lambda/application/send/finished-attempt.ts';
import { createPauseGuard } from '../../../../lambda/application/send/pause/pause-guard.ts';
import { createPacer } from '../../../../lambda/application/send/rate/pacer.ts';
import { createSendRecipients } from '../../../../lambda/application/send/send-recipients.ts';
import { createStopRule } from '../../../../lambda/application/send/stop-dispatch.ts';
import { createHandler as createTaskHandler } from '../../../../lambda/handlers/run-task/handler.ts';
import { createHandler } from '../../../../lambda/handlers/send-recipients/handler.ts';
import { createPauseObserver, createSendObserver } from '../../../../lambda/handlers/send-recipients/signals.ts';
import { neverThrow } from '../../../../lambda/observability/telemetry.ts';
import { aContent, aKey, aPolicy, aRecipient, DISPATCH_ID, processing } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { createFakeClock, T0 } from '../../../support/clock.ts';
import { createFakeCanaries, createFakeQuota } from '../../../support/fake-canaries.ts';
import { createFakeDispatches, createFakeSending } from '../../../support/fake-control.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { createFakeContents, createFakeRecipients, type FakeRecipients } from '../../../support/fakes.ts';
import { aContext, anSqsEvent, runTaskBody, sendBody, taskBody } from '../../../support/lambda-events.ts';
import { aSendRate } from '../../../support/sender-world.ts';

/** What must never be seen outside the table and the mail itself (S14). */
const SECRETS = {
  address: 'secret.kim@private.example.com',
  name: 'Secretname-Kim',
  subject: 'Secretsubject-offer',
  sender: 'secret-sender@private.example.org',
  applyId: 'secret-apply@private.example.net',
};
const ANY_SECRET = /secret|private\.example/i;
const ABOUT_ALL = `Email address is not verified: ${Object.values(SECRETS).join(', ')}`;

const ses = mockClient(SESv2Client);
const sqs = mockClient(SQSClient);
let output: Captured;
let recipients: FakeRecipients;

beforeEach(() => {
  ses.reset();
  sqs.reset();
  sqs.on(SendMessageBatchCommand).resolves({});
  output = captureOutput();
  recipients = createFakeRecipients([
    [
      aKey(SECRETS.applyId),
      aRecipient(undefined, { applyId: SECRETS.applyId, email: SECRETS.address, variables: { name: SECRETS.name } }),
    ],
  ]);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const content = aContent({
  template: { subject: SECRETS.subject, text: 'Dear {{name}}' },
  variables: { recruiter: SECRETS.name },
  from: `Jobs <${SECRETS.sender}>`,
});

/** The sender as it is wired, but for the table. */
const run = async ({
  body = sendBody(aKey(SECRETS.applyId)),
  renderer = createMailRenderer(1_000_000),
  contents = createFakeContents({ [DISPATCH_ID]: content }),
  policy = aPolicy(),
}: { body?: string; renderer?: MailRenderer; contents?: ContentRepository; policy?: SendPolicy } = {}): Promise<void> => {
  const clock = createFakeClock();
  const { telemetry } = output;
  const provider = createMailProvider({
    client: new SESv2Client({ region: 'eu-west-1' }),
    configurationSet: 'mail-events',
    timeoutSeconds: 10,
  });
  const dispatches = createFakeDispatches(recipients);
  const sending = createFakeSending();
  const observe = neverThrow(createSendObserver(telemetry));
  const handler = createHandler({
    sendRecipients: createSendRecipients({
      recipients,
      dispatches,
      contents,
      ledger: createFakeLedger(),
      renderer,
      isAllowedRecipient: () => true,
      provider,
      pacer: createPacer({ clock: clock.now, sendRate: aSendRate(100), rateShare: 0.9, senders: 1, parallelCalls: 10 }),
      guard: createPauseGuard({
        sending,
        sweeps: sending,
        identity: { origin: () => Promise.resolve('own') },
        canaries: createFakeCanaries(),
        provider,
        quota: createFakeQuota(),
        stopDispatch: () => Promise.resolve(),
        policy: { pauseBaseSeconds: 60, pauseCapSeconds: 600, probeSeconds: 15 },
        fromAddress: 'jobs@example.org',
        lookAgainSeconds: 900,
        callMs: 12_000,
        clock: clock.now,
        random: () => 0.5,
        newId: () => 'environment-1',
        sleep: clock.sleep,
        observe: neverThrow(createPauseObserver(telemetry)),
      }),
      stopRule: createStopRule({ dispatches, clock: clock.now, observe }),
      policy,
      clock: clock.now,
      random: () => 0.5,
      newId: () => 'lease-1',
      sleep: clock.sleep,
      observe,
    }),
    queue: createSendQueue({
      client: new SQSClient({ region: 'eu-west-1' }),
      queueUrl: 'https://sqs/sends',
      newId: () => 'm-2',
      clock: clock.now,
      random: () => 0.5,
      sleep: clock.sleep,
    }),
    clock: clock.now,
    telemetry,
  });
  await handler(anSqsEvent(body), aContext());
};

const bodiesSent = (): string[] =>
  sqs
    .commandCalls(SendMessageBatchCommand)
    .flatMap(({ args }) => (args[0].input.Entries ?? []).map((entry) => JSON.stringify(entry)));

const expectSilence = (): void => {
  expect(output.text()).not.toBe('');
  expect(output.text()).not.toMatch(ANY_SECRET);
  for (const body of bodiesSent()) expect(body.replaceAll(SECRETS.applyId, '')).not.toMatch(ANY_SECRET);
};

const refusal = (status: number, name: string) =>
  new SESv2ServiceException({ name, message: ABOUT_ALL, $fault: 'client', $metadata: { httpStatusCode: status } });

describe('nothing personal is logged, counted or queued (S14)', () => {
  it.each([
    [429, 'TooManyRequestsException'],
    [400, 'MessageRejected'],
    [400, 'BadRequestException'],
    [400, 'SendingPausedException'],
    [400, SECRETS.address],
    [403, 'AccessDeniedException'],
    [404, 'NotFoundException'],
    [503, 'SyntaxError'],
  ])('when SES answers %i %s with a text that names everybody', async (status, name) => {
    ses.on(SendEmailCommand).rejects(refusal(status, name));

    await run();

    expect(ses.commandCalls(SendEmailCommand)).toHaveLength(1);
    expectSilence();
    expect(JSON.stringify(recipients.all().map(({ recipient, attempts }) => ({ recipient, attempts })))).not.toMatch(ANY_SECRET);
  });

  it('when the connection fails with a text that names everybody', async () => {
    ses.on(SendEmailCommand).rejects(Object.assign(new Error(ABOUT_ALL), { code: 'ECONNRESET' }));

    await run();

    expectSilence();
  });

  it('when a mail goes out', async () => {
    ses.on(SendEmailCommand).resolves({ MessageId: 'ses-1' });

    await run();

    expect(ses.commandCalls(SendEmailCommand)[0]?.args[0].input).toMatchObject({
      Destination: { ToAddresses: [SECRETS.address] },
      Content: { Simple: { Subject: { Data: SECRETS.subject }, Body: { Text: { Data: `Dear ${SECRETS.name}` } } } },
    });
    expectSilence();
  });

  it('when a lease has ended with the outcome open', async () => {
    const lease = { token: 'dead', until: T0 - 1 };
    recipients.put(
      aKey(SECRETS.applyId),
      aRecipient(processing({ lease, attemptCount: 7 }), { applyId: SECRETS.applyId, email: SECRETS.address }),
    );

    await run();

    expect(recipients.all()[0]?.recipient.status).toBe('PROCESSING');
    expectSilence();
  });

  it('when rendering crashes on a value', async () => {
    await run({
      renderer: {
        render: () => {
          throw new Error(ABOUT_ALL);
        },
      },
    });

    expectSilence();
  });

  it.each(['unknown-dispatch', 'expired', 'broken'] as const)('when the content is %s', async (state) => {
    await run({ contents: createFakeContents({ [DISPATCH_ID]: state }) });

    expectSilence();
  });

  it.each([ABOUT_ALL, JSON.stringify({ v: 99, applyId: SECRETS.applyId })])(
    'when a message cannot be understood',
    async (body) => {
      await run({ body });

      expectSilence();
    },
  );

  it.each([ABOUT_ALL, taskBody(1), runTaskBody(1)])('when a task fails with a text that names everybody', async (body) => {
    const fail = () => Promise.reject(new Error(ABOUT_ALL));
    const { telemetry } = output;
    const taskQueue = { enqueueTasks: fail, expand: fail };
    for (const isTransient of [true, false]) {
      const handler = createTaskHandler({
        expandBatch: fail,
        runTask: fail,
        taskQueue,
        hide: () => Promise.resolve(),
        isTransient: () => isTransient,
        telemetry,
      });

      expect(await handler(anSqsEvent(body), aContext())).toEqual({ batchItemFailures: [{ itemIdentifier: 'sqs-0' }] });
    }
    expect(output.text()).not.toMatch(ANY_SECRET);
  });
});
