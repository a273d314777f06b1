import { describe, expect, it } from 'vitest';

import { eventPlanOf } from '../../../../../local/fake-ses/events/event-plan.ts';
import { toSesEvent } from '../../../../../local/fake-ses/events/ses-event.ts';
import { anEventMail } from './support.ts';

/** The events of a mail to that address, as far as a person would tell them. */
const detailsOf = (address: string) =>
  eventPlanOf(address).map(({ kind, bounce }) => (bounce ? `${bounce.type}/${bounce.subType}` : kind));

describe('what happens to a mail', () => {
  it.each([
    ['kim@example.com', ['Send', 'Delivery']],
    ['success@simulator.amazonses.com', ['Send', 'Delivery']],
    ['ooto@simulator.amazonses.com', ['Send', 'Delivery', 'Transient/General']],
    ['unread-reply@simulator.localhost', ['Send', 'Delivery', 'Undetermined/Undetermined']],
    ['bounce@simulator.amazonses.com', ['Send', 'Permanent/General']],
    ['bounce+label@simulator.amazonses.com', ['Send', 'Permanent/General']],
    ['complaint@simulator.amazonses.com', ['Send', 'Delivery', 'Complaint']],
    ['suppressionlist@simulator.amazonses.com', ['Send', 'Permanent/Suppressed']],
    ['suppressed+1@simulator.localhost', ['Send', 'Permanent/OnAccountSuppressionList']],
    ['soft-bounce@simulator.localhost', ['Send', 'Transient/MailboxFull']],
    ['reject@simulator.localhost', ['Send', 'Reject']],
    ['delay@simulator.localhost', ['Send', 'DeliveryDelay']],
    ['rendering-failure@simulator.localhost', ['Rendering Failure']],
    ['bounce@simulator.localhost', ['Send', 'Permanent/General']],
    ['reset-after-accept@simulator.localhost', ['Send', 'Delivery']],
    ['reject@simulator.amazonses.com', ['Send', 'Delivery']],
  ])('to %s', (address, details) => {
    expect(detailsOf(address)).toEqual(details);
  });
});

const eventOf = (address: string, n: number) => {
  const happening = eventPlanOf(address)[n];
  if (happening === undefined) throw new Error(`there is no event ${n}`);
  return toSesEvent(anEventMail('m-1', address), address, happening);
};

describe('an event of SES', () => {
  it('tells of the mail: when SES took it, its id, its tags as lists', () => {
    expect(eventOf('kim@example.com', 0)).toEqual({
      eventType: 'Send',
      mail: {
        timestamp: '2026-01-02T03:04:05.678Z',
        source: 'Recruiting <hr@example.org>',
        sourceArn: 'arn:aws:ses:us-east-1:000000000000:identity/example.org',
        sendingAccountId: '000000000000',
        messageId: 'm-1',
        destination: ['kim@example.com'],
        headersTruncated: false,
        headers: [
          { name: 'From', value: 'Recruiting <hr@example.org>' },
          { name: 'Reply-To', value: 'jobs@example.org' },
          { name: 'To', value: 'kim@example.com' },
          { name: 'Subject', value: '합격' },
          { name: 'MIME-Version', value: '1.0' },
          { name: 'List-Unsubscribe', value: '<https://example.org/u>' },
        ],
        commonHeaders: {
          from: ['Recruiting <hr@example.org>'],
          replyTo: ['jobs@example.org'],
          to: ['kim@example.com'],
          messageId: 'm-1',
          subject: '합격',
        },
        tags: {
          'ses:operation': ['SendEmail'],
          'ses:configuration-set': ['mails'],
          'ses:source-ip': ['127.0.0.1'],
          'ses:from-domain': ['example.org'],
          'ses:caller-identity': ['local'],
          dispatchId: ['d-1'],
          lease: ['l-1'],
        },
      },
      send: {},
    });
  });

  it.each([
    ['kim@example.com', 1, { delivery: { recipients: ['kim@example.com'] } }],
    [
      'bounce@simulator.amazonses.com',
      1,
      {
        bounce: {
          bounceType: 'Permanent',
          bounceSubType: 'General',
          bouncedRecipients: [{ emailAddress: 'bounce@simulator.amazonses.com', status: '5.1.1' }],
        },
      },
    ],
    ['complaint@simulator.amazonses.com', 2, { complaint: { complaintSubType: null, complaintFeedbackType: 'abuse' } }],
    ['reject@simulator.localhost', 1, { reject: { reason: 'Bad content' } }],
    ['delay@simulator.localhost', 1, { deliveryDelay: { delayType: 'MailboxFull' } }],
    ['rendering-failure@simulator.localhost', 0, { failure: { templateName: 'local' } }],
  ])('has the part of its kind: %s', (address, n, part) => {
    expect(eventOf(address, n)).toMatchObject(part);
  });

  it('tells of an automatic reply without a report of a server', () => {
    const { bounce } = eventOf('ooto@simulator.amazonses.com', 2);

    expect(bounce).toMatchObject({ bouncedRecipients: [{ emailAddress: 'ooto@simulator.amazonses.com' }] });
    expect(JSON.stringify(bounce)).not.toMatch(/action|status|diagnosticCode|reportingMTA/);
  });

  it('is the same whenever it is made, so that a repeat is one', () => {
    expect(eventOf('complaint@simulator.amazonses.com', 2)).toEqual(eventOf('complaint@simulator.amazonses.com', 2));
  });
});
