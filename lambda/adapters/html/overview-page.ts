import type { DispatchInNeed, Overview } from '../../application/ports/queries.ts';
import type { Dispatch } from '../../domain/dispatch/dispatch.ts';
import { isPassOverdue } from '../../domain/sending/trouble.ts';
import { isSilent } from '../../domain/sending/watermark.ts';
import { countsText, numberOf, reasonsToLook } from './counts-words.ts';
import { detailsButton, lookUpForm, page, type Place, runbook, sentence, table, time, warning } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';

/** How the service stands, the dispatches in trouble, and the form that asks for a story. */
export const overviewPage = (place: Place, overview: Overview): Html =>
  page(
    place,
    html`<h3>The service</h3>`,
    sendingSentence(overview),
    recoverySentence(overview),
    eventsSentence(overview),
    underWaySentence(overview),
    html`<h3>Dispatches in trouble</h3>`,
    troubles(place, overview),
    lookUpForm(place),
    sentence('As of ', time(overview.now), '. All times are UTC.'),
  );

const NO_ANSWER = 'the table gave no answer. Try again.';

const sendingSentence = ({ sending, now }: Overview): Html => {
  if (sending === 'unavailable') return warning('Whether mails are sent cannot be told: ', NO_ANSWER);
  const { pause, resumedAt } = sending;
  switch (pause?.by) {
    case undefined:
      return sentence('Mails are sent', resumedAt !== undefined && [', since a pause ended at ', time(resumedAt)], '.');
    case 'operator':
      return warning(
        ['Sending is paused by ', pause.who, ' since ', time(pause.since)],
        pause.reason === undefined ? ', without a reason given.' : [': “', pause.reason, '”.'],
        [' It stays so until an operator resumes it. Runbook: ', runbook('sending-paused')],
      );
    case 'service':
      return warning(
        ['Sending is paused by the service itself since ', time(pause.since), ', for ', html`<code>${pause.code}</code>`, '. '],
        pause.until > now ? ['One mail tries again at ', time(pause.until), '.'] : 'One mail may try again now.',
        [' Runbook: ', runbook('sending-paused')],
      );
  }
};

const recoverySentence = ({ lastPassAt, roundProgressAt, sending, now }: Overview): Html => {
  if (lastPassAt === 'unavailable') return warning('When recovery last passed cannot be told: ', NO_ANSWER);
  const passed = lastPassAt === undefined ? 'Recovery has never passed' : ['Recovery last passed at ', time(lastPassAt)];
  if (sending !== 'unavailable' && sending.pause !== undefined) return sentence(passed, '; it rests while sending is paused.');
  if (!isPassOverdue(lastPassAt, now)) return sentence(passed, '.');
  if (!isPassOverdue(roundProgressAt, now))
    return sentence(
      passed,
      '. A round that takes several passes last inspected a dispatch at ',
      time(roundProgressAt ?? now),
      '.',
    );
  return warning(passed, ', and should do so every five minutes. Runbook: ', runbook('sweep-silent'));
};

/** By the rule of the alarm that events do not come. */
const eventsSentence = ({ feedback, newestSentAt }: Overview): Html => {
  if (feedback === 'unavailable' || newestSentAt === 'unavailable')
    return warning('Whether SES’s events come cannot be told: ', NO_ANSWER);
  const { watermark, unapplied } = feedback;
  const heard =
    watermark === undefined
      ? 'No event of SES was ever applied'
      : ['SES’s events are applied up to mails sent at ', time(watermark)];
  const stuck = unapplied.length > 0 && [' Events about ', numberOf(unapplied.length, 'mail'), ' could not be applied yet.'];
  if (newestSentAt === undefined || !isSilent(feedback, newestSentAt)) return sentence(heard, '.', stuck);
  return warning(
    [heard, ', but SES took mails until ', time(newestSentAt), ' whose events are due.', stuck],
    [' Runbook: ', runbook('feedback-silent')],
  );
};

const underWaySentence = ({ underWay, oldestUnderWayAt, isPart }: Overview): Html =>
  sentence(
    underWay === 0 ? 'No dispatch is under way' : numberOf(underWay, 'dispatch is under way', 'dispatches are under way'),
    oldestUnderWayAt !== undefined && [', the oldest since ', time(oldestUnderWayAt)],
    '.',
    isPart && ' There are more than were looked at: only the newest are counted.',
  );

const troubles = (place: Place, { inNeed, moreInNeed, isPart }: Overview): HtmlValue => {
  if (inNeed.length === 0) return sentence(isPart ? 'None among the newest, and not all were looked at.' : 'None.');
  return [
    table(
      ['dispatch', 'scenario', 'status', 'why', 'recipients', 'stopped, ended or last moved'],
      inNeed.map((each) => row(place, each)),
    ),
    moreInNeed > 0 && sentence('And ', moreInNeed, ' more.'),
    isPart && sentence('There may be older ones: not all were looked at.'),
  ];
};

const row = (place: Place, { dispatch, trouble }: DispatchInNeed): readonly HtmlValue[] => {
  const { dispatchId, scenarioId, isTest, status, counts, total } = dispatch;
  return [
    [html`<code>${dispatchId}</code> `, detailsButton(place, 'Story', { dispatchId })],
    [scenarioId, isTest && ' (a test)'],
    status,
    why(dispatch, trouble.kind),
    counts === undefined ? [total, ' in all'] : countsText(counts),
    time(trouble.since),
  ];
};

const why = ({ failureReason, faultCode, counts, deliveries }: Dispatch, kind: DispatchInNeed['trouble']['kind']): HtmlValue => {
  switch (kind) {
    case 'stopped':
      return ['stopped: ', failureReason ?? 'no reason stored', faultCode !== undefined && [' (', faultCode, ')']];
    case 'recipients':
      return (counts && reasonsToLook({ counts, ...(deliveries && { deliveries }) }).join('; ')) || 'a person should look at it';
    case 'unmoved':
      return 'nothing has moved for an hour';
  }
};
