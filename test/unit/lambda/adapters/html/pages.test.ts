import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { detailsPage, refusalPage } from '../../../../../lambda/adapters/html/details-page.ts';
import type { Place } from '../../../../../lambda/adapters/html/frame.ts';
import { render } from '../../../../../lambda/adapters/html/html.ts';
import { overviewPage } from '../../../../../lambda/adapters/html/overview-page.ts';
import type { Details, Overview, RecipientSeen } from '../../../../../lambda/application/ports/queries.ts';
import { type Counts, type Dispatch, NO_DELIVERIES } from '../../../../../lambda/domain/dispatch/dispatch.ts';
import type { Recipient } from '../../../../../lambda/domain/recipient/recipient.ts';
import { RUNBOOK_SECTIONS, SECTIONS_WITHOUT_ALARM } from '../../../../../lib/monitoring/runbook.ts';
import {
  anAttempt,
  aRecipient,
  cancelled,
  exhausted,
  failed,
  pending,
  processing,
  sent,
  someCounts,
  unknown,
} from '../../../../support/builders.ts';
import { T0 } from '../../../../support/clock.ts';
import { anOverview, aTrouble, LONG_ID, someDetails } from '../../../../support/show-builders.ts';

const PLACE: Place = { endpoint: 'arn:aws:lambda:eu-west-1:123456789012:function:show', theme: 'light' };
const IMG = '<img src=x onerror=alert(1)>';
const MINUTE = 60_000;
const at = (minutes: number) => new Date(T0 + minutes * MINUTE).toISOString();

/** What a person reads: without style, tags, and what only CloudWatch reads. */
const read = (html: string): string =>
  html
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<cwdb-action.*?<\/cwdb-action>/g, '')
    .replaceAll(/<\/(p|h3|tr)>/g, '\n')
    .replaceAll(/<\/?(code|time|b)>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/[ \t]+/g, ' ');

const overview = (seen: Partial<Overview> = {}): string => read(render(overviewPage(PLACE, anOverview(seen))));
const details = (dispatch: Partial<Dispatch> = {}, more: Partial<Omit<Details, 'dispatch'>> = {}): string =>
  read(render(detailsPage(PLACE, someDetails(dispatch, more))));
const ofRecipient = (recipient: Recipient, more: Partial<RecipientSeen> = {}, dispatch: Partial<Dispatch> = {}): string =>
  details(dispatch, { recipient: aRecipient(recipient, { email: 'k…@example.com', ...more }) });

