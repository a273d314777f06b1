import type { Details, PendingTask } from '../../application/ports/queries.ts';
import { type Dispatch, type DispatchOutcome, isActive } from '../../domain/dispatch/dispatch.ts';
import type { StopReason } from '../../domain/dispatch/stop-rule.ts';
import { DELIVERY_STATES } from '../../domain/recipient/delivery.ts';
import { ATTEMPTS_EXHAUSTED } from '../../domain/recipient/recipient.ts';
import { countsText, numberOf, rateOf, reasonsToLook } from './counts-words.ts';
import { detailsButton, type Place, runbook, sentence, table, time, warning } from './frame.ts';
import { type Html, html, type HtmlValue } from './html.ts';

/** What became of a dispatch, and what to do about it. */
export const dispatchPart = (place: Place, details: Details): readonly HtmlValue[] => {
  const { dispatch, counts } = details;
  const { dispatchId, scenarioId, recruitId, adminId, isTest, total } = dispatch;
  return [
    html`<h3>Dispatch <code>${dispatchId}</code></h3>`,
    sentence(
      ['Scenario ', html`<code>${scenarioId}</code>`, ', recruit ', html`<code>${recruitId}</code>`],
      [', asked for by ', adminId, isTest && ', as a test', '. '],
      [numberOf(total, 'recipient'), ': ', countsText(counts), '.'],
    ),
    deliveriesSentence(details),
    statusSentence(details),
    timesTable(dispatch),
    leftSentences(details),
    nextSentences(details),
    badRecipientsTable(place, details),
  ];
};

/** How far the mails got that SES took, as far as its events tell. */
const deliveriesSentence = ({ deliveries }: Details): HtmlValue => {
  const known = DELIVERY_STATES.flatMap((state) => {
    const mails = state === 'none' ? 0 : deliveries[state];
    return mails > 0 ? [`${mails} ${state}`] : [];
  });
  return known.length > 0 && sentence('What SES’s events tell of their mails: ', known.join(', '), '.');
};

const OUTCOMES: Readonly<Record<DispatchOutcome, string>> = {
  'all-sent': 'all mails were sent',
  'partly-sent': 'some mails were sent',
  'none-sent': 'no mail was sent',
};

const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  'permanent-failures': 'SES refused at least ten of its mails and more than half',
  'high-bounce-rate': 'more than ten of its mails bounced permanently, and more than one in ten',
  'high-complaint-rate': 'more than five of its mails were marked as spam, and more than one in 200',
  stale: 'its mail was due for more than a day while nothing moved, and nobody has said that it should still go out',
  'recipients-unreadable': 'the stored list of some of its recipients is missing or damaged',
  'content-unreadable': 'its stored content is missing or damaged',
  'refused-though-account-works':
    'SES refused at least ten of its mails in a row and accepted other mails of this account meanwhile',
  'sender-not-configured': 'its mails are from an address that this service no longer sends from, and SES refuses them',
  'table-restored':
    'the table was restored, so mails of this dispatch that were sent after the restore point may be shown as not sent',
};

const statusSentence = (details: Details): Html => {
  const { status, outcome, failureReason, faultCode } = details.dispatch;
  const state = html`<b>${status}</b>`;
  switch (status) {
    case 'ACCEPTED':
      return sentence(state, ': accepted, and no mail has been tried yet.');
    case 'IN_PROGRESS':
      return sentence(state, ': its mails are being sent.');
    case 'COMPLETED':
      return endSentence(details, [
        state,
        ': ',
        outcome === undefined ? 'no recipient is left to send to' : OUTCOMES[outcome],
        '.',
      ]);
    case 'STOPPED':
      return warning(
        [state, ': ', failureReason === undefined ? 'no reason is stored' : STOP_WORDS[failureReason], '. '],
        faultCode !== undefined && ['All of them with ', html`<code>${faultCode}</code>`, '.'],
      );
    case 'CANCELLED':
      return endSentence(details, [state, ': nothing of it is sent any more.']);
  }
};

