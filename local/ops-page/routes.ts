import * as z from 'zod';

import type { HttpAnswer } from '../http-api/answer.ts';
import type { FunctionPool } from '../lambda-host/pool.ts';
import { redrive } from '../redrive/redrive.ts';
import { type Asked, isFromHere, isJson } from './guard.ts';
import { type Links, opsPage } from './page.ts';
import { opsScript, opsStyle } from './page-files.ts';
import { readState, type StateSources } from './state.ts';
import { stateHtml } from './state-html.ts';
import { callWidget, WidgetCall } from './widget.ts';

/** A request for something under `/ops`. */
export interface OpsRequest extends Asked {
  readonly path: string;
  readonly body: Buffer;
}

/** What the page shows and does. */
export interface OpsDeps extends StateSources {
  readonly port: number;
  readonly links: Links;
  /** The widget's function; undefined if the template has none. */
  readonly widget: FunctionPool | undefined;
}

/** Nothing but the page's own files runs, and no other page may frame it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const answer = (status: number, type: string, text: string): HttpAnswer => ({
  status,
  headers: {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': POLICY,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  },
  body: Buffer.from(text),
});
const say = (status: number, text: string) => answer(status, 'text/plain', text);

const RedriveCall = z.strictObject({ queue: z.string() });

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
};

const moveBack = async ({ sqs, queues }: OpsDeps, body: Buffer): Promise<HttpAnswer> => {
  const name = RedriveCall.safeParse(parseJson(body)).data?.queue ?? '';
  const queue = Object.hasOwn(queues, name) ? queues[name] : undefined;
  if (queue === undefined) return say(400, `The queue is one of ${Object.keys(queues).join(', ')}.`);
  const moved = await redrive({ sqs, ...queue });
  return say(200, `${moved} ${moved === 1 ? 'dead letter' : 'dead letters'} of ${name} moved back.`);
};

const askWidget = async ({ widget }: OpsDeps, body: Buffer): Promise<HttpAnswer> => {
  const call = WidgetCall.safeParse(parseJson(body));
  if (!call.success) return say(400, 'This is no call of the widget.');
  const result = await callWidget(widget, call.data);
  return result.ok ? answer(200, 'text/html', result.html) : say(502, result.reason);
};

/** Answers what is asked for under `/ops`; undefined if there is no such thing. On AWS nobody serves these. */
export const createOpsRoutes = (deps: OpsDeps) => {
  const routes: Readonly<Record<string, (body: Buffer) => HttpAnswer | Promise<HttpAnswer>>> = {
    'GET /ops': () => answer(200, 'text/html', opsPage(deps.links)),
    'GET /ops/page.css': () => answer(200, 'text/css', opsStyle()),
    'GET /ops/page.js': () => answer(200, 'text/javascript', opsScript()),
    'GET /ops/state': async () => answer(200, 'text/html', stateHtml(await readState(deps))),
    'POST /ops/widget': (body) => askWidget(deps, body),
    'POST /ops/redrive': (body) => moveBack(deps, body),
  };
  return async (request: OpsRequest): Promise<HttpAnswer | undefined> => {
    const route = routes[`${request.method} ${request.path}`];
    if (route === undefined) return undefined;
    if (!isFromHere(request, deps.port)) return say(403, 'This page answers to itself only, at 127.0.0.1 or localhost.');
    if (request.method === 'POST' && !isJson(request)) return say(415, 'The content type is application/json.');
    try {
      return await route(request.body);
    } catch (error) {
      // Its message may hold anything.
      return say(500, `The local stack failed at this (${error instanceof Error ? error.name : 'nothing is known of it'}).`);
    }
  };
};
