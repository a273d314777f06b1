import type { MailRenderer } from '../../../application/ports/provider.ts';
import type { DispatchContent } from '../../../domain/dispatch/content.ts';
import { RenderFault } from '../engine/render-fault.ts';
import { createRenderer, type DispatchRenderer } from '../engine/renderer.ts';
import { InvalidContent } from './compile-content.ts';

/** Dispatches whose compiled templates a sender keeps: it seldom works on more at a time. */
const KEPT = 20;

/** The sender's renderer: compiles the templates of a dispatch once. */
export const createMailRenderer = (maxMailBytes: number): MailRenderer => {
  const renderer = createRenderer(maxMailBytes);
  const kept = new Map<string, DispatchRenderer>();

  const rendererOf = (dispatchId: string, content: DispatchContent): DispatchRenderer => {
    const compiled = kept.get(dispatchId) ?? renderer.compile(content);
    // Put last again, so that the one not used for longest is dropped.
    kept.delete(dispatchId);
    kept.set(dispatchId, compiled);
    for (const oldest of [...kept.keys()].slice(0, -KEPT)) kept.delete(oldest);
    return compiled;
  };

  return {
    render(dispatchId, content, recipientInput) {
      try {
        return { ok: true, mail: rendererOf(dispatchId, content).render(recipientInput) };
      } catch (error) {
        if (error instanceof RenderFault) return { ok: false, code: error.code };
        if (error instanceof InvalidContent) return { ok: false, code: 'INVALID_TEMPLATE' };
        throw error;
      }
    },
  };
};
