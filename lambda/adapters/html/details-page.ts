import type { Details } from '../../application/ports/queries.ts';
import { dispatchPart } from './dispatch-part.ts';
import { backButton, detailsButton, lookUpForm, page, type Place, sentence, time, warning } from './frame.ts';
import { type Html, html } from './html.ts';
import { recipientPart } from './recipient-part.ts';

/** The story of a dispatch, and of one of its recipients if that was asked for. */
export const detailsPage = (place: Place, details: Details): Html => {
  const { recipient, now, dispatch } = details;
  const { dispatchId } = dispatch;
  return page(
    place,
    backButton(place),
    recipient !== undefined && html`<p>${detailsButton(place, 'The whole dispatch', { dispatchId })}</p>`,
    recipient === 'no-recipient' && warning('This dispatch has no recipient with that applyId, or not yet.'),
    recipient !== undefined && recipient !== 'no-recipient' && recipientPart(recipient, details),
    dispatchPart(place, details),
    lookUpForm(place),
    sentence('As of ', time(now), '. All times are UTC.'),
  );
};

/** A sentence instead of what was asked for, and the way on. */
export const refusalPage = (place: Place, words: string): Html =>
  page(place, html`<p class="bad">${words}</p>`, backButton(place), lookUpForm(place));
