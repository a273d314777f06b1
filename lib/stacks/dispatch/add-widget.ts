import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

import type { ShowOperationsEnvVars } from '../../../lambda/handlers/show-operations/env.ts';
import { OPEN_INDEX } from '../../constructs/dispatch-table.ts';
import { ServiceFunction } from '../../constructs/service-function.ts';
import type { SharedResources } from './shared-resources.ts';

/** The function behind the dashboard's widget. CloudWatch calls it for whoever looks at the dashboard, so it may only read. */
export const addWidget = (scope: Construct, { stage, table }: Pick<SharedResources, 'stage' | 'table'>): ServiceFunction => {
  const widget = new ServiceFunction(scope, 'ShowOperations', {
    handler: 'show-operations',
    timeout: Duration.seconds(20),
    memoryMegabytes: 512,
    retainData: stage.retainData,
    environment: {
      STAGE: stage.name,
      TABLE_NAME: table.table.tableName,
      OPEN_INDEX,
      UNCLEAR_POLICY: stage.unclearPolicy,
    } satisfies ShowOperationsEnvVars,
  });
  table.grantShow(widget);
  return widget;
};
