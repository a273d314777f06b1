import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';

import type { ResolveUnclearEnvVars } from '../../../lambda/handlers/resolve-unclear/env.ts';
import { RESOLVER_COPIES } from '../../config/scale/load-model.ts';
import { redeliverySeconds } from '../../config/time-order.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { grantSendMail } from '../../constructs/ses-rights.ts';
import type { SharedResources } from './shared-resources.ts';

/** The function that resolves attempts whose outcome nobody knows. */
export const addResolver = (scope: Construct, { stage, scale, table, sends, events }: SharedResources): ServiceFunction => {
  const resolver = new ServiceFunction(scope, 'ResolveUnclear', {
    handler: 'resolve-unclear',
    // Less than the time between two walks.
    timeout: Duration.seconds(50),
    memoryMegabytes: 512,
    retainData: stage.retainData,
    reservedConcurrency: RESOLVER_COPIES,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      SEND_QUEUE_URL: sends.queue.queueUrl,
      CONFIGURATION_SET: events.configurationSet.configurationSetName,
      LEASE_SECONDS: String(stage.leaseSeconds),
      SES_TIMEOUT_SECONDS: String(stage.sesTimeoutSeconds),
      ATTEMPTS_PER_ROUND: String(stage.attemptsPerRound),
      BACKOFF_BASE_SECONDS: String(stage.backoffBaseSeconds),
      BACKOFF_CAP_SECONDS: String(stage.backoffCapSeconds),
      UNCLEAR_POLICY: stage.unclearPolicy,
      WATERMARK_MARGIN_SECONDS: String(stage.watermarkMarginSeconds),
      FEEDBACK_REDELIVERY_SECONDS: String(redeliverySeconds(stage, scale.feedback.windowSeconds)),
      UNKNOWN_AFTER_SECONDS: String(stage.unknownAfterSeconds),
      RESENDS_AFTER_LOST: String(stage.resendsAfterLost),
      FROM_ADDRESS: stage.fromAddress.header,
      RETENTION_DAYS: String(stage.retentionDays),
    } satisfies ResolveUnclearEnvVars,
  });
  table.grantResolve(resolver);
  sends.grantSend(resolver);
  grantSendMail(resolver, stage, events.configurationSet);
  new Rule(scope, 'ResolveRegularly', {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaTarget(resolver.lambda)],
  });
  return resolver;
};
