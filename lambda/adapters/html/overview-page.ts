import type { DispatchInTrouble, Overview } from '../../application/show-ports.ts';
import type { Counts, Dispatch } from '../../domain/dispatch.ts';
import { RECIPIENT_STATUSES } from '../../domain/recipient.ts';
import { isPassOverdue, silentSince } from '../../domain/trouble.ts';
import { lookUpForm, page, type Place, runbook, sentence, storyButton, table, time, warning } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';

/** How the service stands, the dispatches in trouble, and the form that asks for a story. */
export const overviewPage = (place: Place, overview: Overview): Html =>
  page(
    place,
    html`<h3>The service</h3>`,
    sendingSentence(overview),
    recoverySentence(overview),
    witnessSentence(overview),
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

const recoverySentence = ({ lastPassAt, sending, now }: Overview): Html => {
  if (lastPassAt === 'unavailable') return warning('When recovery last passed cannot be told: ', NO_ANSWER);
  const passed = lastPassAt === undefined ? 'Recovery has never passed' : ['Recovery last passed at ', time(lastPassAt)];
  if (sending !== 'unavailable' && sending.pause !== undefined) return sentence(passed, '; it rests while sending is paused.');
  if (!isPassOverdue(lastPassAt, now)) return sentence(passed, '.');
  return warning(passed, ', and should do so every five minutes. Runbook: ', runbook('sweep-silent'));
};

const witnessSentence = ({ witness, now }: Overview): Html => {
  if (witness === 'unavailable') return warning('What SES’s events tell cannot be told: ', NO_ANSWER);
  const { mark, holds } = witness;
  const heard =
    mark === undefined ? 'No event of SES was ever applied' : ['SES’s events are applied up to mails sent at ', time(mark)];
  const stuck = holds.length > 0 && [' Events about ', holds.length, ' mails could not be applied yet.'];
  const since = silentSince(witness, now);
  if (since === undefined) return sentence(heard, '.', stuck);
  return warning(
    heard,
    '; about a mail sent at ',
    time(since),
    ' there is none. ',
    stuck,
    ' Runbook: ',
    runbook('feedback-silent'),
  );
};

const underWaySentence = ({ underWay, oldestUnderWayAt, isPart }: Overview): Html =>
  sentence(
    underWay === 0
      ? 'No dispatch is under way'
      : [underWay, underWay === 1 ? ' dispatch is under way' : ' dispatches are under way'],
    oldestUnderWayAt !== undefined && [', the oldest since ', time(oldestUnderWayAt)],
    '.',
    isPart && ' There are more than were looked at: only the newest are counted.',
  );

const troubles = (place: Place, { inTrouble, moreInTrouble }: Overview): HtmlValue => {
  if (inTrouble.length === 0) return sentence('None.');
  return [
    table(
      ['dispatch', 'scenario', 'status', 'why', 'recipients', 'since'],
      inTrouble.map((each) => row(place, each)),
    ),
    moreInTrouble > 0 && sentence('And ', moreInTrouble, ' more.'),
  ];
};

const row = (place: Place, { dispatch, trouble }: DispatchInTrouble): readonly HtmlValue[] => {
  const { dispatchId, scenarioId, status, counts, total } = dispatch;
  return [
    [html`<code>${dispatchId}</code> `, storyButton(place, 'Story', { dispatchId })],
    scenarioId,
    status,
    why(dispatch, trouble.kind),
    counts === undefined ? [total, ' in all'] : countsText(counts),
    time(trouble.since),
  ];
};

const why = ({ failureReason, faultCode, counts }: Dispatch, kind: DispatchInTrouble['trouble']['kind']): HtmlValue => {
  switch (kind) {
    case 'stopped':
      return ['stopped: ', failureReason ?? 'no reason stored', faultCode !== undefined && [' (', faultCode, ')']];
    case 'recipients':
      if (counts === undefined || counts.FAILED > 0) return 'some mails were not sent';
      return counts.UNKNOWN > 0 ? 'of some mails nobody knows whether they were sent' : 'many of its mails bounced';
    case 'unmoved':
      return 'nothing has moved for an hour';
  }
};

/** Recipients by state, without the states that none is in. */
export const countsText = (counts: Counts): string => {
  const there = RECIPIENT_STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return there.length === 0 ? 'none' : there.join(', ');
};
