import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';

import type { ResolveReport } from '../../application/resolve-unclear.ts';
import { ScheduleEvent } from '../../contracts/schedule-event.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface ResolveUnclearHandlerDeps {
  readonly resolveUnclear: (hasTime: () => boolean) => Promise<ResolveReport>;
  /** Kept back for a canary and for what is under way when time runs out. */
  readonly reserveMs: number;
  readonly telemetry: Telemetry;
}

/** The schedule in; nothing out but what the walk has resolved. */
export const createHandler = ({ resolveUnclear, reserveMs, telemetry: { logger, metrics, count } }: ResolveUnclearHandlerDeps) =>
  middy(async (event: unknown, context: Context): Promise<void> => {
    ScheduleEvent.parse(event);
    const report = await resolveUnclear(() => context.getRemainingTimeInMillis() > reserveMs);
    const { waiting, resolved, failed, finished } = report;
    if (waiting + resolved + failed > 0 || !finished) logger.info('unclear attempts', { ...report });
    if (failed > 0) count('UnclearNotResolved', failed);
    metrics.addMetric('UnclearWaiting', MetricUnit.Count, waiting);
  })
    .use(hideErrors(logger))
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
