import { Duration, Validations } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Construct } from 'constructs';

import type { AcceptDispatchEnvVars } from '../../../lambda/handlers/accept-dispatch/env.ts';
import type { ReadDispatchesEnvVars } from '../../../lambda/handlers/read-dispatches/env.ts';
import { DispatchApi, type Endpoint } from '../../constructs/dispatch-api.ts';
import { BY_ADMIN_INDEX, OPEN_INDEX } from '../../constructs/dispatch-table.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { grantReadTemplates } from '../../constructs/ses-rights.ts';
import { addOperate } from './add-operate.ts';
import { READERS } from './scopes.ts';
import type { SharedResources } from './shared-resources.ts';

/** An HTTP API gives up after 30 s; the function must be the first to. */
const API_TIMEOUT = Duration.seconds(29);

/** The API with the functions behind it. */
export const addApi = (scope: Construct, shared: SharedResources): DispatchApi => {
  const { retainData, issuer, audience, scopePrefix, allowedOrigins } = shared.stage;
  const own = { Accept: addAccept(scope, shared), Read: addRead(scope, shared) };
  return new DispatchApi(scope, 'Http', {
    issuer,
    audience,
    scopePrefix,
    allowedOrigins,
    retainData,
    endpoints: { ...addOperate(scope, shared), ...own },
  });
};

const addAccept = (scope: Construct, { stage, scale, table, lists, sends }: SharedResources): Endpoint => {
  const { retainData, templatePrefix, fromAddress, replyToAddress, repeatGuardSeconds, maxSendRate, rateShare, maxMailBytes } =
    stage;
  const accept = new ServiceFunction(scope, 'AcceptDispatch', {
    handler: 'accept-dispatch',
    timeout: API_TIMEOUT,
    // 50,000 recipients are unpacked, checked and packed again within one request: a whole processor and room.
    memoryMegabytes: 2_048,
    retainData,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      TABLE_ID: table.tableId,
      LIST_BUCKET: lists.name,
      MAX_MAIL_BYTES: String(maxMailBytes),
      TEMPLATE_PREFIX: templatePrefix,
      FROM_ADDRESS: fromAddress.header,
      REPLY_TO_ADDRESS: replyToAddress,
      ALLOWED_RECIPIENTS: stage.allowedRecipients.join(','),
      REPEAT_GUARD_SECONDS: String(repeatGuardSeconds),
      SEND_QUEUE_URL: sends.queue.queueUrl,
      MAX_SEND_RATE: String(maxSendRate),
      RATE_SHARE: String(rateShare),
      // Rounded down: an estimate must not promise more.
      SENDER_CEILING: String(Math.floor(scale.sender.mailsPerSecond * 10) / 10),
    } satisfies AcceptDispatchEnvVars,
  });
  table.grantAccept(accept);
  lists.grantPut(accept);
  grantReadTemplates(accept, templatePrefix);
  sends.grantReadDepth(accept);
  Validations.of(accept).acknowledge({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:template/${templatePrefix}*]`,
    reason: 'Scenarios come and go without a deployment; the prefix of their templates is all that is known of them here.',
  });
  const scopes = ['mail:send'];
  return {
    handler: accept,
    routes: ['/dispatches', '/dispatches/preview'].map((path) => ({ method: HttpMethod.POST, path, scopes })),
  };
};

const addRead = (scope: Construct, { stage, table, exports }: SharedResources): Endpoint => {
  const read = new ServiceFunction(scope, 'ReadDispatches', {
    handler: 'read-dispatches',
    timeout: Duration.seconds(20),
    memoryMegabytes: 512,
    retainData: stage.retainData,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      BY_ADMIN_INDEX,
      OPEN_INDEX,
      EXPORT_BUCKET: exports.name,
      SCOPE_PREFIX: stage.scopePrefix,
    } satisfies ReadDispatchesEnvVars,
  });
  table.grantRead(read);
  table.grantList(read);
  exports.grantFetch(read);
  return {
    handler: read,
    routes: [
      '/dispatches',
      '/dispatches/{dispatchId}',
      '/dispatches/{dispatchId}/recipients',
      '/dispatches/{dispatchId}/recipients/{applyId}',
      '/dispatches/{dispatchId}/exports/{export}',
    ].map((path) => ({ method: HttpMethod.GET, path, scopes: READERS })),
  };
};
