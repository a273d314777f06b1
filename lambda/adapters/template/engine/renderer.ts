import type { DispatchContent, RecipientInput, RenderedMail } from '../../../domain/dispatch/content.ts';
import { compileContent } from '../content/compile-content.ts';
import { renderLimits } from './budget.ts';

/** The mails of one dispatch. */
export interface DispatchRenderer {
  /** Throws a RenderFault. */
  render(recipientInput: RecipientInput): RenderedMail;
}

/** Compiles a dispatch's templates once and renders its mails one by one. */
export const createRenderer = (maxMailBytes: number): { compile(content: DispatchContent): DispatchRenderer } => ({
  compile(content) {
    const compiled = compileContent(content, renderLimits(maxMailBytes));
    return { render: ({ variables }) => compiled.mail(compiled.valuesFor(variables)) };
  },
});