describe('the overview', () => {
  it('says that all is well', () => {
    const text = overview();

    expect(text).toContain('Mails are sent.');
    expect(text).toContain(`Recovery last passed at ${at(-1)}.`);
    expect(text).toContain(`SES’s events are applied up to mails sent at ${at(-0.5)}.`);
    expect(text).toContain('No dispatch is under way.');
    expect(text).toContain('Dispatches in trouble\n None.');
    expect(text).not.toContain('Runbook');
  });

  it.each<[string, Overview['sending'], string]>([
    [
      'an operator, why and since when',
      { version: 1, pause: { by: 'operator', who: 'op-1', since: T0, reason: 'SES moves' } },
      `Sending is paused by op-1 since ${at(0)}: “SES moves”. It stays so until an operator resumes it. Runbook: docs/runbook.md#sending-paused`,
    ],
    [
      'an operator without a reason',
      { version: 1, pause: { by: 'operator', who: 'op-1', since: T0 } },
      `Sending is paused by op-1 since ${at(0)}, without a reason given.`,
    ],
    [
      'the service, until it tries again',
      { version: 1, pause: { by: 'service', code: 'ACCOUNT_SENDING_PAUSED', since: T0, until: T0 + MINUTE, seconds: 60 } },
      `Sending is paused by the service itself since ${at(0)}, for ACCOUNT_SENDING_PAUSED. One mail tries again at ${at(1)}.`,
    ],
    [
      'the service, and that it may try again',
      { version: 1, pause: { by: 'service', code: 'ACCESS_DENIED', since: T0, until: T0, seconds: 60 } },
      'for ACCESS_DENIED. One mail may try again now.',
    ],
    ['nobody any more', { version: 2, resumedAt: T0 }, `Mails are sent, since a pause ended at ${at(0)}.`],
  ])('says that sending is paused by %s', (_, sending, sentence) => {
    expect(overview({ sending })).toContain(sentence);
  });

  it('says when recovery is overdue, but not while it rests', () => {
    expect(overview({ lastPassAt: T0 - 16 * MINUTE })).toContain(
      `Recovery last passed at ${at(-16)}, and should do so every five minutes. Runbook: docs/runbook.md#sweep-silent`,
    );
    expect(overview({ lastPassAt: undefined })).toContain('Recovery has never passed, and should');
    const pause = { by: 'operator', who: 'op-1', since: T0 } as const;
    expect(overview({ lastPassAt: T0 - 99 * MINUTE, sending: { version: 1, pause } })).toContain('; it rests while sending is');
  });

  it('does not call recovery overdue while a long round goes on', () => {
    const text = overview({ lastPassAt: T0 - 40 * MINUTE, roundProgressAt: T0 - 4 * MINUTE });

    expect(text).toContain(
      `Recovery last passed at ${at(-40)}. A round that takes several passes last inspected a dispatch at ${at(-4)}.`,
    );
    expect(text).not.toContain('sweep-silent');
    expect(overview({ lastPassAt: T0 - 40 * MINUTE, roundProgressAt: T0 - 16 * MINUTE })).toContain('sweep-silent');
  });

  it('says when events do not come, by the rule of the alarm, and when some are stuck', () => {
    const feedback = { watermark: T0 - 9 * MINUTE, unapplied: [] };

    expect(overview({ feedback, newestSentAt: T0 - 5 * MINUTE })).toContain(
      `SES’s events are applied up to mails sent at ${at(-9)}, but SES took mails until ${at(-5)} whose events are due. Runbook: docs/runbook.md#feedback-silent`,
    );
    expect(overview({ feedback, newestSentAt: T0 - 7 * MINUTE })).toContain(`mails sent at ${at(-9)}.`);
    expect(overview({ feedback, newestSentAt: undefined })).not.toContain('Runbook');
    expect(overview({ feedback: { unapplied: [{ sentAt: T0 }] }, newestSentAt: T0 })).toContain(
      `No event of SES was ever applied, but SES took mails until ${at(0)} whose events are due. Events about 1 mail could not be`,
    );
  });

  it('says what it could not read', () => {
    const text = overview({ sending: 'unavailable', lastPassAt: 'unavailable', feedback: 'unavailable' });

    expect(text.match(/the table gave no answer/g)).toHaveLength(3);
  });

  it('says how many dispatches are under way, and that it did not look at all', () => {
    expect(overview({ underWay: 1, oldestUnderWayAt: T0 })).toContain(`1 dispatch is under way, the oldest since ${at(0)}.`);
    expect(overview({ underWay: 300, isPart: true })).toContain('300 dispatches are under way. There are more than');
  });

  it.each<[string, Parameters<typeof aTrouble>, string]>([
    [
      'stopped, and for what',
      [{ failureReason: 'permanent-failures', faultCode: 'MESSAGE_REJECTED', counts: someCounts({ FAILED: 12, SENT: 1 }) }],
      `STOPPED stopped: permanent-failures (MESSAGE_REJECTED) 1 SENT, 12 FAILED ${at(0)}`,
    ],
    ['stopped as stale', [{ failureReason: 'stale', total: 9 }], `STOPPED stopped: stale 9 in all ${at(0)}`],
    [
      'short of some mails',
      [{ status: 'COMPLETED', counts: someCounts({ FAILED: 1 }) }, { kind: 'recipients' }],
      'COMPLETED 1 mail was not sent 1 FAILED',
    ],
    [
      'unsure of some mails',
      [{ status: 'COMPLETED', counts: someCounts({ UNKNOWN: 1 }) }, { kind: 'recipients' }],
      'COMPLETED of 1 mail nobody knows whether it was sent 1 UNKNOWN',
    ],
    [
      'full of bounces',
      [
        { status: 'COMPLETED', counts: someCounts({ SENT: 30 }), deliveries: { ...NO_DELIVERIES, bounced: 15 } },
        { kind: 'recipients' },
      ],
      'COMPLETED 15 mails bounced permanently 30 SENT',
    ],
    [
      'short, in two ways',
      [{ status: 'COMPLETED', counts: someCounts({ FAILED: 2, UNKNOWN: 3 }) }, { kind: 'recipients' }],
      'COMPLETED 2 mails were not sent; of 3 mails nobody knows whether it was sent',
    ],
    [
      'to be looked at, and nobody counted why',
      [{ status: 'COMPLETED', counts: someCounts({ SENT: 20 }) }, { kind: 'recipients' }],
      'COMPLETED a person should look at it 20 SENT',
    ],
    ['unmoved', [{ status: 'IN_PROGRESS' }, { kind: 'unmoved' }], 'IN_PROGRESS nothing has moved for an hour'],
  ])('lists a dispatch that is %s', (_, trouble, row) => {
    expect(overview({ inNeed: [aTrouble(...trouble)], moreInNeed: 7 })).toMatch(/And 7 more/);
    expect(overview({ inNeed: [aTrouble(...trouble)] }).replaceAll(/\s+/g, ' ')).toContain(`${LONG_ID} Story interview ${row}`);
  });

  it('marks a test among them', () => {
    expect(overview({ inNeed: [aTrouble({ isTest: true })] })).toContain('interview (a test)');
    expect(overview({ inNeed: [aTrouble()] })).not.toContain('a test');
  });

  it('says beside the list that not all were looked at', () => {
    expect(overview({ isPart: true })).toContain('None among the newest, and not all were looked at.');
    expect(overview({ isPart: true, inNeed: [aTrouble()] })).toContain('There may be older ones: not all were looked at.');
    expect(overview({ inNeed: [aTrouble()] })).not.toContain('looked at');
  });

  it('says of each when it was stopped or ended, or else when it last moved', () => {
    expect(overview({ inNeed: [aTrouble()] })).toMatch(/recipients\s+stopped, ended or last moved/);
  });
});

