import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';

import type { ResolveReport } from '../../application/unclear/resolve-unclear.ts';
import { ScheduleEvent } from '../../contracts/events/schedule-event.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface ResolveUnclearHandlerDeps {
  readonly resolveUnclear: (hasTime: () => boolean) => Promise<ResolveReport>;
  /** How many attempts are on the ledger, due or not. */
  readonly countOpen: () => Promise<number>;
  /** Kept back for a canary and for what is under way when time runs out. */
  readonly reserveMs: number;
  readonly telemetry: Telemetry;
}

/** The schedule in; nothing out but what the walk has resolved. */
export const createHandler = (deps: ResolveUnclearHandlerDeps) => {
  const { resolveUnclear, countOpen, reserveMs, telemetry } = deps;
  const { logger, metrics, count } = telemetry;
  return middy(async (event: unknown, context: Context): Promise<void> => {
    ScheduleEvent.parse(event);
    // As the walk finds the ledger: one that runs out of time knows only a part of it.
    const opening = countOpen().catch(() => undefined);
    const report = await resolveUnclear(() => context.getRemainingTimeInMillis() > reserveMs);
    const { waiting, resolved, failed, unreadable, finished } = report;
    const open = await opening;
    if (waiting + resolved + failed + unreadable > 0 || !finished) logger.info('unclear attempts', { ...report, open });
    // The heartbeat: a walk that does not reach the end leaves attempts unresolved.
    if (finished) count('UnclearWalkFinished');
    count('UnclearNotResolved', failed);
    if (unreadable > 0) count('UnclearUnreadable', unreadable);
    if (open !== undefined) metrics.addMetric('UnclearWaiting', MetricUnit.Count, open);
  })
    .use(hideErrors(logger))
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
