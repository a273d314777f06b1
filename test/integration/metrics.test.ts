import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

import { CREDENTIALS } from '../../local/clients.ts';
import { REGION } from '../../local/cloudformation/types/identity.ts';
import { all, synthesize } from '../infra/synthesized.ts';
import { poll } from '../support/stack.ts';
import { openQueues } from '../support/stack-queues.ts';
import { AUTO_STACK } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

/** Metrics of ours on which an alarm hangs. */
const ALARMED = all(synthesize('local').watch, 'AWS::CloudWatch::Alarm')
  .filter(({ Properties }) => Properties['Namespace'] === 'MailDispatch')
  .map(({ Properties }) => String(Properties['MetricName']));

const Emf = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string() })),
      }),
    ),
  }),
});

/** Every metric in the functions' logs, as CloudWatch would find them there: its name, and what it is filed under. */
const metricsIn = (log: string): Map<string, string> => {
  const found = new Map<string, string>();
  for (const line of log.split('\n').filter((each) => each.startsWith('{') && each.includes('"CloudWatchMetrics"'))) {
    const emf = Emf.parse(JSON.parse(line));
    for (const { Namespace, Dimensions, Metrics } of emf._aws.CloudWatchMetrics) {
      const under = Dimensions.flat().map((name) => `${name}=${String(emf[name])}`);
      for (const { Name } of Metrics) found.set(Name, `${Namespace} ${under.join(' ')}`);
    }
  }
  return found;
};

// Under the policy resend a lost answer leads to a second mail, or to nobody knowing, within two leases. Whether a dispatch
// is to be stopped is looked into only by a sender with ten seconds left.
const stack = useStack('metrics', {
  UNCLEAR_POLICY: 'resend',
  FUNCTION_TIMEOUT_SECONDS: '15',
  LEASE_SECONDS: '17',
  VISIBILITY_SECONDS: '18',
});

// Of its own: where sending pauses too, the probes of the pause may use up every refusal that is meant for this canary.
const quiet = useStack('metrics', AUTO_STACK);

/** Leaves the outcome of a mail unclear and every event lost, so that the ledger wants a canary, which SES refuses. */
const refuseTheCanary = async () => {
  await quiet.fault({ fault: 'rejected-content', recipient: 'success@simulator.amazonses.com' });
  await quiet.events({ lost: true });
  await quiet.fault({ fault: 'reset-before', recipient: 'unclear-', times: 1 });
  await quiet.accepted(
    'unclear',
    quiet.bodyOf(1, (i) => `unclear-${i}`),
  );
};

/** What no request brings about: rows that no version of this code wrote. */
const spoilTheTable = async () => {
  const { dynamodb, tableName: TableName } = stack.description;
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint: dynamodb, region: REGION, credentials: CREDENTIALS }),
  );
  const put = (Item: Record<string, unknown>) => client.send(new PutCommand({ TableName, Item }));

  await stack.pause();
  const id = await stack.accepted('spoilt', stack.bodyOf(1));
  const [row] = await poll(
    () => stack.table.rows(id),
    (rows) => rows.length === 1,
  );
  await client.send(
    new UpdateCommand({
      TableName,
      Key: { pk: row?.pk, sk: row?.sk },
      UpdateExpression: 'SET attemptCount = :many',
      ExpressionAttributeValues: { ':many': 'many' },
    }),
  );
  await put({ pk: `DISPATCH#${id}`, sk: 'TASK#0009', state: 7 });
  await put({ pk: 'DISPATCH#odd', sk: 'DISPATCH', openKey: 'OPEN', createdKey: '2026' });
  await put({ pk: 'UNCLEAR#0', sk: '2026-01-01T00:00:00.000Z#odd' });
  await put({ pk: 'DISPATCH#odd', sk: 'RECIPIENT#of no shard' });
  // Changed, as progress follows changes only.
  await put({ pk: 'DISPATCH#odd', sk: 'RECIPIENT#of no shard', status: 'SENT' });
  await stack.sending({ paused: false });
  client.destroy();
};

/** Sends mails of which each goes wrong in its own way. */
const sendIntoTrouble = async () => {
  await stack.fault({ fault: 'reset-after-accept', recipient: 'twice@', times: 1 });
  // After the lease, and so after the second mail.
  await stack.events({ recipient: 'twice@', delaySeconds: 24 });
  await stack.events({ recipient: 'reset-after-accept', lost: true });
  const to = (key: string, ...addresses: readonly string[]) => {
    const body = stack.bodyOf(addresses.length);
    const recipients = body.recipients.map((each, i) => ({ ...each, email: addresses[i] }));
    return stack.accepted(key, { ...body, recipients });
  };
  await to('trouble', 'twice@example.com', 'reset-after-accept@simulator.localhost');
  await to('discarded', 'reject@simulator.localhost', 'rendering-failure@simulator.localhost');
  await to('refused', ...Array.from({ length: 12 }, (_, i) => `rejected+${i}@simulator.localhost`));
};

/** Pauses sending for a while: ten mails are refused as for the account, and canaries for themselves. */
const refuseTheAccount = async () => {
  await stack.fault({ fault: 'rejected-content', recipient: 'success@simulator.amazonses.com', times: 8 });
  await stack.fault({ fault: 'credentials', recipient: 'paused+0@', times: 1 });
  const body = stack.bodyOf(30);
  const recipients = body.recipients.map((each, i) => ({ ...each, email: `paused+${i}@simulator.localhost` }));
  await stack.accepted('account', { ...body, recipients });
};

/** As if somebody had turned raw delivery off. */
const putEnvelope = async () => {
  const queues = openQueues(stack.description);
  const Timestamp = new Date().toISOString();
  await queues.putFeedback({ Type: 'Notification', TopicArn: 'arn:aws:sns:eu-west-1:1:events', Message: '{}', Timestamp });
  queues.close();
};

const allMetrics = () => metricsIn(stack.log('') + quiet.log(''));

const until = (names: readonly string[]) =>
  poll(
    () => Promise.resolve(allMetrics()),
    (found) => names.every((name) => found.has(name)),
  ).catch(allMetrics);

let metrics = new Map<string, string>();
beforeAll(async () => {
  await refuseTheCanary();
  await sendIntoTrouble();
  await putEnvelope();
  await spoilTheTable();
  // A pause would let the late event come before the second mail.
  await until(['DuplicateSent']);
  await refuseTheAccount();
  metrics = await until([...ALARMED, 'AcceptToSentSeconds']);
});

describe('in the logs of runs in which everything goes wrong', () => {
  it.each([...ALARMED, 'AcceptToSentSeconds'])('there is %s, filed as its alarm looks for it (B2)', (name) => {
    expect(metrics.get(name)).toBe('MailDispatch service=mail-dispatch Stage=local');
  });
});
