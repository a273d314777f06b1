import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import type { Model } from '../cloudformation/model.ts';
import { NotUnderstoodError } from '../cloudformation/parse-resource.ts';
import type { FunctionHost } from '../lambda-host/host.ts';
import type { FunctionPool } from '../lambda-host/pool.ts';
import type { OpsRequest } from '../ops-page/routes.ts';
import { listen } from '../ports.ts';
import type { RecordedOutput } from '../recorded-output.ts';
import type { Settings } from '../settings.ts';
import { gatewayAnswer, type HttpAnswer, readHttpAnswer } from './answer.ts';
import { createAuthorizer, type JwtIdentity, type Verdict } from './authorizer.ts';
import { answerPreflight, type Cors, corsHeaders, isPreflight } from './cors.ts';
import { toHttpEvent } from './event.ts';
import { findPage } from './pages.ts';
import { createRouter, type Route, type RouteMatch } from './routes.ts';

/** Of the gateway, for a request's body. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Of Lambda, for the event that carries the body with everything else, and for the answer. */
const MAX_EVENT_BYTES = 6_291_556;

interface Target {
  readonly pool: FunctionPool;
  readonly timeoutMs: number;
  readonly authorize?: (header: string | undefined) => Promise<Verdict>;
}

const NOT_FOUND = gatewayAnswer(404, 'Not Found');
const TOO_LARGE = gatewayAnswer(413, 'Request Entity Too Large');
const FUNCTION_ERROR = gatewayAnswer(500, 'Internal Server Error');
const UNAVAILABLE = gatewayAnswer(503, 'Service Unavailable');
const UNAUTHORIZED = gatewayAnswer(401, 'Unauthorized');
const FORBIDDEN = gatewayAnswer(403, 'Forbidden');

/** All of the body; undefined if it is longer than the gateway takes. The rest is read and dropped, so that the client hears the answer. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    length += bytes.length;
    if (length <= MAX_BODY_BYTES) chunks.push(bytes);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
};

const timeOut = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => {
      resolve(undefined);
    }, ms).unref();
  });

const invoke = async (target: Target, event: object): Promise<HttpAnswer> => {
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return TOO_LARGE;
  const result = await Promise.race([target.pool.invoke(event), timeOut(target.timeoutMs)]);
  if (result === undefined) return UNAVAILABLE;
  if (!result.ok || Buffer.byteLength(result.payload) > MAX_EVENT_BYTES) return FUNCTION_ERROR;
  return readHttpAnswer(result.payload);
};

type Router = (method: string, path: string) => RouteMatch<Target> | undefined;

/** What this machine answers by itself; on AWS there is none of it. */
export type LocalPages = (request: OpsRequest) => Promise<HttpAnswer | undefined>;

interface Served {
  readonly route: Router;
  readonly pages: LocalPages;
  readonly apiId: string;
  /** Absent: no page of another origin may call. */
  readonly cors?: Cors;
}

const answer = async (request: IncomingMessage, { route, pages, apiId }: Served): Promise<HttpAnswer> => {
  const body = await readBody(request);
  const method = request.method ?? 'GET';
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const match = route(method, path);
  if (match === undefined) {
    const asked = { method, path, headers: request.headers, body: body ?? Buffer.alloc(0) };
    return findPage(method, path) ?? (await pages(asked)) ?? NOT_FOUND;
  }
  const { target, key } = match.route;
  let identity: JwtIdentity | undefined;
  if (target.authorize) {
    const verdict = await target.authorize(request.headers.authorization);
    if (verdict.kind === 'unauthorized') return UNAUTHORIZED;
    if (verdict.kind === 'forbidden') return FORBIDDEN;
    identity = verdict.identity;
  }
  if (body === undefined) return TOO_LARGE;
  const event = toHttpEvent({
    request,
    body,
    routeKey: key,
    pathParameters: match.pathParameters,
    ...(identity && { identity }),
    apiId,
    now: new Date(),
  });
  return invoke(target, event);
};

/** What the gateway answers, with what a browser wants to know about pages of other origins. */
const answerPages = async (request: IncomingMessage, served: Served): Promise<HttpAnswer> => {
  const { cors } = served;
  if (cors === undefined) return answer(request, served);
  if (isPreflight(request)) return answerPreflight(cors, request);
  const { headers, ...rest } = await answer(request, served);
  return { ...rest, headers: { ...headers, ...corsHeaders(cors, request) } };
};

const send = (response: ServerResponse, { status, headers, body }: HttpAnswer) => {
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(body);
};

const corsOf = ({ properties: { CorsConfiguration: cors } }: Model['apis'][number]): Cors | undefined =>
  cors && {
    origins: cors.AllowOrigins,
    methods: cors.AllowMethods,
    allowedHeaders: cors.AllowHeaders,
    exposedHeaders: cors.ExposeHeaders,
    maxAgeSeconds: cors.MaxAge,
  };

const buildRoutes = (model: Model, functions: FunctionHost, locate: (issuer: string) => string): Route<Target>[] => {
  const checks = new Map(
    model.authorizers.map(({ ref, properties }) => {
      const { Issuer: issuer, Audience: audience } = properties.JwtConfiguration;
      return [ref, createAuthorizer({ issuer, location: locate(issuer), audience })];
    }),
  );
  return model.routes.map(({ resource, properties }) => {
    const integration = model.integrations.find(({ ref }) => properties.Target === `integrations/${ref}`);
    if (integration === undefined) throw new NotUnderstoodError(resource, `there is no ${properties.Target}`);
    const target: Target = {
      pool: functions.find(integration.properties.IntegrationUri),
      timeoutMs: integration.properties.TimeoutInMillis,
    };
    if (properties.AuthorizationType !== 'JWT') return { key: properties.RouteKey, target };
    const { AuthorizerId, AuthorizationScopes } = properties;
    const check = checks.get(AuthorizerId);
    if (check === undefined) throw new NotUnderstoodError(resource, `there is no authorizer ${AuthorizerId}`);
    return { key: properties.RouteKey, target: { ...target, authorize: (header) => check(header, AuthorizationScopes) } };
  });
};

/** Takes the API's port at once and answers 503 until the functions are there. */
export const startGateway = async (settings: Settings, recorded: RecordedOutput) => {
  let served: Served | undefined;
  const server = createServer((request, response) => {
    if (served === undefined) {
      send(response, UNAVAILABLE);
      return;
    }
    answerPages(request, served).then(
      (result) => {
        if (result.status >= 400) {
          recorded.refusal(`${request.method ?? ''} ${request.url ?? ''} ${result.status}`, result);
        }
        send(response, result);
      },
      () => {
        // The client went away in the middle of its request.
        response.destroy();
      },
    );
  });
  const port = await listen(server, settings.ports.api);
  return {
    address: `http://127.0.0.1:${port}`,
    port,
    serve: (model: Model, functions: FunctionHost, locate: (issuer: string) => string, pages: LocalPages) => {
      const [api, ...others] = model.apis;
      const second = others[0];
      if (second) throw new NotUnderstoodError(second.resource, 'the local stack serves one HTTP API');
      const cors = api && corsOf(api);
      const route = createRouter(buildRoutes(model, functions, locate));
      served = { route, pages, apiId: api?.ref ?? '', ...(cors && { cors }) };
    },
    /** Takes no new requests; answers what cuts off those still under way. */
    drain: () => {
      served = undefined;
      server.close();
      server.closeIdleConnections();
      return () => {
        server.closeAllConnections();
      };
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};
