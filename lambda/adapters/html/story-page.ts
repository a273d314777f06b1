import type { Story } from '../../application/ports/show-ports.ts';
import { dispatchPart } from './dispatch-part.ts';
import { backButton, lookUpForm, page, type Place, sentence, storyButton, time, warning } from './frame.ts';
import { type Html, html } from './html.ts';
import { recipientPart } from './recipient-part.ts';

/** The story of a dispatch, and of one of its recipients if that was asked for. */
export const storyPage = (place: Place, story: Story): Html => {
  const { recipient, now, dispatch } = story;
  const { dispatchId } = dispatch;
  return page(
    place,
    backButton(place),
    recipient !== undefined && html`<p>${storyButton(place, 'The whole dispatch', { dispatchId })}</p>`,
    recipient === 'no-recipient' && warning('This dispatch has no recipient with that applyId, or not yet.'),
    recipient !== undefined && recipient !== 'no-recipient' && recipientPart(recipient, story),
    dispatchPart(place, story),
    lookUpForm(place),
    sentence('As of ', time(now), '. All times are UTC.'),
  );
};

/** A sentence instead of what was asked for, and the way on. */
export const refusalPage = (place: Place, words: string): Html =>
  page(place, html`<p class="bad">${words}</p>`, backButton(place), lookUpForm(place));
