import * as z from 'zod';

import { injectFault } from './faults/inject-fault.ts';
import type { FaultPlan } from './faults/plan.ts';
import type { Refusal } from './faults/refusal.ts';
import { type Answer, answerJson, answerRefusal, readJson } from './http.ts';
import { StoredTemplate, type TemplateStore } from './templates.ts';

const Body = z.record(z.string(), z.unknown());

/** SES's calls about stored templates. */
export const templateRoutes = (templates: TemplateStore, plan: FaultPlan): Readonly<Record<string, Answer>> => {
  const answerChange = (response: Parameters<Answer>[1], refused: Refusal | undefined) => {
    if (refused) answerRefusal(response, refused);
    else answerJson(response, 200, {});
  };
  return {
    'POST /v2/email/templates': async (request, response) => {
      answerChange(response, templates.create(StoredTemplate.parse(await readJson(request))));
    },
    'GET /v2/email/templates/*': async (_, response, name) => {
      const fault = plan.next('GetEmailTemplate');
      const found = templates.get(name);
      if (fault) await injectFault(fault, { take: () => found, response });
      else if ('status' in found) answerRefusal(response, found);
      else answerJson(response, 200, found);
    },
    'PUT /v2/email/templates/*': async (request, response, name) => {
      const body = Body.parse(await readJson(request));
      answerChange(response, templates.update(StoredTemplate.parse({ ...body, TemplateName: name })));
    },
    'DELETE /v2/email/templates/*': (_, response, name) => {
      answerChange(response, templates.remove(name));
    },
  };
};