describe('the way on', () => {
  const actions = (html: string) => [
    ...html.matchAll(/<a class="([^"]*)">([^<]*)<\/a><cwdb-action ([^>]*)>(.*?)<\/cwdb-action>/g),
  ];

  it('leads from each dispatch in trouble to its story', () => {
    const html = render(overviewPage(PLACE, anOverview({ inNeed: [aTrouble()] })));
    const [row, lookUp] = actions(html);

    expect(row?.slice(1)).toEqual([
      'btn',
      'Story',
      `action="call" endpoint="${PLACE.endpoint}"`,
      `{"show":"story","dispatchId":"${LONG_ID}"}`,
    ]);
    expect(lookUp?.slice(1)).toEqual([
      'btn btn-primary',
      'Look up',
      `action="call" endpoint="${PLACE.endpoint}"`,
      '{"show":"typed"}',
    ]);
  });

  it('leads back from a story and from a refusal', () => {
    for (const page of [detailsPage(PLACE, someDetails()), refusalPage(PLACE, 'There is no dispatch with that id.')]) {
      expect(actions(render(page))[0]?.slice(2)).toEqual([
        'Back to the overview',
        `action="call" endpoint="${PLACE.endpoint}"`,
        '{"show":"overview"}',
      ]);
    }
  });

  it('asks by a form that has no action of its own, and keeps what was asked', () => {
    const html = render(detailsPage({ ...PLACE, given: { dispatchId: LONG_ID, applyId: IMG } }, someDetails()));

    expect(html).toMatch(/<form class="look-up">/);
    expect(html).toContain(`value="${LONG_ID}"`);
    expect(html).toContain('value="&lt;img src=x onerror=alert(1)&gt;"');
  });

  it('keeps what was refused, as text', () => {
    const html = render(refusalPage({ ...PLACE, given: { dispatchId: IMG, applyId: 'a-1' } }, 'No.'));

    expect(html).toContain('value="&lt;img src=x onerror=alert(1)&gt;"');
    expect(html).toContain('value="a-1"');
  });

  it('takes along what the page shows', () => {
    const html = render(detailsPage({ ...PLACE, shown: `${LONG_ID} "a` }, someDetails()));

    expect(html).toContain(`<input type="hidden" name="shown" value="${LONG_ID} &quot;a" />`);
  });
});

