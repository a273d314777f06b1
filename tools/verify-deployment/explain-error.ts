import { describeAnswer, UnexpectedAnswer } from './api.ts';

/** What any check can meet, and what to do about it. */
export interface Explained {
  readonly saw: string;
  readonly advice: string;
}

const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'The API refuses the token. Get a fresh one of the stage’s issuer; the check "API and token" says more.',
  403: 'The token lacks a scope. It needs mail:send, mail:read and mail:operate (docs/deploy.md, section 4).',
  404: 'The address is not that of this API, or the route is not deployed. Compare the output ApiUrl of the stack.',
  409: 'The service already knows such a request. Run the checks again: each run has keys of its own.',
  413: 'The body is too large for the API. Use a smaller --large-count.',
  422: 'The service refuses a request that has no fault. If the stage limits whom it mails (allowedRecipients), allow simulator.amazonses.com; else compare the version of this tool with the deployed one.',
  429: 'The API throttles this client. Wait a minute and run the checks again.',
  500: 'A function failed. Look at the log of the function behind this route, and at the alarm on its errors.',
  503: 'The service cannot answer now. Look at the alarms on the table (throttled) and on SES reads; then run the checks again.',
};

const ACCESS = /AccessDenied|AuthorizationError|NotAuthorized|UnauthorizedOperation|AuthFailure/i;
const CREDENTIALS =
  /CredentialsProvider|ExpiredToken|UnrecognizedClient|InvalidClientTokenId|InvalidSignature|TokenProviderError/;

const isText = (value: unknown): value is string => typeof value === 'string';

/** AWS's text names the action and the resource; the principal before it is left out. */
const actionOf = (message: string): string => /perform: ?([a-z0-9]+:[A-Za-z]+)/.exec(message)?.[1] ?? 'this call';

const ofAws = (name: string, message: string): Explained | undefined => {
  if (ACCESS.test(name)) {
    const action = actionOf(message);
    return {
      saw: `AWS denied ${action} to the credentials in use`,
      advice: `Run the checks as an administrator of the account, or allow ${action} on the resources of this stage (docs/deploy.md, "Verify the deployment").`,
    };
  }
  if (message === 'Region is missing')
    return { saw: message, advice: 'Set the region of the stage: export AWS_REGION=eu-west-1.' };
  if (CREDENTIALS.test(name)) {
    return {
      saw: `the AWS credentials cannot be used (${name})`,
      advice: 'Sign in again (aws sso login), and set AWS_PROFILE and AWS_REGION.',
    };
  }
  return undefined;
};

const causeOf = ({ cause }: Error): string => {
  if (!(cause instanceof Error)) return '';
  return 'code' in cause && isText(cause.code) ? cause.code : cause.name;
};

/** Explains what a check threw. */
export const explainError = (error: unknown): Explained => {
  if (error instanceof UnexpectedAnswer) {
    return {
      saw: `${error.asked} was answered ${describeAnswer(error.answer)}`,
      advice: BY_STATUS[error.answer.status] ?? 'Look at the log of the function behind this route.',
    };
  }
  if (!(error instanceof Error)) return { saw: String(error), advice: 'Run the checks again.' };
  const known = ofAws(error.name, error.message);
  if (known !== undefined) return known;
  if (error.message === 'fetch failed' || error.name === 'TimeoutError') {
    return {
      saw: `no answer (${causeOf(error) || error.name})`,
      advice: 'The address cannot be reached from here. Check the network, the region, and that the stack is up.',
    };
  }
  return {
    saw: `${error.name}: ${error.message}`,
    advice: 'This is none of the problems the tool knows: read the text, and run the check alone with --only.',
  };
};
