import { GetEmailTemplateCommand, type SESv2Client } from '@aws-sdk/client-sesv2';

import { type TemplateSource, Unavailable } from '../../application/accept-ports.ts';
import type { Clock } from '../../application/ports.ts';
import type { TemplateParts } from '../../domain/content.ts';
import type { SesFailure } from './classify.ts';
import { toSesFailure } from './ses-failure.ts';

export interface TemplateSourceDeps {
  readonly client: SESv2Client;
  /** Put before the scenario's id. */
  readonly prefix: string;
  readonly clock: Clock;
}

/** GetEmailTemplate allows one call a second for the whole account; a change of a template is seen after this. */
const KEPT_MS = 60_000;
const MOST_KEPT = 100;
const RETRY_AFTER_SECONDS = 2;

/** The templates that SES stores, one for each scenario. */
export const createTemplateSource = ({ client, prefix, clock }: TemplateSourceDeps): TemplateSource => {
  const cache = new Map<string, { readonly template: TemplateParts; readonly until: number }>();

  return {
    async find(scenarioId) {
      const name = prefix + scenarioId;
      const kept = cache.get(name);
      if (kept !== undefined && kept.until > clock()) return kept.template;

      const readAt = clock();
      const template = await read(client, name);
      cache.delete(name);
      // A scenario that is unknown is not remembered: its template may be stored the next moment.
      if (template !== undefined) cache.set(name, { template, until: readAt + KEPT_MS });
      const oldest = cache.keys().next();
      if (cache.size > MOST_KEPT && oldest.done !== true) cache.delete(oldest.value);
      return template;
    },
  };
};

const read = async (client: SESv2Client, TemplateName: string): Promise<TemplateParts | undefined> => {
  try {
    const { TemplateContent } = await client.send(new GetEmailTemplateCommand({ TemplateName }));
    const { Subject, Html, Text } = TemplateContent ?? {};
    return { subject: Subject ?? '', ...(Html && { html: Html }), ...(Text && { text: Text }) };
  } catch (error) {
    const failure = toSesFailure(error);
    if (isUnknown(failure)) return undefined;
    if (isPassing(failure) && isOfAws(error)) throw new Unavailable('SES', RETRY_AFTER_SECONDS, error);
    throw error;
  }
};

/** BadRequest: no template can have such a name. */
const isUnknown = ({ name, httpStatus }: SesFailure): boolean => httpStatus === 404 || name === 'BadRequestException';

/** No answer, a broken one, trouble on the other side, or the account's limit on such calls. */
const isPassing = ({ name, httpStatus }: SesFailure): boolean =>
  httpStatus === undefined || httpStatus >= 500 || httpStatus < 300 || httpStatus === 429 || THROTTLES.has(name);

const THROTTLES: ReadonlySet<string> = new Set([
  'TooManyRequestsException',
  'LimitExceededException',
  'ThrottlingException',
  'Throttling',
]);

/** AWS clients alone add $metadata; any other error is a bug of ours. */
const isOfAws = (error: unknown): boolean => error instanceof Error && '$metadata' in error;
