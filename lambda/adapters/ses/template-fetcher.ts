import { GetEmailTemplateCommand, type SESv2Client } from '@aws-sdk/client-sesv2';

import { Unavailable } from '../../application/ports/errors.ts';
import type { TemplateFetcher } from '../../application/ports/provider.ts';
import type { SesFailure } from './classify.ts';
import { toSesFailure } from './ses-failure.ts';

export interface TemplateFetcherDeps {
  /** Makes one try: a repetition would take another caller's slot. */
  readonly client: SESv2Client;
  /** Put before the scenario's id. */
  readonly prefix: string;
}

/** Less than the lease of the caller. The SDK's own timeouts end with the answer's headers. */
const LONGEST_CALL_MS = 2_500;
const RETRY_AFTER_SECONDS = 2;

/** The templates that SES stores, one for each scenario. One call and no cache: whoever asks has booked a slot. */
export const createTemplateFetcher = ({ client, prefix }: TemplateFetcherDeps): TemplateFetcher => ({
  async fetch(scenarioId) {
    try {
      const command = new GetEmailTemplateCommand({ TemplateName: prefix + scenarioId });
      const { TemplateContent } = await client.send(command, { abortSignal: AbortSignal.timeout(LONGEST_CALL_MS) });
      const { Subject, Html, Text } = TemplateContent ?? {};
      return { subject: Subject ?? '', ...(Html && { html: Html }), ...(Text && { text: Text }) };
    } catch (error) {
      const failure = toSesFailure(error);
      if (isUnknown(failure)) return undefined;
      if (isTransient(failure) && isAwsError(error)) throw new Unavailable('SES', RETRY_AFTER_SECONDS, error);
      throw error;
    }
  },
});

/** BadRequest: no template can have such a name. */
const isUnknown = ({ name, httpStatus }: SesFailure): boolean => httpStatus === 404 || name === 'BadRequestException';

/** No answer, a broken one, trouble on the other side, or the account's limit on such calls. */
const isTransient = ({ name, httpStatus }: SesFailure): boolean =>
  httpStatus === undefined || httpStatus >= 500 || httpStatus < 300 || httpStatus === 429 || THROTTLES.has(name);

const THROTTLES: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'Throttling',
]);

/** AWS clients alone add $metadata; any other error is a bug of ours. */
const isAwsError = (error: unknown): boolean => error instanceof Error && '$metadata' in error;
