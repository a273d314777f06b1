import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Unavailable } from '../../../../lambda/application/ports/errors.ts';
import type { DetailsQuery, ReadDetails } from '../../../../lambda/application/queries/read-details.ts';
import type { ShowOverview } from '../../../../lambda/application/queries/show-overview.ts';
import { createHandler } from '../../../../lambda/handlers/show-operations/handler.ts';
import { aRecipient, sent } from '../../../support/builders.ts';
import { type Captured, captureOutput } from '../../../support/captured-output.ts';
import { aContext } from '../../../support/lambda-events.ts';
import { anOverview, LONG_ID, someDetails } from '../../../support/show-builders.ts';

let output: Captured;
beforeEach(() => {
  output = captureOutput();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const context = aContext();
const form = (all: object) => ({ widgetContext: { theme: 'dark', forms: { all }, params: {} } });

const show = async (
  event: unknown,
  { overview, details }: { overview?: () => ReturnType<ShowOverview>; details?: () => ReturnType<ReadDetails> } = {},
) => {
  const asked: (DetailsQuery | 'overview')[] = [];
  const handler = createHandler({
    showOverview: () => {
      asked.push('overview');
      return overview?.() ?? Promise.resolve(anOverview());
    },
    readDetails: (query) => {
      asked.push(query);
      return details?.() ?? Promise.resolve(someDetails({}, { recipient: aRecipient(sent(), { email: 'k…@example.com' }) }));
    },
    telemetry: output.telemetry,
  });
  const answer = await handler(event, context);
  return { asked, answer, html: typeof answer === 'string' ? answer : '' };
};

describe('the widget', () => {
  it('describes itself in Markdown with parameters to begin with, and reads nothing', async () => {
    const { answer, asked } = await show({ describe: true });

    expect(answer).toEqual({ markdown: expect.stringMatching(/```yaml\ndispatchId: ""\napplyId: ""\n```/) as unknown });
    expect(asked).toEqual([]);
  });

  it('begins with the overview, whose clicks call the function itself', async () => {
    const { html, asked } = await show(form({}));

    expect(asked).toEqual(['overview']);
    expect(html).toContain('<h3>The service</h3>');
    expect(html).toContain('<div class="mail-dispatch dark">');
    expect(html).toContain(`endpoint="${context.invokedFunctionArn}"`);
  });

  it('tells a story, and keeps in the form what was asked for', async () => {
    const { html, asked } = await show(form({ dispatchId: LONG_ID, applyId: 'a-1' }));

    expect(asked).toEqual([{ show: 'story', dispatchId: LONG_ID, applyIds: ['a-1'] }]);
    expect(html).toContain('<h3>Recipient <code>a-1</code></h3>');
    expect(html).toContain(`value="${LONG_ID}"`);
    expect(html).toContain('value="a-1"');
  });

  it('sends along what it shows, so that it is shown again', async () => {
    const shown = (html: string) => /name="shown" value="([^"]*)"/.exec(html)?.[1];

    expect(shown((await show(form({}))).html)).toBe('overview');
    expect(shown((await show(form({ dispatchId: LONG_ID, applyId: 'a b' }))).html)).toBe(`${LONG_ID} a b`);
    expect(shown((await show(form({ dispatchId: 'half' }))).html)).toBe('');
  });

  it('tells of a dispatch alone', async () => {
    const { html, asked } = await show({ dispatchId: LONG_ID, ...form({}) }, { details: () => Promise.resolve(someDetails()) });

    expect(asked).toEqual([{ show: 'story', dispatchId: LONG_ID, applyIds: [] }]);
    expect(html).toContain(`<h3>Dispatch <code>${LONG_ID}</code></h3>`);
    expect(html).not.toContain('<h3>Recipient');
  });

  it('says that there is no such dispatch', async () => {
    const { html } = await show(form({ dispatchId: LONG_ID }), { details: () => Promise.resolve('not-found') });

    expect(html).toContain('<p class="bad">There is no dispatch with that id.</p>');
    expect(html).toContain(`value="${LONG_ID}"`);
  });

  it.each([
    ['an id that is none', { dispatchId: '<img src=x onerror=alert(1)>' }, 'This is not the id of a dispatch'],
    ['an id that is too long', { dispatchId: LONG_ID.repeat(40) }, 'This is not the id of a dispatch'],
    ['an applyId that is too long', { dispatchId: LONG_ID, applyId: 'a'.repeat(129) }, 'This is not an applyId'],
    ['an applyId without its dispatch', { applyId: 'a-1' }, 'Give the id of the dispatch as well'],
  ])('refuses %s in a sentence, keeps it in the form as text, and reads nothing', async (_, all, sentence) => {
    const { html, asked } = await show(form(all));

    expect(html).toContain(sentence);
    for (const typed of Object.values(all))
      expect(html).toContain(`value="${typed.slice(0, 200).replace('<', '&lt;').replace('>', '&gt;')}"`);
    expect(html).not.toContain('<img');
    expect(asked).toEqual([]);
  });
});

describe('what goes wrong', () => {
  const leaky = () => Promise.reject(new Error('about kim@example.com'));

  it.each([
    ['the overview', form({})],
    ['a story', form({ dispatchId: LONG_ID })],
  ])('with %s is answered by the request’s id, and its message is shown nowhere (S14)', async (_, event) => {
    const { html } = await show(event, { overview: leaky, details: leaky });

    expect(html).toContain(`This could not be shown. The function’s log has more under the request id ${context.awsRequestId}.`);
    expect(html).not.toMatch(/\bat .*\.ts/);
    expect(html + output.text()).not.toContain('kim@example.com');
    expect(output.text()).toContain('showing failed');
    expect(output.metrics()).toEqual([{ name: 'ShowFailed', value: 1, dimensions: ['service', 'Stage'] }]);
  });

  it('by the table’s silence asks to try again', async () => {
    const { html } = await show(form({}), { overview: () => Promise.reject(new Unavailable('the table', 1)) });

    expect(html).toContain('The table gave no answer: try again.');
  });

  it('is no metric when nothing does', async () => {
    await show(form({}));

    expect(output.metrics()).toEqual([]);
  });
});
