import { describe, expect, it } from 'vitest';

import { createMailRenderer } from '../../../../../../lambda/adapters/template/content/mail-renderer.ts';
import type { DispatchContent } from '../../../../../../lambda/domain/dispatch/content.ts';

const content = (text: string): DispatchContent => ({
  template: { subject: 'Hi', text },
  variables: {},
  from: 'jobs@example.com',
});
const recipientInput = { applyId: 'a-1', email: 'kim@example.com', variables: { name: 'Kim' } };

describe('the sender’s renderer', () => {
  it('renders a mail', () => {
    expect(createMailRenderer(1_000_000).render('d-1', content('Dear {{name}}'), recipientInput)).toEqual({
      ok: true,
      mail: { subject: 'Hi', text: 'Dear Kim' },
    });
  });

  it('keeps dispatches apart, more of them than it remembers', () => {
    const renderer = createMailRenderer(1_000_000);
    const texts = Array.from({ length: 60 }, (_, i) => {
      const result = renderer.render(`d-${i % 30}`, content(`${i % 30}`), recipientInput);
      return result.ok ? result.mail.text : result.code;
    });

    expect(texts).toEqual(Array.from({ length: 60 }, (_, i) => `${i % 30}`));
  });

  it('gives the code of a fault', () => {
    expect(createMailRenderer(1_000_000).render('d-1', content('{{missing}}'), recipientInput)).toEqual({
      ok: false,
      code: 'MISSING_VARIABLE',
    });
  });

  it('gives a code for a content that is not valid', () => {
    expect(createMailRenderer(1_000_000).render('d-1', content('{{#if'), recipientInput)).toEqual({
      ok: false,
      code: 'INVALID_TEMPLATE',
    });
  });
});