/** Says why a person should look, if one should. */
const endSentence = (details: Details, words: HtmlValue): Html => {
  if (details.dispatch.needsAttention !== true) return sentence(words);
  const reasons = reasonsToLook(details);
  return warning(words, reasons.length > 0 && [' A person should look: ', reasons.join('; '), '.']);
};

const timesTable = (dispatch: Dispatch): Html => {
  const times = [
    ['accepted', dispatch.createdAt],
    ['last seen to move', dispatch.status === 'COMPLETED' ? undefined : dispatch.lastProgressAt],
    ['stopped', dispatch.status === 'STOPPED' ? dispatch.stoppedAt : undefined],
    ['resumed', dispatch.resumedAt],
    ['cancelled', dispatch.cancelledAt],
    ['completed', dispatch.completedAt],
  ] as const;
  return table(
    ['what', 'when'],
    times.flatMap(([name, at]) => (at === undefined ? [] : [[name, time(at)]])),
  );
};

const leftSentences = ({ pendingTasks, pendingBatches }: Details): HtmlValue => [
  pendingBatches > 0 &&
    sentence(numberOf(pendingBatches, 'batch of recipients is', 'batches of recipients are'), ' not in the table as rows yet.'),
  pendingTasks.length > 0 &&
    sentence(
      'Not done yet: ',
      pendingTasks.map((task, i) => [i > 0 && ', ', taskText(task)]),
      '.',
    ),
];

const taskText = ({ kind, task, requestedAt }: PendingTask): HtmlValue => [
  kind,
  ' (task ',
  task,
  '), asked for at ',
  time(requestedAt),
];

/** What a person can do now; nothing when nothing is asked of one. */
const nextSentences = (details: Details): HtmlValue => {
  const { dispatchId, status } = details.dispatch;
  const { counts } = details;
  const path = `/dispatches/${dispatchId}`;
  const who = (state: string): Html => call(`GET ${path}/recipients?status=${state}`);
  return [
    status === 'STOPPED' && [
      sentence('Next: cure the cause, then ', call(`POST ${path}/resume`), ', or ', call(`POST ${path}/cancel`), '.'),
      sentence('Runbook: ', runbook('dispatch-stopped')),
    ],
    counts.FAILED > 0 &&
      sentence(
        ['Who FAILED, and why: ', who('FAILED'), '. Runbook: for the code ', html`<code>${ATTEMPTS_EXHAUSTED}</code>`, ' '],
        [runbook('send-dead-letters'), ', for any other ', runbook('mails-refused')],
      ),
    counts.FAILED > 0 && isActive(status) && sentence('Once the cause is cured: ', call(`POST ${path}/retry`), '.'),
    counts.UNKNOWN > 0 && sentence('Who is UNKNOWN: ', who('UNKNOWN'), '. Runbook: ', runbook('outcome-unknown')),
    rateOf(details) === 'high-complaint-rate' &&
      sentence('Never write again to those who complained. Runbook: ', runbook('complaint-rate')),
    rateOf(details) === 'high-bounce-rate' &&
      sentence('Correct the addresses that bounced before anything is sent to them again. Runbook: ', runbook('bounce-rate')),
  ];
};

/** Each leads to its own story. */
const badRecipientsTable = (place: Place, { dispatch: { dispatchId }, badRecipients }: Details): HtmlValue =>
  badRecipients.length > 0 && [
    html`<h3>Recipients to look into, the first ${badRecipients.length}</h3>`,
    table(
      ['recipient', 'status', 'delivery', 'code'],
      badRecipients.map(({ applyId, status, delivery, code }) => [
        [html`<code>${applyId}</code> `, detailsButton(place, 'Story', { dispatchId, applyId })],
        status,
        status === 'SENT' && delivery,
        code,
      ]),
    ),
  ];

const call = (request: string): Html => html`<code>${request}</code>`;
