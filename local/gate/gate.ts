import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';

import store from 'aws-ses-v2-local/dist/store.js';
import * as z from 'zod';

import { HOST, listen } from '../ports.ts';
import type { Settings } from '../settings.ts';
import { createAccount } from './account.ts';
import type { Fault } from './faults.ts';
import { answerJson, answerRefusal, readJson } from './http.ts';
import { openJournal } from './journal.ts';
import type { Mail } from './mail.ts';
import { createFaultPlan, PlannedFault } from './plan.ts';
import { refusal } from './refusal.ts';
import { sendEmail } from './send-email.ts';
import { createTemplateStore, StoredTemplate } from './templates.ts';

/** The inbox page loads every mail it shows; older ones of earlier runs are in the journal only. */
const REFILLED = 2_000;

const Limits = z.strictObject({ perSecond: z.number().positive().optional(), perDay: z.number().nonnegative().optional() });

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

type Answer = (request: IncomingMessage, response: ServerResponse, name: string) => Promise<void> | void;

/** Only refusals and silence make sense for calls that change nothing. */
const answerFault = (response: ServerResponse, fault: Fault): void => {
  if (fault.kind === 'refuse') answerRefusal(response, fault.refusal);
  else if (fault.kind !== 'silent') response.socket?.resetAndDestroy();
};

/** Starts SES as the functions see it: its API with account, limits and faults in front of the inbox's store. */
export const startGate = async (settings: Settings) => {
  const account = createAccount({ perSecond: settings.sesRate, perDay: settings.sesDaily }, Date.now);
  const plan = createFaultPlan();
  const templates = createTemplateStore();
  const configurationSets = new Set<string>();
  const counts = new Map<string, number>();

  const earlier: Mail[] = [];
  const journal = await openJournal(join(settings.directory, 'journal.jsonl'), (mail) => {
    account.count(mail.to.length, Date.parse(mail.at));
    earlier.push(mail);
    if (earlier.length > REFILLED) earlier.shift();
  });
  earlier.forEach(showInInbox);

  const take = (mail: Mail) => {
    journal.append(mail);
    account.count(mail.to.length, Date.parse(mail.at));
    showInInbox(mail);
  };
  const routes: Readonly<Record<string, Answer>> = {
    'POST /v2/email/outbound-emails': (request, response) =>
      sendEmail(request, response, { account, plan, configurationSets, take }),
    'GET /v2/email/account': (_, response) => {
      const fault = plan.next('GetAccount', '');
      if (fault) answerFault(response, fault);
      else answerJson(response, 200, account.describe());
    },
    'POST /v2/email/templates': async (request, response) => {
      const refused = templates.create(StoredTemplate.parse(await readJson(request)));
      if (refused) answerRefusal(response, refused);
      else answerJson(response, 200, {});
    },
    'GET /v2/email/templates/*': (_, response, name) => {
      const fault = plan.next('GetEmailTemplate', '');
      const found = templates.get(name);
      if (fault) answerFault(response, fault);
      else if ('status' in found) answerRefusal(response, found);
      else answerJson(response, 200, found);
    },
    'PUT /v2/email/templates/*': async (request, response, name) => {
      const body = z.record(z.string(), z.unknown()).parse(await readJson(request));
      const refused = templates.update(StoredTemplate.parse({ ...body, TemplateName: name }));
      if (refused) answerRefusal(response, refused);
      else answerJson(response, 200, {});
    },
    'DELETE /v2/email/templates/*': (_, response, name) => {
      const refused = templates.remove(name);
      if (refused) answerRefusal(response, refused);
      else answerJson(response, 200, {});
    },
    'POST /_gate/faults': async (request, response) => {
      plan.add(PlannedFault.parse(await readJson(request)));
      answerJson(response, 200, plan.list());
    },
    'GET /_gate/faults': (_, response) => {
      answerJson(response, 200, plan.list());
    },
    'DELETE /_gate/faults': (_, response) => {
      plan.clear();
      answerJson(response, 200, []);
    },
    'PUT /_gate/account': async (request, response) => {
      const { perSecond, perDay } = Limits.parse(await readJson(request));
      account.limit({ ...(perSecond !== undefined && { perSecond }), ...(perDay !== undefined && { perDay }) });
      answerJson(response, 200, account.describe());
    },
    'GET /_gate/journal': (_, response) => {
      answerJson(response, 200, journal.entries);
    },
    'GET /_gate/counts': (_, response) => {
      answerJson(response, 200, Object.fromEntries(counts));
    },
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
    /** Makes a configuration set known. */
    addConfigurationSet: (name: string) => {
      configurationSets.add(name);
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
      journal.close();
    },
  };
};

/** The running gate. */
export type Gate = Awaited<ReturnType<typeof startGate>>;
