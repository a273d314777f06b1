import { CreateEmailTemplateCommand, DeleteEmailTemplateCommand, type SESv2Client } from '@aws-sdk/client-sesv2';
import * as z from 'zod';

import { describeAnswer, UnexpectedAnswer } from '../api.ts';
import { type Check, failed, passed } from '../check.ts';
import type { Cleanup } from '../cleanup.ts';
import { SCENARIO } from '../dispatches.ts';

type Problem = 'no-template' | 'faults';

const TEMPLATE = {
  Subject: 'Verification of the mail dispatch service, run {{run}}',
  Text: 'Hello {{name}},\nthis mail verifies a deployment. It goes to the mailbox simulator of Amazon SES.\n',
  Html: '<p>Hello {{name}},</p><p>this mail verifies a deployment. It goes to the mailbox simulator of Amazon SES.</p>',
};

const Preview = z.looseObject({ faults: z.array(z.looseObject({ pointer: z.string(), rule: z.string() })) });

/** Creates the template; one that an earlier run left is used and removed as well. */
const createTemplate = async (ses: SESv2Client, name: string, cleanup: Cleanup): Promise<void> => {
  const forget = cleanup.add({
    what: `the template ${name}`,
    byHand: `aws sesv2 delete-email-template --template-name ${name}`,
    undo: async () => {
      await ses.send(new DeleteEmailTemplateCommand({ TemplateName: name }));
    },
  });
  try {
    await ses.send(new CreateEmailTemplateCommand({ TemplateName: name, TemplateContent: TEMPLATE }));
  } catch (error) {
    if (error instanceof Error && error.name === 'AlreadyExistsException') return;
    forget();
    throw error;
  }
};

/** The service finds a template of SES, and can make a mail of it. */
export const template: Check<Problem> = {
  id: 'template',
  name: 'Template and preview',
  needs: ['api'],
  effects: () => ['Create the template verify-deployment in SES, and delete it at the end.'],
  advice: {
    'no-template':
      'The service looks for the template under the stage’s templatePrefix, in its own region. Compare templatePrefix in cdk.json with --template-prefix and AWS_REGION, see the names with aws sesv2 list-email-templates, and check that the role of AcceptDispatch may call ses:GetEmailTemplate on it.',
    faults: 'The preview finds faults in a request that has none. Compare the version of this tool with the deployed one.',
  },
  run: async ({ target, dispatches, api, cleanup, waiting, options }) => {
    const name = `${target.templatePrefix}${SCENARIO}`;
    await createTemplate(target.ses, name, cleanup);
    const { body } = dispatches.request('preview', ['success']);
    // A name that was asked for before it was there counts as missing for some seconds.
    const { last } = await waiting.until(
      () => api.json('POST', '/dispatches/preview', body),
      (answer) => (Preview.safeParse(answer.body).data?.faults ?? []).length === 0,
      Math.min(15, options.waitSeconds),
    );
    const preview = Preview.safeParse(last.body);
    if (last.status !== 200 || !preview.success) throw new UnexpectedAnswer('POST /dispatches/preview', last);
    const { faults } = preview.data;
    const [fault] = faults;
    if (fault?.rule === 'unknown-scenario')
      return failed('no-template', `SES has the template ${name}, but the service does not find it`);
    if (fault !== undefined)
      return failed('faults', `${faults.length} faults, the first: ${fault.rule} at ${fault.pointer} (${describeAnswer(last)})`);
    return passed(`${name} is found and rendered`);
  },
};
