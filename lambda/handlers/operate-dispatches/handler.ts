import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';

import { type Ending, withErrorMapping } from '../../adapters/http/answer-failure.ts';
import { createCallerParser } from '../../contracts/http/caller.ts';
import { parseDispatchId } from '../../contracts/http/dispatch-id.ts';
import { type HttpAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { redactError } from '../../observability/redact-error.ts';
import { notFound } from './answer.ts';
import { type Answer, createRequests, type Event, type OperateDispatchesHandlerDeps } from './requests.ts';

/** The metric of each ending: a fixed list, since every name is billed. */
const METRICS: Readonly<Record<Exclude<Ending, 'answered'>, string>> = {
  refused: 'OperationRefused',
  unavailable: 'OperationUnavailable',
  failed: 'OperationFailed',
};

/** HTTP in, HTTP out: what people do to a dispatch and its recipients. */
export const createHandler = (deps: OperateDispatchesHandlerDeps) => {
  const { logger, metrics, count } = deps.telemetry;
  const parseCaller = createCallerParser(deps.scopePrefix);
  const requests = createRequests(deps);
  const answers: Readonly<Record<string, Answer>> = {
    'POST /dispatches/{dispatchId}/cancel': requests.cancel,
    'POST /dispatches/{dispatchId}/resume': requests.resume,
    'POST /dispatches/{dispatchId}/retry': requests.retry,
    'POST /dispatches/{dispatchId}/settle': requests.settleMany,
    'POST /dispatches/{dispatchId}/exports': requests.startExport,
    'POST /dispatches/{dispatchId}/recipients/{applyId}/settle': requests.settle,
  };

  const answer = async (event: Event): Promise<HttpAnswer> => {
    const caller = parseCaller(event.requestContext.authorizer);
    if (caller === undefined) return problemAnswer(problem('no-subject'));
    const dispatchId = parseDispatchId(event.pathParameters);
    const own = answers[event.routeKey];
    return dispatchId === undefined || own === undefined ? notFound() : own(caller, dispatchId, event);
  };

  return middy((event: Event): Promise<HttpAnswer> =>
    withErrorMapping(
      () => answer(event),
      (ending, error) => {
        if (error !== undefined) logger.error('operating failed', redactError(error));
        if (ending !== 'answered') count(METRICS[ending]);
      },
    ),
  )
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
