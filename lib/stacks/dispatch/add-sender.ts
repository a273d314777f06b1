import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

import type { SendRecipientsEnvVars } from '../../../lambda/handlers/send-recipients/env.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { grantReadQuota, grantSendMail } from '../../constructs/ses-rights.ts';
import type { SharedResources } from './shared-resources.ts';

/** The function that sends mails. */
export const addSender = (scope: Construct, { stage, scale, table, lists, sends, events }: SharedResources): ServiceFunction => {
  const { batchSize, concurrency, memoryMegabytes, parallelCalls } = scale.sender;
  const sender = new ServiceFunction(scope, 'SendRecipients', {
    handler: 'send-recipients',
    timeout: Duration.seconds(stage.functionTimeoutSeconds),
    memoryMegabytes,
    retainData: stage.retainData,
    // A throttled invocation uses up a receive without running; so what the queue may start is set aside.
    reservedConcurrency: concurrency,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      TABLE_ID: table.tableId,
      LIST_BUCKET: lists.name,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      CONFIGURATION_SET: events.configurationSet.configurationSetName,
      MAX_MAIL_BYTES: String(stage.maxMailBytes),
      LEASE_SECONDS: String(stage.leaseSeconds),
      SES_TIMEOUT_SECONDS: String(stage.sesTimeoutSeconds),
      ATTEMPTS_PER_ROUND: String(stage.attemptsPerRound),
      BACKOFF_BASE_SECONDS: String(stage.backoffBaseSeconds),
      BACKOFF_CAP_SECONDS: String(stage.backoffCapSeconds),
      MAX_RECEIVE_COUNT: String(sends.maxReceiveCount),
      MAX_CONCURRENCY: String(concurrency),
      PARALLEL_CALLS: String(parallelCalls),
      MAX_SEND_RATE: String(stage.maxSendRate),
      RATE_SHARE: String(stage.rateShare),
      PAUSE_BASE_SECONDS: String(stage.pauseBaseSeconds),
      PAUSE_CAP_SECONDS: String(stage.pauseCapSeconds),
      PAUSE_LOOK_SECONDS: String(stage.pauseLookSeconds),
      FROM_ADDRESS: stage.fromAddress.header,
      ALLOWED_RECIPIENTS: stage.allowedRecipients.join(','),
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies SendRecipientsEnvVars,
  });
  table.grantSend(sender);
  lists.grantGet(sender);
  sends.grantSend(sender);
  sends.grantChangeVisibility(sender);
  grantSendMail(sender, stage, events.configurationSet);
  grantReadQuota(sender);
  sends.addConsumer(sender, { batchSize, maxConcurrency: concurrency });
  return sender;
};