describe('the story of a dispatch', () => {
  it('says whose it is, when, and how far it got', () => {
    const text = details(
      {
        adminId: 'k…@example.com',
        isTest: true,
        completedAt: T0 + MINUTE,
      },
      { counts: someCounts({ SENT: 3 }), deliveries: { ...NO_DELIVERIES, bounced: 2, delivered: 1, 'soft-bounced': 3 } },
    );

    expect(text).toContain('Scenario interview, recruit r-1, asked for by k…@example.com, as a test. 3 recipients: 3 SENT.');
    expect(text).toContain('What SES’s events tell of their mails: 3 soft-bounced, 1 delivered, 2 bounced.');
    expect(text).toMatch(new RegExp(`accepted ${at(0)}`));
    expect(text).toMatch(new RegExp(`completed ${at(1)}`));
  });

  it.each<[string, Partial<Dispatch>, string]>([
    ['accepted', { status: 'ACCEPTED' }, 'ACCEPTED: accepted, and no mail has been tried yet.'],
    ['under way', { status: 'IN_PROGRESS' }, 'IN_PROGRESS: its mails are being sent.'],
    ['all sent', { status: 'COMPLETED', outcome: 'all-sent', needsAttention: false }, 'COMPLETED: all mails were sent.'],
    ['partly sent', { status: 'COMPLETED', outcome: 'partly-sent' }, 'COMPLETED: some mails were sent.'],
    ['not sent', { status: 'COMPLETED', outcome: 'none-sent' }, 'COMPLETED: no mail was sent.'],
    ['completed', { status: 'COMPLETED' }, 'COMPLETED: no recipient is left to send to.'],
    [
      'stopped by refusals',
      { status: 'STOPPED', failureReason: 'permanent-failures', faultCode: 'MESSAGE_REJECTED' },
      'STOPPED: SES refused at least ten of its mails and more than half. All of them with MESSAGE_REJECTED.',
    ],
    [
      'stopped by bounces',
      { status: 'STOPPED', failureReason: 'high-bounce-rate' },
      'STOPPED: more than ten of its mails bounced',
    ],
    [
      'stopped by complaints',
      { status: 'STOPPED', failureReason: 'high-complaint-rate' },
      'STOPPED: more than five of its mails were marked as spam',
    ],
    ['stopped as stale', { status: 'STOPPED', failureReason: 'stale' }, 'was due for more than a day'],
    ['stopped for no known reason', { status: 'STOPPED' }, 'STOPPED: no reason is stored.'],
    ['cancelled', { status: 'CANCELLED' }, 'CANCELLED: nothing of it is sent any more.'],
  ])('says that it is %s', (_, dispatch, sentence) => {
    expect(details(dispatch)).toContain(sentence);
  });

  it.each<[string, Partial<Dispatch>, Partial<Counts>, string]>([
    [
      'some failed',
      { outcome: 'partly-sent' },
      { SENT: 2, FAILED: 1 },
      'some mails were sent. A person should look: 1 mail was not sent.',
    ],
    ['all failed', { outcome: 'none-sent' }, { FAILED: 3 }, 'no mail was sent. A person should look: 3 mails were not sent.'],
    [
      'of some nobody knows',
      { outcome: 'partly-sent' },
      { SENT: 2, UNKNOWN: 2 },
      'look: of 2 mails nobody knows whether it was sent.',
    ],
    [
      'it is cancelled',
      { status: 'CANCELLED' },
      { CANCELLED: 2, FAILED: 2 },
      'any more. A person should look: 2 mails were not sent.',
    ],
  ])('says why a person should look when %s', (_, dispatch, counts, sentence) => {
    expect(details({ status: 'COMPLETED', needsAttention: true, ...dispatch }, { counts: someCounts(counts) })).toContain(
      sentence,
    );
  });

  it('says that mails bounced when all were sent, and where that is explained', () => {
    const bounced = (n: number) =>
      details(
        { status: 'COMPLETED', outcome: 'all-sent', needsAttention: n > 10 },
        { counts: someCounts({ SENT: 30 }), deliveries: { ...NO_DELIVERIES, bounced: n } },
      );

    expect(bounced(15)).toContain('COMPLETED: all mails were sent. A person should look: 15 mails bounced permanently.');
    expect(bounced(15)).toMatch(/Correct the addresses that bounced .* Runbook: docs\/runbook\.md#bounce-rate/);
    expect(bounced(2)).not.toMatch(/A person|Runbook/);
  });

  it('says that mails were complained about, and where that is explained', () => {
    const complained = (n: number) =>
      details(
        { status: 'COMPLETED', outcome: 'all-sent', needsAttention: n > 5 },
        { counts: someCounts({ SENT: 30 }), deliveries: { ...NO_DELIVERIES, complained: n } },
      );

    expect(complained(6)).toContain('A person should look: 6 mails were marked as spam.');
    expect(complained(6)).toMatch(/Never write again .* Runbook: docs\/runbook\.md#complaint-rate/);
    expect(complained(5)).not.toMatch(/A person|Runbook/);
  });

  it('says what is left to do, and by whom', () => {
    const counts = someCounts({ FAILED: 2, UNKNOWN: 1 });
    const text = details(
      { status: 'STOPPED', stoppedAt: T0 },
      {
        counts,
        pendingBatches: 2,
        pendingTasks: [
          { task: 1, kind: 'resume', requestedAt: T0 },
          { task: 2, kind: 'export', requestedAt: T0 },
        ],
      },
    );

    expect(text).toContain('2 batches of recipients are not in the table as rows yet.');
    expect(details({}, { pendingBatches: 1 })).toContain('1 batch of recipients is not in the table as rows yet.');
    expect(text).toContain(`Not done yet: resume (task 1), asked for at ${at(0)}, export (task 2), asked for at ${at(0)}.`);
    expect(text).toContain(`POST /dispatches/${LONG_ID}/resume, or POST /dispatches/${LONG_ID}/cancel.`);
    expect(text).toContain('docs/runbook.md#dispatch-stopped');
    expect(text).toContain(
      `Who FAILED, and why: GET /dispatches/${LONG_ID}/recipients?status=FAILED. Runbook: for the code ATTEMPTS_EXHAUSTED docs/runbook.md#send-dead-letters, for any other docs/runbook.md#mails-refused`,
    );
    expect(text).toContain('docs/runbook.md#outcome-unknown');
    expect(text).not.toContain('/retry');
    expect(details({ status: 'COMPLETED' }, { counts })).toContain(`Once the cause is cured: POST /dispatches/${LONG_ID}/retry.`);
    expect(details({}, { counts: someCounts({ SENT: 3 }) })).not.toContain('Runbook');
  });

  it('leads to the recipients to look into, and from a recipient to the whole', () => {
    const badRecipients = [
      { applyId: IMG, status: 'FAILED', delivery: 'none', code: 'MESSAGE_REJECTED' },
      { applyId: 'b-1', status: 'SENT', delivery: 'bounced' },
    ] as const;
    const html = render(detailsPage(PLACE, someDetails({}, { badRecipients })));
    const text = read(html).replaceAll(/\s+/g, ' ');

    expect(text).toContain('Recipients to look into, the first 2 recipient status delivery code');
    expect(text).toContain('onerror=alert(1)&gt; Story FAILED MESSAGE_REJECTED b-1 Story SENT bounced');
    const clicks = [...html.matchAll(/>(\{"show":"story".*?)<\/cwdb-action>/g)].map(([, words = '']): unknown =>
      JSON.parse(words),
    );
    expect(clicks).toEqual(badRecipients.map(({ applyId }) => ({ show: 'story', dispatchId: LONG_ID, applyId })));
    expect(render(detailsPage(PLACE, someDetails({}, { recipient: 'no-recipient' })))).toContain(
      `>{"show":"story","dispatchId":"${LONG_ID}"}<`,
    );
  });

  it('says that it has no such recipient', () => {
    expect(details({}, { recipient: 'no-recipient' })).toContain('This dispatch has no recipient with that applyId, or not yet.');
  });
});

describe('the story of a recipient', () => {
  const lost = anAttempt({ outcome: 'unclear', code: 'TIMED_OUT' });

  it.each<[string, string, string]>([
    ['waits for its turn', ofRecipient(pending()), `Due since ${at(0)}, and waits for its turn.`],
    [
      'waits for its next attempt',
      ofRecipient(pending({ nextAttemptAt: T0 + MINUTE, lastErrorCode: 'NOT_CONNECTED' })),
      `Waits for its next attempt, which is due at ${at(1)}. The last attempt ended with NOT_CONNECTED.`,
    ],
    ['waits in a stopped dispatch', ofRecipient(pending(), {}, { status: 'STOPPED' }), 'waits until that is resumed.'],
    ['waits in a cancelled dispatch', ofRecipient(pending(), {}, { status: 'CANCELLED' }), 'it becomes CANCELLED soon.'],
    [
      'is in hand',
      ofRecipient(processing()),
      `A sender has it in hand. Should nothing come of it, its lease ends at ${at(5)}; then`,
    ],
    [
      'has lost its answer',
      ofRecipient(processing(), { attempts: [lost] }),
      `No answer of SES came that says whether it took the mail (TIMED_OUT). Waiting for its lease to end at ${at(5)}; then SES’s events decide whether`,
    ],
    [
      'was answered with a failure',
      ofRecipient(processing(), { attempts: [anAttempt({ outcome: 'unclear', code: 'SERVICE_ERROR', answered: true })] }),
      `SES answered with an error that leaves open whether it took the mail (SERVICE_ERROR). Waiting for its lease to end at ${at(5)}; then`,
    ],
    [
      'has an outcome that is open',
      ofRecipient(processing({ lease: { token: 'ours', until: T0 } }), { attempts: [lost] }),
      `Its lease ended at ${at(0)} with the outcome open: next, SES’s events decide whether SES took the mail.`,
    ],
    ['was sent', ofRecipient(sent()), `SES took the mail at ${at(0)} as ses-1.`],
    [
      'was refused',
      ofRecipient(failed()),
      `Refused for good at ${at(0)} with MESSAGE_REJECTED. A retry sends again once the cause is cured. Runbook: docs/runbook.md#mails-refused`,
    ],
    [
      'ran out of attempts',
      ofRecipient(exhausted(), { attempts: [lost, anAttempt({ n: 2 })] }),
      `All attempts of round 1 were used up at ${at(0)}, the last with TIMED_OUT. Redrive its dead letter, or retry. Runbook: docs/runbook.md#send-dead-letters`,
    ],
    [
      'is unknown, whether the answer was lost or was a failure of SES',
      ofRecipient(unknown()),
      `SES was asked to send the mail. By ${at(0)} neither an answer nor an event of SES had said whether it took the mail.`,
    ],
    [
      'is unknown',
      ofRecipient(unknown()),
      'Nothing sends again on a guess; a late event still settles it. Runbook: docs/runbook.md#outcome-unknown',
    ],
    ['is cancelled', ofRecipient(cancelled), `Cancelled at ${at(0)}: no mail goes out.`],
  ])('says in a sentence that it %s', (_, text, sentence) => {
    expect(text).toContain(sentence);
  });

  it.each(['failed', 'exhausted'] as const)('of one that %s advises nothing that its dispatch does not allow', (how) => {
    const recipient = how === 'failed' ? failed() : exhausted();
    const words = (status: Dispatch['status']) => ofRecipient(recipient, {}, { status });

    expect(words('CANCELLED')).toContain('Its dispatch is cancelled: nothing of it is sent again.');
    expect(words('STOPPED')).toContain('Its dispatch is stopped: nothing of it is sent before that is resumed.');
    for (const status of ['CANCELLED', 'STOPPED'] as const) expect(words(status)).not.toMatch(/A retry sends|Redrive its/);
    expect(words('COMPLETED')).toMatch(/A retry sends|Redrive its/);
  });

  it.each([
    ['resend', 'IN_PROGRESS', 'the mail is sent once more, also to one who has it'],
    ['resend', 'CANCELLED', 'it is CANCELLED or UNKNOWN'],
    ['resend', 'STOPPED', 'it waits until its dispatch is resumed'],
    ['manual', 'IN_PROGRESS', 'it is UNKNOWN, and a person decides'],
  ] as const)('says what follows a lost answer under the policy “%s” in a dispatch that is %s', (unclearPolicy, status, then) => {
    const words = (until: number) =>
      details(
        { status },
        { unclearPolicy, recipient: aRecipient(processing({ lease: { token: 'ours', until } }), { attempts: [lost] }) },
      );

    expect(words(T0 + MINUTE)).toContain(`lease to end at ${at(1)}; then ${then}`);
    expect(words(T0)).toContain(`with the outcome open: next, ${then}`);
    expect(words(T0)).not.toContain('events decide');
  });

  it.each([
    ['none', 'No event tells yet how far it got.'],
    ['delayed', 'SES keeps trying.'],
    ['soft-bounced', 'The address may still be right.'],
    ['delivered', 'The receiving server took it.'],
    ['rejected', 'SES threw it away'],
    ['suppressed', 'on a suppression list'],
    ['bounced', 'refused it for good'],
    ['complained', 'marked it as spam'],
  ] as const)('says what delivery “%s” means', (delivery, words) => {
    expect(ofRecipient(sent(), { delivery })).toMatch(new RegExp(`Delivery: ${delivery}\\. .*${words}`));
  });

  it('names the attempts that may have sent the mail of one that is UNKNOWN, and warns of another copy', () => {
    const attempts = [
      anAttempt({ outcome: 'unclear', code: 'TIMED_OUT' }),
      anAttempt({ n: 2, outcome: 'retry', code: 'NOT_CONNECTED' }),
      anAttempt({ n: 3, startedAt: T0 + MINUTE }),
    ];
    const text = ofRecipient(unknown(), { attempts });

    expect(text).toContain(
      `attempt 1 of round 1, started at ${at(0)} (no answer of SES said whether it took the mail, TIMED_OUT); attempt 3 of round 1`,
    );
    expect(text).toContain(
      `started at ${at(1)} (the sender stopped before it recorded an answer). A retry may send another copy.`,
    );
    expect(text).not.toContain('attempt 2 of round 1, started');
  });

  it.each([
    ['FAILED', failed(), 'A retry may send another copy.'],
    ['SENT', sent(), 'The recipient may have more than one copy.'],
  ] as const)('names the attempts that may have sent the mail of one that is %s, too', (_status, recipient, meaning) => {
    const text = ofRecipient(recipient, { attempts: [anAttempt({ outcome: 'unsent' }), anAttempt({ n: 2, outcome: 'sent' })] });

    expect(text).toContain(`attempt 1 of round 1, started at ${at(0)} (SES published no event about it). ${meaning}`);
    expect(ofRecipient(recipient, { attempts: [anAttempt({ outcome: 'sent' })] })).not.toContain(meaning);
  });

  it('tells who settled it, and not how that person knows', () => {
    const settled = { as: 'sent', who: 'op-1', at: T0, note: 'Kim Lee says so' } as const;
    const { status, round, attemptCount, sentAt } = sent();
    const text = ofRecipient({ status, round, attemptCount, sentAt }, { settled });

    expect(text).toContain('By a person’s word the mail was sent; SES itself has said nothing of it.');
    expect(text).toContain(`Settled as sent by op-1 at ${at(0)}.`);
    expect(text).not.toContain('Kim Lee');
    expect(ofRecipient(failed({ lastErrorCode: 'SETTLED_BY_OPERATOR' }))).toContain('By a person’s word the mail was not sent');
  });

  it('lists its attempts and what SES told, and never a lease', () => {
    const text = ofRecipient(sent(), {
      attempts: [
        anAttempt({ round: 1, n: 1, outcome: 'retry', code: 'NOT_CONNECTED', ms: 12 }),
        anAttempt({ round: 2, n: 1, outcome: 'sent', messageId: 'ses-1', lease: 'secret-lease' }),
        anAttempt({ round: 2, n: 2 }),
      ],
      events: [{ kind: 'bounce', messageId: 'ses-1', at: T0 + MINUTE, detail: 'Permanent/General', suppressed: true }],
    }).replaceAll(/\s+/g, ' ');

    expect(text).toContain(`1 1 ${at(0)} 12 ms retry NOT_CONNECTED`);
    expect(text).toContain(`2 1 ${at(0)} sent ses-1`);
    expect(text).toContain(`2 2 ${at(0)} open`);
    expect(text).toContain(`bounce ${at(1)} Permanent/General (suppressed) ses-1`);
    expect(text).not.toContain('secret-lease');
    expect(ofRecipient(pending())).toMatch(/No attempt has been made\.\s+No event about its delivery is stored\./);
  });

  it('names its address only by the first letter', () => {
    expect(ofRecipient(sent())).toContain('SENT, k…@example.com, round 1, attempt 1 of that round.');
    expect(ofRecipient(pending())).toContain('PENDING, k…@example.com, round 1, no attempt in it yet.');
  });
});

describe('whatever the data holds', () => {
  const pageOf = (text: string): string => {
    const overviewed = anOverview({
      sending: { version: 1, pause: { by: 'operator', who: text, since: T0, reason: text } },
      inNeed: [aTrouble({ scenarioId: text, faultCode: text })],
    });
    const recipient = aRecipient(failed({ lastErrorCode: text }), {
      applyId: text,
      email: text,
      attempts: [anAttempt({ code: text, messageId: text, outcome: 'failed' })],
      events: [{ kind: 'bounce', at: T0, messageId: text, detail: text }],
      settled: { as: 'failed', who: text, at: T0, note: text },
    });
    const told = someDetails(
      { adminId: text, scenarioId: text, recruitId: text, status: 'STOPPED', faultCode: text },
      { recipient, badRecipients: [{ applyId: text, status: 'FAILED', delivery: 'none', code: text }] },
    );
    const given = { dispatchId: text, applyId: text };
    return render(overviewPage(PLACE, overviewed)) + render(detailsPage({ ...PLACE, given, shown: text }, told));
  };
  const skeleton = (html: string) => (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replaceAll(/value="[^"]*"/g, ''));
  const plain = skeleton(pageOf('x'));

  it('no value makes a tag, an attribute or an action', () => {
    const hostile = fc.constantFrom(IMG, '</cwdb-action><cwdb-action>{}', '" autofocus x="', "'><script>", '</style>', '<!--');
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string()), (text) => {
        expect(skeleton(pageOf(text))).toEqual(plain);
      }),
      { numRuns: 60 },
    );
  });

  it('an applyId that is a tag is shown as it is written (S12)', () => {
    expect(pageOf(IMG)).toContain('<h3>Recipient <code>&lt;img src=x onerror=alert(1)&gt;</code></h3>');
    expect(pageOf(IMG)).not.toContain('<img');
  });

  it('nothing in a page runs, frames or leads away', () => {
    expect(pageOf('x')).not.toMatch(/<(script|iframe|use|object|embed)|\son\w+=|href=|javascript:/i);
  });

  it('every section of the runbook that a page names is there', () => {
    const pages = [
      overview({ sending: { version: 1, pause: { by: 'operator', who: 'x', since: T0 } } }),
      overview({ lastPassAt: undefined, feedback: { unapplied: [] }, newestSentAt: T0 }),
      details({ status: 'STOPPED' }, { counts: someCounts({ FAILED: 1, UNKNOWN: 1 }), recipient: aRecipient(unknown()) }),
      ofRecipient(exhausted()),
      ofRecipient(failed()),
      details({ status: 'COMPLETED' }, { counts: someCounts({ SENT: 11 }), deliveries: { ...NO_DELIVERIES, bounced: 11 } }),
    ].join('\n');
    const named = new Set([...pages.matchAll(/docs\/runbook\.md#([\w-]+)/g)].map(([, section]) => section));

    expect(named.size).toBeGreaterThanOrEqual(8);
    for (const section of named) expect([...RUNBOOK_SECTIONS, ...SECTIONS_WITHOUT_ALARM]).toContain(section);
  });
});

describe('the colours', () => {
  it.each(['light', 'dark'] as const)('are those of a %s dashboard', (theme) => {
    expect(render(overviewPage({ ...PLACE, theme }, anOverview()))).toContain(`<div class="mail-dispatch ${theme}">`);
  });
});
