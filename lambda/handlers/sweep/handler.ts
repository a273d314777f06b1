import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { MetricUnit } from '@aws-lambda-powertools/metrics';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';

import type { AccountReport } from '../../application/send/rate/inspect-account.ts';
import type { SweepReport } from '../../application/sweep/sweep.ts';
import { ScheduleEvent } from '../../contracts/events/schedule-event.ts';
import { usedShareOf } from '../../domain/sending/account.ts';
import { hideErrors } from '../../observability/hide-errors.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface SweepHandlerDeps {
  /** Never throws. */
  readonly inspectAccount: () => Promise<AccountReport>;
  readonly sweep: (situation: { atStart: boolean; remainingMs: () => number }) => Promise<SweepReport>;
  readonly telemetry: Telemetry;
}

/** The schedule in; nothing out but what the pass has put right. */
export const createHandler = ({ inspectAccount, sweep, telemetry: { logger, metrics, count } }: SweepHandlerDeps) => {
  const reportAccount = ({ fetched, isOutdated }: AccountReport): void => {
    const usedShare = fetched && usedShareOf(fetched);
    if (usedShare !== undefined) metrics.addMetric('QuotaUsedShare', MetricUnit.NoUnit, usedShare);
    if (isOutdated !== undefined) count('AccountOutdated', isOutdated ? 1 : 0);
  };

  return middy(async (event: unknown, context: Context): Promise<void> => {
    const { atStart } = ScheduleEvent.parse(event).detail;
    // First, and in a pause too: the end of a daily quota is seen in the account.
    reportAccount(await inspectAccount());
    const report = await sweep({ atStart, remainingMs: () => context.getRemainingTimeInMillis() });
    logger.info('sweep', { atStart, ...report });
    // The heartbeat: a pass that inspected nothing of what was due is none.
    if (report.progressed) count('SweepProgressed');
    // A round may take several passes; without one for a day senders stop.
    if (report.finished) count('SweepFinished');
    // The sender tells when a pause begins; this says at each pass whether it still stands.
    if (report.pauseStands !== undefined) count('SendingPaused', report.pauseStands ? 1 : 0);
    // Steps that fail, and dispatches that nobody can read, are so in a pause too.
    if (report.unreadable > 0) count('DispatchUnreadable', report.unreadable);
    if (report.failed > 0) count('SweepRecoveryFailed', report.failed);
    if (report.paused) return;
    count('DispatchCompleted', report.completed);
    if (report.stopped > 0) count('DispatchStopped', report.stopped);
    count('RecipientReEnqueued', report.reEnqueued);
    count('TaskReEnqueued', report.tasksSentAgain);
    count('FeedbackSilent', report.feedbackSilent ? 1 : 0);
    metrics.addMetric('OldestPendingSeconds', MetricUnit.Seconds, report.oldestPendingSeconds);
  })
    .use(hideErrors(logger))
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
