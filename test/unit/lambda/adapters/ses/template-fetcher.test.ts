import { GetEmailTemplateCommand, SESv2Client } from '@aws-sdk/client-sesv2';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, it } from 'vitest';

import { createTemplateFetcher } from '../../../../../lambda/adapters/ses/template-fetcher.ts';
import { Unavailable } from '../../../../../lambda/application/ports/errors.ts';
import { sdkError } from '../../../../support/dynamo.ts';

const ses = mockClient(SESv2Client);
const fetcher = createTemplateFetcher({ client: new SESv2Client({}), prefix: 'mail-' });

beforeEach(() => {
  ses.reset();
});

const asked = () => ses.commandCalls(GetEmailTemplateCommand).map(({ args }) => args[0].input);

describe('a scenario’s template', () => {
  it('is SES’s template of that name behind the prefix', async () => {
    ses
      .on(GetEmailTemplateCommand)
      .resolves({ TemplateName: 'x', TemplateContent: { Subject: 'Interview', Html: '<p>Hi</p>', Text: 'Hi' } });

    expect(await fetcher.fetch('interview')).toEqual({ subject: 'Interview', html: '<p>Hi</p>', text: 'Hi' });
    expect(asked()).toEqual([{ TemplateName: 'mail-interview' }]);
  });

  it('may have no HTML or no text', async () => {
    ses
      .on(GetEmailTemplateCommand)
      .resolves({ TemplateName: 'x', TemplateContent: { Subject: 'Interview', Html: '', Text: 'Hi' } });

    expect(await fetcher.fetch('interview')).toEqual({ subject: 'Interview', text: 'Hi' });
  });

  it.each([
    ['NotFoundException', 404],
    // A name that no template can have.
    ['BadRequestException', 400],
    // Not every answer carries the name.
    ['Unknown', 404],
  ])('is unknown on %s %d', async (name, status) => {
    ses.on(GetEmailTemplateCommand).rejects(sdkError(name, status));

    expect(await fetcher.fetch('interview')).toBeUndefined();
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

    await expect(fetcher.fetch('interview')).rejects.toBeInstanceOf(Unavailable);
  });

  it.each([
    ['a missing right', sdkError('AccessDeniedException', 403)],
    ['a bug of ours', new TypeError('x is not a function')],
  ])('lets %s through untouched', async (_name, error) => {
    ses.on(GetEmailTemplateCommand).rejects(error);

    await expect(fetcher.fetch('interview')).rejects.toBe(error);
  });
});
