import { describe, expect, it } from 'vitest';

import { createRenderSamples } from '../../../../../../lambda/adapters/template/content/render-samples.ts';
import type { DispatchContent, TemplateParts } from '../../../../../../lambda/domain/dispatch/content.ts';
import { someRecipientInputs } from '../../../../../support/accept-builders.ts';

const content = (template: Partial<TemplateParts> = {}): DispatchContent => ({
  template: { subject: 'For {{name}}', html: '<p>{{name}}</p>', text: 'Dear {{name}}', ...template },
  variables: {},
  from: 'jobs@example.com',
});
const render = createRenderSamples(1_000_000);
const mailsOf = (...args: Parameters<typeof render>) => render(...args).mails;

describe('samples', () => {
  it('are the first three mails, each with its address (S12)', () => {
    const recipients = someRecipientInputs(5, (i) => ({ name: `Kim & ${i}` }));

    expect(mailsOf(content(), recipients)).toEqual(
      [0, 1, 2].map((i) => ({
        applyId: `a-${i}`,
        to: `kim.${i}@example.com`,
        subject: `For Kim & ${i}`,
        html: `<p>Kim &amp; ${i}</p>`,
        text: `Dear Kim & ${i}`,
      })),
    );
  });

  it('are of those whose mails can be rendered', () => {
    const recipients = someRecipientInputs(6, (i): Record<string, string> => (i < 4 ? {} : { name: 'Kim' }));

    expect(mailsOf(content(), recipients).map(({ applyId }) => applyId)).toEqual(['a-4', 'a-5']);
  });

  it('are none of a template that is not valid', () => {
    expect(render(content({ html: '{{#if name}}' }), someRecipientInputs(3))).toEqual({ mails: [], cutShort: false });
  });

  it('are fewer when mails are large, so that the answer can be sent', () => {
    const recipients = someRecipientInputs(3, () => ({ name: 'x'.repeat(3_000) }));

    const { mails, cutShort } = render(content({ subject: 'Hello', html: '', text: '{{name}}'.repeat(150) }), recipients);

    expect(mails).toHaveLength(2);
    expect(cutShort).toBe(true);
  });

  it('are none of a template that takes too long', () => {
    const loops = '{{#each @root.list}}'.repeat(7) + 'x' + '{{/each}}'.repeat(7);
    const list = Array.from({ length: 60 }, () => 1);

    const { mails } = createRenderSamples(1_000_000, 50)(
      { ...content({ text: loops }), variables: { list } },
      someRecipientInputs(1),
    );

    expect(mails).toEqual([]);
  });

  it('that are done when the time ends are shown, and said to be cut short', () => {
    const timeEnds = new Error('time ends');
    const renderUntil = createRenderSamples(1_000_000, 1, (_ms, work) => {
      try {
        return { done: true, result: work() };
      } catch (error) {
        if (error === timeEnds) return { done: false };
        throw error;
      }
    });
    const [first, second, third] = someRecipientInputs(3, () => ({ name: 'Kim' }));
    const slow = {
      get name(): string {
        throw timeEnds;
      },
    };

    const { mails, cutShort } = renderUntil(
      content(),
      [first, second, third].flatMap((each, i) => (each ? [i === 1 ? { ...each, variables: slow } : each] : [])),
    );

    expect(mails.map(({ applyId }) => applyId)).toEqual(['a-0']);
    expect(cutShort).toBe(true);
  });

  it('are not cut short when there are no more recipients, or no more are wanted', () => {
    const cutShort = [0, 1, 3, 5].map(
      (n) =>
        render(
          content(),
          someRecipientInputs(n, () => ({ name: 'Kim' })),
        ).cutShort,
    );

    expect(cutShort).toEqual([false, false, false, false]);
  });
});
