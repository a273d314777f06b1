import type { EventMail } from '../../../../../local/fake-ses/events/ses-event.ts';

/** A mail that the gate took. */
export const anEventMail = (messageId: string, to = 'kim@example.com'): EventMail => ({
  at: '2026-01-02T03:04:05.678Z',
  messageId,
  to: [to],
  from: 'Recruiting <hr@example.org>',
  replyTo: ['jobs@example.org'],
  subject: '합격',
  tags: { dispatchId: 'd-1', lease: 'l-1' },
  headers: [{ name: 'List-Unsubscribe', value: '<https://example.org/u>' }],
  configurationSetName: 'mails',
});
