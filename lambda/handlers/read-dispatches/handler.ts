import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import { Unavailable } from '../../application/accept-ports.ts';
import type { ReadDispatch } from '../../application/read-dispatch.ts';
import { type Caller, parseCaller } from '../../contracts/caller.ts';
import { parseDispatchId } from '../../contracts/dispatch-id.ts';
import { toDispatchNowView, toRecipientView } from '../../contracts/dispatch-view.ts';
import { failureAnswer, type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/problem.ts';
import { parseRecipientsQuery, toCursor } from '../../contracts/recipients-query.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface ReadDispatchesHandlerDeps {
  readonly readDispatch: ReadDispatch;
  readonly telemetry: Telemetry;
}

type Event = APIGatewayProxyEventV2WithJWTAuthorizer;

/** HTTP in, HTTP out: what became of a dispatch and of its recipients. */
export const createHandler = ({ readDispatch, telemetry: { logger, metrics, count } }: ReadDispatchesHandlerDeps) => {
  // Without a word about the dispatch: another admin's must look like one that does not exist.
  const notFound = problemAnswer(problem('not-found'));

  const dispatch = async (caller: Caller, dispatchId: string): Promise<HttpAnswer> => {
    const found = await readDispatch.dispatch(caller, dispatchId);
    return found === undefined ? notFound : jsonAnswer(200, toDispatchNowView(found.dispatch, found.counts));
  };

  const recipients = async (caller: Caller, dispatchId: string, parameters: unknown): Promise<HttpAnswer> => {
    const parsed = parseRecipientsQuery(parameters);
    if (!parsed.ok) return problemAnswer(problem('invalid-query', { detail: `Not valid: ${parsed.names.join(', ')}` }));
    const page = await readDispatch.recipients(caller, dispatchId, parsed.query);
    if (page === undefined) return notFound;
    return jsonAnswer(200, {
      recipients: page.recipients.map(toRecipientView),
      next: page.next === undefined ? null : toCursor(page.next),
    });
  };

  const answer = async (event: Event): Promise<HttpAnswer> => {
    const caller = parseCaller(event.requestContext.authorizer);
    if (caller === undefined) return problemAnswer(problem('no-subject'));
    const dispatchId = parseDispatchId(event.pathParameters);
    if (dispatchId === undefined) return notFound;
    switch (event.routeKey) {
      case 'GET /dispatches/{dispatchId}':
        return dispatch(caller, dispatchId);
      case 'GET /dispatches/{dispatchId}/recipients':
        return recipients(caller, dispatchId, event.queryStringParameters);
      default:
        return notFound;
    }
  };

  return middy(async (event: Event): Promise<HttpAnswer> => {
    try {
      const answered = await answer(event);
      count(answered.statusCode < 400 ? 'ReadAnswered' : 'ReadRefused');
      return answered;
    } catch (error) {
      const retryAfterSeconds = error instanceof Unavailable ? error.retryAfterSeconds : undefined;
      logger.error('reading failed', describeError(error));
      count(retryAfterSeconds === undefined ? 'ReadFailed' : 'ReadUnavailable');
      return failureAnswer(retryAfterSeconds);
    }
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
