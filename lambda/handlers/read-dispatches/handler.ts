import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';

import { type Ending, withErrorMapping } from '../../adapters/http/answer-failure.ts';
import { createCallerParser } from '../../contracts/http/caller.ts';
import { parseDispatchId } from '../../contracts/http/dispatch-id.ts';
import { type HttpAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { type Answer, createRequests, type Event, notFound, type ReadPorts } from './requests.ts';

export interface ReadDispatchesHandlerDeps extends ReadPorts {
  /** What the issuer puts before our scopes. */
  readonly scopePrefix: string;
  readonly telemetry: Telemetry;
}

/** The metric of each ending: a fixed list, since every name is billed. */
const METRICS: Readonly<Record<Ending, string>> = {
  answered: 'ReadAnswered',
  refused: 'ReadRefused',
  unavailable: 'ReadUnavailable',
  failed: 'ReadFailed',
};

/** HTTP in, HTTP out: which dispatches there are, and what became of one, its recipients and its exports. */
export const createHandler = ({ telemetry, scopePrefix, ...ports }: ReadDispatchesHandlerDeps) => {
  const { logger, metrics, count } = telemetry;
  const parseCaller = createCallerParser(scopePrefix);
  const requests = createRequests(ports);
  const ofDispatch: Readonly<Record<string, Answer>> = {
    'GET /dispatches/{dispatchId}': requests.dispatch,
    'GET /dispatches/{dispatchId}/recipients': requests.recipients,
    'GET /dispatches/{dispatchId}/recipients/{applyId}': requests.recipient,
    'GET /dispatches/{dispatchId}/exports/{export}': requests.exported,
  };

  const answer = async (event: Event): Promise<HttpAnswer> => {
    const caller = parseCaller(event.requestContext.authorizer);
    if (caller === undefined) return problemAnswer(problem('no-subject'));
    if (event.routeKey === 'GET /dispatches') return requests.list(caller, event.queryStringParameters);
    const dispatchId = parseDispatchId(event.pathParameters);
    const own = ofDispatch[event.routeKey];
    return dispatchId === undefined || own === undefined ? notFound : own(caller, dispatchId, event);
  };

  return middy((event: Event): Promise<HttpAnswer> =>
    withErrorMapping(
      () => answer(event),
      (ending, error) => {
        if (error !== undefined) logger.error('reading failed', redactError(error));
        count(METRICS[ending]);
      },
    ),
  )
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
