import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import { type Ending, withErrorMapping } from '../../adapters/http/answer-failure.ts';
import { readBody } from '../../adapters/http/request-body.ts';
import type { OperateSending } from '../../application/commands/operate-sending.ts';
import { parseAdminId } from '../../contracts/http/caller.ts';
import { type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { parseSendingRequest, toSendingView } from '../../contracts/http/response/sending.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';

export interface OperateSendingHandlerDeps {
  readonly operateSending: OperateSending;
  readonly telemetry: Telemetry;
}

type Event = APIGatewayProxyEventV2WithJWTAuthorizer;

/** The metric of each ending: a fixed list, since every name is billed. */
const METRICS: Readonly<Record<Exclude<Ending, 'answered'>, string>> = {
  refused: 'OperationRefused',
  unavailable: 'OperationUnavailable',
  failed: 'OperationFailed',
};

/** HTTP in, HTTP out: shows whether mails are sent, and lets operators change it. */
export const createHandler = ({ operateSending, telemetry: { logger, metrics, count } }: OperateSendingHandlerDeps) => {
  const show = async (): Promise<HttpAnswer> => jsonAnswer(200, toSendingView((await operateSending.read()).sending));

  const change = async (adminId: string, event: Event): Promise<HttpAnswer> => {
    const body = await readBody(event);
    if (!body.ok) return problemAnswer(problem(body.problem, body.more));
    const parsed = parseSendingRequest(body.json);
    if (!parsed.ok) return problemAnswer(problem('invalid-request', { errors: [...parsed.faults], total: parsed.total }));

    const { paused, reason } = parsed.query;
    const { sending, changed } = await operateSending.change(
      paused ? { paused, who: adminId, ...(reason !== undefined && { reason }) } : { paused },
    );
    // Not by whom and not why: an id may be an address, and a reason may say anything.
    logger.info('sending operated', { paused, changed });
    if (changed) count(paused ? 'SendingPausedByOperator' : 'SendingResumedByOperator');
    return jsonAnswer(200, toSendingView(sending));
  };

  const answer = async (event: Event): Promise<HttpAnswer> => {
    const adminId = parseAdminId(event.requestContext.authorizer);
    if (adminId === undefined) return problemAnswer(problem('no-subject'));
    switch (event.routeKey) {
      case 'GET /sending':
        return show();
      case 'PUT /sending':
        return change(adminId, event);
      default:
        return problemAnswer(problem('not-found'));
    }
  };

  return middy((event: Event): Promise<HttpAnswer> =>
    withErrorMapping(
      () => answer(event),
      (ending, error) => {
        if (error !== undefined) logger.error('operating sending failed', redactError(error));
        if (ending !== 'answered') count(METRICS[ending]);
      },
    ),
  )
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
