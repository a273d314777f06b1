import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import * as z from 'zod';

import { answerJson, readJson } from '../../../local/fake-ses/http.ts';
import { HOST, listen } from '../../../local/ports.ts';
import { CrashOrder, type CrashPlan, Outage } from './plan.ts';

const CRASHES = '/_crash';
const OUTAGES = '/_outage';

/** Serves the calls that order trouble: `POST`, `GET` and `DELETE /_crash`, and `POST /_outage`. */
export const startCrashControl = async (plan: CrashPlan, cutOff: (outage: Outage) => void) => {
  const routes: Readonly<Record<string, (body: unknown) => unknown>> = {
    [`GET ${CRASHES}`]: () => plan.list(),
    [`POST ${CRASHES}`]: (body) => {
      plan.add(CrashOrder.parse(body));
      return plan.list();
    },
    [`DELETE ${CRASHES}`]: () => {
      plan.clear();
      return plan.list();
    },
    [`POST ${OUTAGES}`]: (body) => {
      const outage = Outage.parse(body);
      cutOff(outage);
      return outage;
    },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const route = routes[`${request.method ?? ''} ${request.url ?? ''}`];
    if (route === undefined) {
      answerJson(response, 404, { message: `there is ${Object.keys(routes).join(', ')}` });
      return;
    }
    try {
      answerJson(response, 200, route(request.method === 'POST' ? await readJson(request) : undefined));
    } catch (error) {
      answerJson(response, 400, { message: error instanceof z.ZodError ? z.prettifyError(error) : String(error) });
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const port = await listen(server, { variable: 'a free port', port: 0 });
  return {
    address: `http://${HOST}:${port}${CRASHES}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
