import { type Check, failed, passed } from '../check.ts';

type Problem = 'failing' | 'no-data' | 'no-page';

/** Sentences of the page when it cannot read the table. */
const NO_DATA = /gave no answer|could not be shown/i;

/** The dashboard widget shows the state of the service. */
export const widget: Check<Problem> = {
  id: 'widget',
  name: 'Dashboard widget',
  advice: {
    failing:
      'The function ShowOperations fails. Look at its log; with AccessDenied here, your credentials lack lambda:InvokeFunction on the output WidgetFunctionArn, as whoever looks at the dashboard needs it.',
    'no-data':
      'The widget cannot read the table. Look at the log of ShowOperations: its role needs dynamodb:GetItem and Query on the table and its index, and the table must not be throttled.',
    'no-page': 'The function answers something else than the page. Compare the version of this tool with the deployed one.',
  },
  run: async ({ target }) => {
    const answer = await target.widget();
    if (!answer.ok) return failed('failing', answer.reason);
    if (NO_DATA.test(answer.html)) return failed('no-data', 'the page says that the table gave no answer');
    if (!answer.html.includes('class="mail-dispatch')) return failed('no-page', `${answer.html.length} characters, not the page`);
    return passed(`${answer.html.length} characters of HTML without an error`);
  },
};
