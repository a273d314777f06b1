import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';

import type { SNSClient } from '@aws-sdk/client-sns';
import store from 'aws-ses-v2-local/dist/store.js';
import * as z from 'zod';

import { HOST, listen } from '../ports.ts';
import type { Settings } from '../settings.ts';
import { createAccount } from './account.ts';
import { createCallLog, TAKEN } from './call-log.ts';
import { controlRoutes } from './controls.ts';
import { openEventLedger } from './events/ledger.ts';
import { createEventPublisher, type EventDestination } from './events/publisher.ts';
import type { EventMail } from './events/ses-event.ts';
import { injectFault } from './faults/inject-fault.ts';
import { createFaultPlan } from './faults/plan.ts';
import { refusal } from './faults/refusal.ts';
import { isSimulated } from './faults/simulator.ts';
import { type Answer, answerJson, answerRefusal } from './http.ts';
import { openJournal } from './journal.ts';
import { bareAddress, type Mail } from './mail.ts';
import { sendEmail } from './send-email.ts';
import { templateRoutes } from './template-routes.ts';
import { createTemplateStore } from './templates.ts';

/** The inbox page loads every mail it shows; older ones of earlier runs are in the journal only. */
const REFILLED = 2_000;

/** Events of mails no older than that are published again at a start: the queue that held them was in memory. */
const REPEATED_MS = 3_600_000;

/** Calls to send a mail that a person can look at. */
const CALLS_SHOWN = 20;

const showInInbox = (mail: Mail) => {
  store.saveEmail({
    messageId: mail.messageId,
    from: mail.from,
    replyTo: mail.replyTo,
    destination: { to: mail.to, cc: [], bcc: [] },
    subject: mail.subject,
    body: mail.body,
    attachments: [],
    headers: mail.headers,
    at: Math.floor(Date.parse(mail.at) / 1000),
  });
};

/** A mail without its text, if SES publishes events about it: it does for those with a configuration set. */
const withEvents = ({ at, messageId, to, from, replyTo, subject, tags, headers, configurationSetName }: Mail): EventMail[] =>
  configurationSetName === undefined ? [] : [{ at, messageId, to, from, replyTo, subject, tags, headers, configurationSetName }];

/** Starts SES as the functions see it: its API with account, limits and faults in front of the inbox's store. */
export const startFakeSes = async (settings: Settings, onTrouble: (text: string) => void) => {
  const account = createAccount({ perSecond: settings.sesRate, perDay: settings.sesDaily }, Date.now);
  const plan = createFaultPlan();
  const templates = createTemplateStore();
  const configurationSets = new Set<string>();
  const counts = new Map<string, number>();
  const calls = createCallLog(CALLS_SHOWN);
  const events = createEventPublisher(openEventLedger(join(settings.directory, 'events.jsonl')), onTrouble);

  const shown: Mail[] = [];
  const recent: EventMail[] = [];
  const countMail = ({ to, at }: Mail) => {
    account.count(to.filter((address) => !isSimulated(bareAddress(address))).length, Date.parse(at));
  };
  const journal = await openJournal(join(settings.directory, 'journal.jsonl'), (mail) => {
    countMail(mail);
    shown.push(mail);
    if (shown.length > REFILLED) shown.shift();
    if (Date.parse(mail.at) > Date.now() - REPEATED_MS) recent.push(...withEvents(mail));
  });
  shown.forEach(showInInbox);
  for (const { at, to, messageId } of shown) calls.note({ at, recipient: bareAddress(to[0] ?? ''), outcome: TAKEN, messageId });

  const take = (mail: Mail) => {
    const publish = withEvents(mail).map(events.prepare);
    journal.append(mail);
    countMail(mail);
    showInInbox(mail);
    for (const start of publish) start();
  };
  const routes: Readonly<Record<string, Answer>> = {
    'POST /v2/email/outbound-emails': (request, response) =>
      sendEmail(request, response, { account, plan, configurationSets, take, note: calls.note }),
    'GET /v2/email/account': async (_, response) => {
      const fault = plan.next('GetAccount');
      if (fault) await injectFault(fault, { take: account.describe, response });
      else answerJson(response, 200, account.describe());
    },
    ...templateRoutes(templates, plan),
    ...controlRoutes({ account, plan, events, journal, counts: () => Object.fromEntries(counts) }),
  };
  const dispatch = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const [, start = path, name = ''] = /^(\/v2\/email\/templates\/)(.+)$/.exec(path) ?? [];
    const key = `${request.method ?? 'GET'} ${name === '' ? path : `${start}*`}`;
    const route = routes[key];
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (route) await route(request, response, decodeURIComponent(name));
    else answerRefusal(response, refusal(404, 'UnknownOperationException', `the local SES does not know ${key}`));
  };
  const server = createServer((request, response) => {
    dispatch(request, response).catch((error: unknown) => {
      const message = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
      if (!response.headersSent) answerRefusal(response, refusal(400, 'BadRequestException', message));
    });
  });
  server.keepAliveTimeout = 60_000;
  const port = await listen(server, settings.ports.ses);

  return {
    address: `http://${HOST}:${port}`,
    templates,
    /** Calls so far, by method and path. */
    counts: () => Object.fromEntries(counts),
    /** How it stands now, and what it was asked last. */
    look: () => ({ account: account.describe(), faults: plan.list(), events: events.rules.list(), calls: calls.list() }),
    /** Makes a configuration set known. */
    addConfigurationSet: (name: string) => {
      configurationSets.add(name);
    },
    /** Publishes events from now on, those of an earlier run's last hour first. */
    publishEvents: (sns: SNSClient, destinations: readonly EventDestination[]) => {
      events.connect(sns, destinations);
      for (const mail of recent.splice(0)) events.repeat(mail);
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
      events.stop();
      journal.close();
    },
  };
};

/** The running gate. */
export type FakeSes = Awaited<ReturnType<typeof startFakeSes>>;
