import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

import type { ListDispatches } from '../../application/queries/list-dispatches.ts';
import type { ReadDispatch } from '../../application/queries/read-dispatch.ts';
import type { ReadExport } from '../../application/queries/read-export.ts';
import type { Caller } from '../../contracts/http/caller.ts';
import { encodeCursor } from '../../contracts/http/cursor.ts';
import { type HttpAnswer, jsonAnswer, problem, problemAnswer } from '../../contracts/http/problem.ts';
import { parseApplyIds } from '../../contracts/http/request/apply-id.ts';
import { parseDispatchesQuery, toListedDispatchView } from '../../contracts/http/request/dispatches-query.ts';
import { parseRecipientsQuery, toCursor } from '../../contracts/http/request/recipients-query.ts';
import { toDispatchNowView, toRecipientView } from '../../contracts/http/response/dispatch-view.ts';
import { toExportView } from '../../contracts/http/response/export-view.ts';

export interface ReadPorts {
  readonly readDispatch: ReadDispatch;
  readonly listDispatches: ListDispatches;
  readonly readExport: ReadExport;
}

export type Event = APIGatewayProxyEventV2WithJWTAuthorizer;

/** What a request about one dispatch is answered with. */
export type Answer = (caller: Caller, dispatchId: string, event: Event) => Promise<HttpAnswer>;

/** Without a word about the dispatch: another admin's must look like one that does not exist. */
export const notFound = problemAnswer(problem('not-found'));

const invalidQuery = (names: readonly string[]): HttpAnswer =>
  problemAnswer(problem('invalid-query', { detail: `Not valid: ${names.join(', ')}` }));

/** How each kind of request is read and answered. */
export const createRequests = ({ readDispatch, listDispatches, readExport }: ReadPorts) => {
  const list = async (caller: Caller, parameters: unknown): Promise<HttpAnswer> => {
    const parsed = parseDispatchesQuery(parameters);
    if (!parsed.ok) return invalidQuery(parsed.names);
    const { test, open, cursor, ...query } = parsed.query;
    const from = cursor && { from: cursor };
    const page = await listDispatches(caller, { ...query, ...from, isTest: test === 'true', open: open !== undefined });
    if (page === 'operators-only') return problemAnswer(problem('operators-only'));
    return jsonAnswer(200, {
      dispatches: page.dispatches.map(toListedDispatchView),
      next: page.next === undefined ? null : encodeCursor(page.next),
    });
  };

  const dispatch: Answer = async (caller, dispatchId) => {
    const found = await readDispatch.dispatch(caller, dispatchId);
    return found === undefined ? notFound : jsonAnswer(200, toDispatchNowView(found.dispatch, found));
  };

  const recipients: Answer = async (caller, dispatchId, { queryStringParameters }) => {
    const parsed = parseRecipientsQuery(queryStringParameters);
    if (!parsed.ok) return invalidQuery(parsed.names);
    const page = await readDispatch.recipients(caller, dispatchId, parsed.query);
    if (page === undefined) return notFound;
    return jsonAnswer(200, {
      recipients: page.recipients.map(toRecipientView),
      next: page.next === undefined ? null : toCursor(page.next),
    });
  };

  const recipient: Answer = async (caller, dispatchId, { pathParameters }) => {
    const found = await readDispatch.recipient(caller, dispatchId, parseApplyIds(pathParameters));
    if (found === undefined) return notFound;
    return found === 'no-recipient' ? problemAnswer(problem('no-such-recipient')) : jsonAnswer(200, toRecipientView(found));
  };

  const exported: Answer = async (caller, dispatchId, { pathParameters }) => {
    const number = pathParameters?.['export'] ?? '';
    // A number that no task has names an export that is not there, of a dispatch that may be.
    const task = /^[1-9]\d{0,8}$/.test(number) ? Number(number) : 0;
    const found = await readExport(caller, { dispatchId, task });
    if (found === 'not-found') return notFound;
    if (found === 'no-export') return problemAnswer(problem('no-such-export'));
    // The address stands for the file itself: nobody in between may keep it.
    return jsonAnswer(200, toExportView({ dispatchId, task }, found), { 'cache-control': 'no-store' });
  };

  return { list, dispatch, recipients, recipient, exported };
};
