import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import { readBody } from '../../adapters/http/request-body.ts';
import type { AcceptDispatch, AcceptResult } from '../../application/accept/accept-dispatch.ts';
import type { PreviewDispatch } from '../../application/accept/preview-dispatch.ts';
import { Unavailable } from '../../application/ports/errors.ts';
import { parseAdminId } from '../../contracts/http/caller.ts';
import { failureAnswer, type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import type { ParsedRequest } from '../../contracts/http/request/dispatch-request.ts';
import { parseIdempotencyKey } from '../../contracts/http/request/idempotency-key.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { toAnswer } from './answer.ts';
import { toPreview } from './preview-answer.ts';

export interface AcceptDispatchHandlerDeps {
  readonly acceptDispatch: AcceptDispatch;
  readonly previewDispatch: PreviewDispatch;
  readonly parseRequest: (body: unknown) => ParsedRequest;
  readonly telemetry: Telemetry;
}

/** The metric of each outcome: a fixed list, since every name is billed. */
const METRICS: Readonly<Partial<Record<AcceptResult['outcome'], string>>> = {
  accepted: 'DispatchAccepted',
  replayed: 'DispatchReplayed',
  conflict: 'IdempotencyConflict',
  'possible-duplicate': 'PossibleDuplicate',
};
const REFUSED = 'DispatchRefused';

type Event = APIGatewayProxyEventV2WithJWTAuthorizer;

/** HTTP in, HTTP out: reads the request, hands it to the use case, says what became of it. */
export const createHandler = (deps: AcceptDispatchHandlerDeps) => {
  const { acceptDispatch, previewDispatch, parseRequest, telemetry } = deps;
  const { logger, metrics, count } = telemetry;

  const refuse = (...args: Parameters<typeof problem>): HttpAnswer => {
    count(REFUSED);
    return problemAnswer(problem(...args));
  };

  const accept = async (adminId: string, event: Event): Promise<HttpAnswer> => {
    const header = parseIdempotencyKey(event.headers['idempotency-key']);
    if (!header.ok) return refuse(`idempotency-key-${header.why}`);
    const body = await readBody(event);
    if (!body.ok) return refuse(body.problem, body.more);
    const parsed = parseRequest(body.json);
    if (!parsed.ok) return refuse('invalid-request', { errors: [...parsed.faults], total: parsed.total });

    const result = await acceptDispatch(adminId, header.key, parsed.request);
    logger.info('dispatch asked for', {
      outcome: result.outcome,
      ...('dispatch' in result && { dispatchId: result.dispatch.dispatchId, total: result.dispatch.total }),
    });
    count(METRICS[result.outcome] ?? REFUSED);
    return toAnswer(result);
  };

  const preview = async (adminId: string, event: Event): Promise<HttpAnswer> => {
    const body = await readBody(event);
    if (!body.ok) return refuse(body.problem, body.more);
    const parsed = parseRequest(body.json);
    const request = parsed.ok ? parsed.request : parsed.sound?.request;
    const view = toPreview(parsed, request && (await previewDispatch(adminId, request)));
    logger.info('dispatch previewed', { faults: view.faultsTotal, warnings: view.warningsTotal });
    count('DispatchPreviewed');
    return jsonAnswer(200, view);
  };

  const answer = async (event: Event): Promise<HttpAnswer> => {
    const adminId = parseAdminId(event.requestContext.authorizer);
    if (adminId === undefined) return refuse('no-subject');
    return event.routeKey === 'POST /dispatches/preview' ? preview(adminId, event) : accept(adminId, event);
  };

  return middy(async (event: Event): Promise<HttpAnswer> => {
    try {
      return await answer(event);
    } catch (error) {
      const retryAfterSeconds = error instanceof Unavailable ? error.retryAfterSeconds : undefined;
      logger.error('accepting failed', redactError(error));
      count(retryAfterSeconds === undefined ? 'AcceptFailed' : 'AcceptUnavailable');
      return failureAnswer(retryAfterSeconds);
    }
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
