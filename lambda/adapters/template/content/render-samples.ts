import type { RenderSamples, SampleMail } from '../../../application/ports/accept.ts';
import type { DispatchContent, RecipientInput } from '../../../domain/dispatch/content.ts';
import { renderLimits } from '../engine/budget.ts';
import { RenderFault } from '../engine/render-fault.ts';
import { within } from '../engine/run-within.ts';
import { compileContent, InvalidContent } from './compile-content.ts';

const SAMPLES = 3;
/** Recipients tried for that. */
const MOST_TRIED = 20;
/** Of all samples together, in characters: an answer of Lambda holds 6 MB of escaped text. */
const MOST_CHARACTERS = 1_000_000;
const LONGEST_MS = 2_000;

/** Renders the first three mails that can be rendered, whatever is wrong with others. When time ends, those that are done stay. */
export const createRenderSamples =
  (maxMailBytes: number, longestMs = LONGEST_MS, runWithin: typeof within = within): RenderSamples =>
  (content, recipients) => {
    // Outside the work, which may be interrupted at any point.
    const mails: SampleMail[] = [];
    const rendered = runWithin(longestMs, () => renderFirst(mails, content, recipients.slice(0, MOST_TRIED), maxMailBytes));
    return { mails, cutShort: !rendered.done || rendered.result === 'too-large' };
  };

const renderFirst = (
  mails: SampleMail[],
  content: DispatchContent,
  recipients: readonly RecipientInput[],
  maxMailBytes: number,
): 'all' | 'too-large' => {
  let left = MOST_CHARACTERS;
  for (const mail of mailsOf(content, recipients, maxMailBytes)) {
    left -= (mail.html?.length ?? 0) + (mail.text?.length ?? 0);
    if (left < 0) return 'too-large';
    if (mails.push(mail) === SAMPLES) break;
  }
  return 'all';
};

function* mailsOf(content: DispatchContent, recipients: readonly RecipientInput[], maxMailBytes: number): Generator<SampleMail> {
  try {
    const compiled = compileContent(content, renderLimits(maxMailBytes));
    for (const { applyId, email, variables } of recipients) {
      const mail = unlessFaulty(() => compiled.mail(compiled.valuesFor(variables)));
      if (mail !== undefined) yield { applyId, to: email, ...mail };
    }
  } catch (error) {
    if (!(error instanceof InvalidContent)) throw error;
  }
}

const unlessFaulty = <T>(render: () => T): T | undefined => {
  try {
    return render();
  } catch (error) {
    if (error instanceof RenderFault) return undefined;
    throw error;
  }
};
