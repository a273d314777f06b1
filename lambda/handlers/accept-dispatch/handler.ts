import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import { readBody } from '../../adapters/http/request-body.ts';
import type { AcceptDispatch, AcceptResult } from '../../application/accept-dispatch.ts';
import { Unavailable } from '../../application/accept-ports.ts';
import { parseCaller } from '../../contracts/caller.ts';
import type { ParsedRequest } from '../../contracts/dispatch-request.ts';
import { parseIdempotencyKey } from '../../contracts/idempotency-key.ts';
import { failureAnswer, type HttpAnswer, problem, problemAnswer } from '../../contracts/problem.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { toAnswer } from './answer.ts';

export interface AcceptDispatchHandlerDeps {
  readonly acceptDispatch: AcceptDispatch;
  readonly parseRequest: (body: unknown) => ParsedRequest;
  readonly telemetry: Telemetry;
}

/** The metric of each outcome: a fixed list, since every name is billed. */
const METRICS: Readonly<Partial<Record<AcceptResult['outcome'], string>>> = {
  accepted: 'DispatchAccepted',
  replayed: 'DispatchReplayed',
  conflict: 'IdempotencyConflict',
};
const REFUSED = 'DispatchRefused';

/** HTTP in, HTTP out: reads the request, hands it to the use case, says what became of it. */
export const createHandler = ({ acceptDispatch, parseRequest, telemetry }: AcceptDispatchHandlerDeps) => {
  const { logger, metrics, count } = telemetry;

  const refuse = (...args: Parameters<typeof problem>): HttpAnswer => {
    count(REFUSED);
    return problemAnswer(problem(...args));
  };

  const answer = async (event: APIGatewayProxyEventV2WithJWTAuthorizer): Promise<HttpAnswer> => {
    const caller = parseCaller(event.requestContext.authorizer);
    if (caller === undefined) return refuse('no-subject');
    const header = parseIdempotencyKey(event.headers['idempotency-key']);
    if (!header.ok) return refuse(`idempotency-key-${header.why}`);
    const body = await readBody(event);
    if (!body.ok) return refuse(body.problem, body.more);
    const parsed = parseRequest(body.json);
    if (!parsed.ok) return refuse('invalid-request', { errors: [...parsed.faults], total: parsed.total });

    const result = await acceptDispatch(caller.adminId, header.key, parsed.request);
    logger.info('dispatch asked for', {
      outcome: result.outcome,
      ...('dispatch' in result && { dispatchId: result.dispatch.dispatchId, total: result.dispatch.total }),
    });
    count(METRICS[result.outcome] ?? REFUSED);
    return toAnswer(result);
  };

  return middy(async (event: APIGatewayProxyEventV2WithJWTAuthorizer): Promise<HttpAnswer> => {
    try {
      return await answer(event);
    } catch (error) {
      const retryAfterSeconds = error instanceof Unavailable ? error.retryAfterSeconds : undefined;
      logger.error('accepting failed', describeError(error));
      count(retryAfterSeconds === undefined ? 'AcceptFailed' : 'AcceptUnavailable');
      return failureAnswer(retryAfterSeconds);
    }
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
