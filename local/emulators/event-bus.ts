import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';

import { answerJson, readJson } from '../fake-ses/http.ts';
import { HOST, listen } from '../ports.ts';
import { type EntryResult, PutEvents, takeEntry } from './event-bus-entries.ts';

/** EventBridge as the functions see it. */
export interface EventBusServer {
  /** Where events are put, by `POST`; a `GET` answers all there are, oldest first. */
  readonly address: string;
  /** Says which buses there are, by name or ARN. */
  readonly addBuses: (buses: readonly string[]) => void;
  /** Calls so far, by operation. */
  readonly counts: () => Readonly<Record<string, number>>;
  readonly stop: () => void;
}

const parseLine = (line: string): unknown[] => {
  try {
    return [JSON.parse(line)];
  } catch {
    // The line that was being written when the stack was killed: its call was never answered.
    return [];
  }
};

const refuse = (response: ServerResponse, type: string, message: string) => {
  answerJson(response, 400, { __type: type, message });
};

/** Starts a bus that keeps its events in a file, which outlives the stack, and has no rules: nobody here subscribes. */
export const startEventBus = async (directory: string): Promise<EventBusServer> => {
  const file = join(directory, 'events-bus.jsonl');
  const buses: string[] = [];
  let calls = 0;

  const putEvents = (response: ServerResponse, body: unknown) => {
    calls += 1;
    const call = PutEvents.safeParse(body);
    if (!call.success) {
      refuse(
        response,
        'ValidationException',
        call.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
      );
      return;
    }
    const results = call.data.Entries.map((entry) => takeEntry(entry, buses, Date.now()));
    const taken = results.flatMap((result) => ('event' in result ? [result.event] : []));
    // In the file before the answer, as the caller may be told of nothing that is not kept.
    if (taken.length > 0) appendFileSync(file, taken.map((event) => `\n${JSON.stringify(event)}`).join(''));
    answerJson(response, 200, {
      FailedEntryCount: results.length - taken.length,
      Entries: results.map((result: EntryResult) => ('event' in result ? { EventId: result.event.id } : result)),
    });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const operation = String(request.headers['x-amz-target'] ?? '');
    if (request.method === 'GET') {
      answerJson(response, 200, existsSync(file) ? readFileSync(file, 'utf8').split('\n').flatMap(parseLine) : []);
    } else if (operation === 'AWSEvents.PutEvents') putEvents(response, await readJson(request));
    else refuse(response, 'UnknownOperationException', `${operation} is not understood by the local stack`);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  const port = await listen(server, { variable: 'a free port', port: 0 });
  return {
    address: `http://${HOST}:${port}`,
    addBuses: (more) => {
      buses.push(...more);
    },
    counts: () => ({ PutEvents: calls }),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
