import { describe, expect, it } from 'vitest';

import { createRenderSamples } from '../../../../../lambda/adapters/template/render-samples.ts';
import type { DispatchContent, TemplateParts } from '../../../../../lambda/domain/content.ts';
import { someAddressees } from '../../../../support/accept-builders.ts';

const content = (template: Partial<TemplateParts> = {}): DispatchContent => ({
  template: { subject: 'For {{name}}', html: '<p>{{name}}</p>', text: 'Dear {{name}}', ...template },
  variables: {},
  from: 'jobs@example.com',
});
const render = createRenderSamples(1_000_000);

describe('samples', () => {
  it('are the first three mails, each with its address (S12)', () => {
    const recipients = someAddressees(5, (i) => ({ name: `Kim & ${i}` }));

    expect(render(content(), recipients)).toEqual(
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
    const recipients = someAddressees(6, (i): Record<string, string> => (i < 4 ? {} : { name: 'Kim' }));

    expect(render(content(), recipients).map(({ applyId }) => applyId)).toEqual(['a-4', 'a-5']);
  });

  it('are none of a template that is not valid', () => {
    expect(render(content({ html: '{{#if name}}' }), someAddressees(3))).toEqual([]);
  });

  it('are fewer when mails are large, so that the answer can be sent', () => {
    const recipients = someAddressees(3, () => ({ name: 'x'.repeat(3_000) }));

    expect(render(content({ subject: 'Hello', html: '', text: '{{name}}'.repeat(150) }), recipients)).toHaveLength(2);
  });

  it('are none of a template that takes too long', () => {
    const loops = '{{#each @root.list}}'.repeat(7) + 'x' + '{{/each}}'.repeat(7);
    const list = Array.from({ length: 60 }, () => 1);

    expect(createRenderSamples(1_000_000, 50)({ ...content({ text: loops }), variables: { list } }, someAddressees(1))).toEqual(
      [],
    );
  });
});
