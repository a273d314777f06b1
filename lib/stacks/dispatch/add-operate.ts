import { Duration } from 'aws-cdk-lib';
import { HttpMethod } from 'aws-cdk-lib/aws-apigatewayv2';
import type { Construct } from 'constructs';

import type { OperateDispatchesEnvVars } from '../../../lambda/handlers/operate-dispatches/env.ts';
import type { OperateSendingEnvVars } from '../../../lambda/handlers/operate-sending/env.ts';
import type { Endpoint } from '../../constructs/dispatch-api.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import { OPERATORS, READERS, SENDERS } from './scopes.ts';
import type { SharedResources } from './shared-resources.ts';

/** What people do to dispatches, and to sending as a whole. */
export const addOperate = (scope: Construct, { stage, table }: SharedResources): Record<string, Endpoint> => {
  const common = { timeout: Duration.seconds(20), memoryMegabytes: 512, retainData: stage.retainData };
  const dispatches = new ServiceFunction(scope, 'OperateDispatches', {
    ...common,
    handler: 'operate-dispatches',
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      RETENTION_DAYS: String(stage.retentionDays),
      SCOPE_PREFIX: stage.scopePrefix,
    } satisfies OperateDispatchesEnvVars,
  });
  table.grantOperate(dispatches);
  const sending = new ServiceFunction(scope, 'OperateSending', {
    ...common,
    handler: 'operate-sending',
    environment: { STAGE: stage.name, TABLE_NAME: table.table.tableName } satisfies OperateSendingEnvVars,
  });
  table.grantPause(sending);

  return {
    OperateDispatches: {
      handler: dispatches,
      routes: [
        { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/cancel', scopes: SENDERS },
        { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/resume', scopes: SENDERS },
        { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/retry', scopes: SENDERS },
        { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/settle', scopes: SENDERS },
        { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/recipients/{applyId}/settle', scopes: SENDERS },
        { method: HttpMethod.POST, path: '/dispatches/{dispatchId}/exports', scopes: READERS },
      ],
    },
    OperateSending: {
      handler: sending,
      routes: [HttpMethod.GET, HttpMethod.PUT].map((method) => ({ method, path: '/sending', scopes: OPERATORS })),
    },
  };
};
