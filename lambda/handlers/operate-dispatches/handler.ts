import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import { Unavailable } from '../../application/accept-ports.ts';
import type { Operated, OperateDispatch } from '../../application/operate-dispatch.ts';
import { parseCaller } from '../../contracts/caller.ts';
import { parseDispatchId } from '../../contracts/dispatch-id.ts';
import { dispatchPath } from '../../contracts/dispatch-view.ts';
import { toOperatedView } from '../../contracts/operated-view.ts';
import { failureAnswer, type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/problem.ts';
import type { Operation } from '../../domain/operation.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface OperateDispatchesHandlerDeps {
  readonly operateDispatch: OperateDispatch;
  readonly telemetry: Telemetry;
}

type Event = APIGatewayProxyEventV2WithJWTAuthorizer;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /dispatches/{dispatchId}/cancel': 'cancel',
  'POST /dispatches/{dispatchId}/resume': 'resume',
};

const METRICS: Readonly<Record<Operation, string>> = { cancel: 'DispatchCancelled', resume: 'DispatchResumed' };

// Without a word about the dispatch: another admin's must look like one that does not exist.
const notFound = (): HttpAnswer => problemAnswer(problem('not-found'));

const toAnswer = (result: Operated): HttpAnswer => {
  switch (result.outcome) {
    case 'accepted': {
      const { dispatch, task } = result;
      return jsonAnswer(202, toOperatedView(dispatch, task), { location: dispatchPath(dispatch.dispatchId) });
    }
    case 'refused':
      return problemAnswer(problem(result.because, { detail: `Its status is ${result.status}.` }));
    case 'not-found':
      return notFound();
  }
};

/** HTTP in, HTTP out: cancels and resumes a dispatch. */
export const createHandler = ({ operateDispatch, telemetry: { logger, metrics, count } }: OperateDispatchesHandlerDeps) => {
  const answer = async (event: Event): Promise<HttpAnswer> => {
    const caller = parseCaller(event.requestContext.authorizer);
    if (caller === undefined) return problemAnswer(problem('no-subject'));
    const dispatchId = parseDispatchId(event.pathParameters);
    const operation = OPERATIONS[event.routeKey];
    if (dispatchId === undefined || operation === undefined) return notFound();

    const result = await operateDispatch(caller, operation, dispatchId);
    logger.info('dispatch operated', {
      operation,
      dispatchId,
      outcome: result.outcome,
      ...(result.outcome === 'accepted' && { task: result.task, isNew: result.isNew }),
    });
    if (result.outcome === 'accepted' && result.isNew) count(METRICS[operation]);
    return toAnswer(result);
  };

  return middy(async (event: Event): Promise<HttpAnswer> => {
    try {
      const answered = await answer(event);
      if (answered.statusCode >= 400) count('OperationRefused');
      return answered;
    } catch (error) {
      const retryAfterSeconds = error instanceof Unavailable ? error.retryAfterSeconds : undefined;
      logger.error('operating failed', describeError(error));
      count(retryAfterSeconds === undefined ? 'OperationFailed' : 'OperationUnavailable');
      return failureAnswer(retryAfterSeconds);
    }
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
