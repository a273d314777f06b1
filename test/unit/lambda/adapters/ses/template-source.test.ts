import { GetEmailTemplateCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createTemplateSource } from '../../../../../lambda/adapters/ses/template-source.ts';
import { Unavailable } from '../../../../../lambda/application/accept-ports.ts';
import { createFakeClock, type FakeClock } from '../../../../support/clock.ts';
import { sdkError } from '../../../../support/dynamo.ts';

const ses = mockClient(SESv2Client);
let clock: FakeClock;
const source = () => createTemplateSource({ client: new SESv2Client({}), prefix: 'mail-', clock: clock.now });

beforeEach(() => {
  ses.reset();
  clock = createFakeClock();
});

const stored = (Subject: string) => ({
  TemplateName: 'mail-interview',
  TemplateContent: { Subject, Html: '<p>Hi</p>', Text: 'Hi' },
});
const asked = () => ses.commandCalls(GetEmailTemplateCommand).map(({ args }) => args[0].input);

describe('a scenario’s template', () => {
  it('is SES’s template of that name behind the prefix', async () => {
    ses.on(GetEmailTemplateCommand).resolves(stored('Interview'));

    expect(await source().find('interview')).toEqual({ subject: 'Interview', html: '<p>Hi</p>', text: 'Hi' });
    expect(asked()).toEqual([{ TemplateName: 'mail-interview' }]);
  });

  it('may have no HTML or no text', async () => {
    ses
      .on(GetEmailTemplateCommand)
      .resolves({ TemplateName: 'x', TemplateContent: { Subject: 'Interview', Html: '', Text: 'Hi' } });

    expect(await source().find('interview')).toEqual({ subject: 'Interview', text: 'Hi' });
  });

  it('is read again after 60 seconds and not before', async () => {
    ses.on(GetEmailTemplateCommand).resolvesOnce(stored('old')).resolves(stored('new'));
    const templates = source();

    await templates.find('interview');
    clock.advance(59_999);
    expect((await templates.find('interview'))?.subject).toBe('old');
    clock.advance(1);
    expect((await templates.find('interview'))?.subject).toBe('new');
    expect(asked()).toHaveLength(2);
  });

  it('is kept for each scenario', async () => {
    ses.on(GetEmailTemplateCommand).callsFake(({ TemplateName }: { TemplateName: string }) => stored(TemplateName));
    const templates = source();

    for (const id of ['a', 'b', 'a', 'b']) expect((await templates.find(id))?.subject).toBe(`mail-${id}`);
    expect(asked()).toHaveLength(2);
  });

  it('is not remembered as unknown, since it may be stored the next moment', async () => {
    ses.on(GetEmailTemplateCommand).rejectsOnce(sdkError('NotFoundException', 404)).resolves(stored('Interview'));
    const templates = source();

    expect(await templates.find('interview')).toBeUndefined();
    expect((await templates.find('interview'))?.subject).toBe('Interview');
  });

  it.each([
    ['NotFoundException', 404],
    // A name that no template can have.
    ['BadRequestException', 400],
    // Not every answer carries the name.
    ['Unknown', 404],
  ])('is unknown on %s %d', async (name, status) => {
    ses.on(GetEmailTemplateCommand).rejects(sdkError(name, status));

    expect(await source().find('interview')).toBeUndefined();
  });

  it.each([
    ['TooManyRequestsException', 429],
    ['ThrottlingException', 400],
    ['LimitExceededException', 400],
    ['InternalServiceErrorException', 500],
    ['SyntaxError', 503],
    ['TimeoutError', undefined],
    ['Error', undefined],
  ])('cannot be read for now on %s %s', async (name, status) => {
    ses.on(GetEmailTemplateCommand).rejects(sdkError(name, status));

    await expect(source().find('interview')).rejects.toBeInstanceOf(Unavailable);
  });

  it.each([
    ['a missing right', sdkError('AccessDeniedException', 403)],
    ['a bug of ours', new TypeError('x is not a function')],
  ])('lets %s through untouched', async (_name, error) => {
    ses.on(GetEmailTemplateCommand).rejects(error);

    await expect(source().find('interview')).rejects.toBe(error);
  });
});
