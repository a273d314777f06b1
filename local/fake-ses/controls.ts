import { type Account, AccountChange } from './account.ts';
import type { EventPublisher } from './events/publisher.ts';
import { EventRule } from './events/rules.ts';
import { type FaultPlan, PlannedFault } from './faults/plan.ts';
import { type Answer, answerJson, readJson } from './http.ts';
import type { Journal } from './journal.ts';

/** What can be told to a gate. */
export interface Controlled {
  readonly account: Account;
  readonly plan: FaultPlan;
  readonly events: EventPublisher;
  readonly journal: Journal;
  readonly counts: () => Readonly<Record<string, number>>;
}

/** The calls that tell the gate what to do, and ask it what it saw; SES has none of them. */
export const controlRoutes = ({ account, plan, events, journal, counts }: Controlled): Readonly<Record<string, Answer>> => {
  const describeEvents = () => ({ ...events.counts(), rules: events.rules.list() });
  return {
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
    'POST /_gate/events': async (request, response) => {
      events.rules.add(EventRule.parse(await readJson(request)));
      answerJson(response, 200, describeEvents());
    },
    'GET /_gate/events': (_, response) => {
      answerJson(response, 200, describeEvents());
    },
    'DELETE /_gate/events': (_, response) => {
      events.rules.clear();
      answerJson(response, 200, describeEvents());
    },
    'PUT /_gate/account': async (request, response) => {
      account.change(AccountChange.parse(await readJson(request)));
      answerJson(response, 200, account.describe());
    },
    'GET /_gate/journal': (_, response) => {
      answerJson(response, 200, journal.entries);
    },
    'GET /_gate/counts': (_, response) => {
      answerJson(response, 200, counts());
    },
  };
};
