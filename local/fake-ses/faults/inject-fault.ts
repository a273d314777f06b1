import type { ServerResponse } from 'node:http';

import { answerRefusal } from '../http.ts';
import type { Fault } from './faults.ts';

/** What a call would be answered if nothing went wrong. */
export interface Answering {
  /** Does what the call asks for; answers the JSON to send. */
  readonly take: () => unknown;
  readonly response: ServerResponse;
}

const answer = (response: ServerResponse, body: string) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(body);
};

/** Answers a call that meets a fault. */
export const injectFault = async (fault: Fault, { take, response }: Answering): Promise<void> => {
  switch (fault.kind) {
    case 'refuse':
      answerRefusal(response, fault.refusal);
      return;
    case 'page':
      response.writeHead(fault.status, { 'content-type': 'text/html' });
      response.end(fault.html);
      return;
    case 'reset':
      if (fault.moment === 'taken') take();
      response.socket?.resetAndDestroy();
      return;
    case 'half-answer': {
      const whole = JSON.stringify(take());
      answer(response, whole.slice(0, whole.length / 2));
      return;
    }
    case 'slow': {
      const whole = JSON.stringify(take());
      await new Promise((done) => setTimeout(done, fault.seconds * 1000).unref());
      answer(response, whole);
      return;
    }
    case 'silent':
      if (fault.taken) take();
      return;
  }
};
