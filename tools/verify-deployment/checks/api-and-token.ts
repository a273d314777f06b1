import { type Answer, describeAnswer } from '../api.ts';
import { type Check, failed, type Outcome, passed } from '../check.ts';
import { faultsOfToken, minutesLeft, readClaims } from '../token.ts';
import type { World } from '../world.ts';

type Problem = 'open' | 'refused' | 'no-scope' | 'expires-soon' | 'not-here';

/** A pause that cannot be ended because the token has expired would stop all mails of the stage. */
const LEAST_MINUTES = 20;

const explainRefusal = ({ target }: World, token: string): Outcome<Problem> => {
  const faults = faultsOfToken(token, target.expectedClaims, Date.now());
  return failed('refused', ['GET /dispatches was answered 401.', ...faults].join(' '));
};

/** Asks for something that each scope alone opens, and that changes nothing. */
const askEachScope = async ({ api }: World): Promise<readonly (readonly [string, Answer])[]> => [
  ['mail:read', await api.ask('GET', '/dispatches?limit=1')],
  // Without a key it is refused, after the scope was checked.
  ['mail:send', await api.json('POST', '/dispatches', {})],
  ['mail:operate', await api.ask('GET', '/dispatches?open=true&limit=1', { as: 'operator' })],
];

/** The API answers, asks for a token, and takes this one for all that the checks do. */
export const apiAndToken: Check<Problem> = {
  id: 'api',
  name: 'API and token',
  advice: {
    open: 'The API answers without a token: anybody can send mail. Delete the route or the stack now, and look for a route without the authorizer.',
    refused:
      'The API Gateway authorizer refuses the token. The setting issuer in cdk.json must equal iss to the character (a slash at the end counts), audience must be in aud, the token must be signed with RSA, and the issuer must publish /.well-known/openid-configuration. Correct the setting, deploy, and wait some minutes: keys are cached.',
    'no-scope': 'Get a token with the scopes mail:send, mail:read and mail:operate, or give a second one with --operator-token.',
    'expires-soon': `Get a fresh token: what the checks change must be put back with it. It should be good for ${LEAST_MINUTES} minutes at least.`,
    'not-here': 'Compare the address with the output ApiUrl of the stack, and the region.',
  },
  run: async (world) => {
    const { api, target } = world;
    const open = await api.ask('GET', '/dispatches?limit=1', { as: 'nobody' });
    if (open.status === 200) return failed('open', 'GET /dispatches without a token was answered 200');
    if (open.status !== 401)
      return failed('not-here', `GET /dispatches without a token was answered ${describeAnswer(open)}, not 401`);

    const answers = await askEachScope(world);
    const refusedToken = answers.find(([, { status }]) => status === 401);
    if (refusedToken !== undefined) {
      return explainRefusal(world, refusedToken[0] === 'mail:operate' ? target.tokens.operator : target.tokens.sender);
    }
    const missing = answers.filter(([, { status }]) => status === 403).map(([scope]) => scope);
    if (missing.length > 0) return failed('no-scope', `the API refuses what needs ${missing.join(', ')}`);
    const minutes = Math.min(...Object.values(target.tokens).map((token) => minutesLeft(readClaims(token) ?? {}, Date.now())));
    if (minutes < LEAST_MINUTES) return failed('expires-soon', `the token expires in ${minutes} minutes`);
    return passed(
      `401 without a token; the token has all scopes${Number.isFinite(minutes) ? ` and ${minutes} minutes left` : ''}`,
    );
  },
};
