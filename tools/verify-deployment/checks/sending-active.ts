import { type Check, failed, passed } from '../check.ts';

type Problem = 'by-operator' | 'by-service' | 'quota';

/** Nothing holds mails back. */
export const sendingActive: Check<Problem> = {
  id: 'sending',
  name: 'Sending is active',
  needs: ['api'],
  advice: {
    'by-operator': 'An operator has paused sending. If that is over: PUT /sending {"paused": false}.',
    'by-service':
      'SES refuses the account and the service tries again by itself. Look the code up in docs/runbook.md, "Sending paused": the identity of fromAddress, the rights of the sender, or the account.',
    quota:
      'The 24-hour quota of SES is used up. Sending resumes by itself as the window moves; run the checks again then, or ask for a higher quota.',
  },
  run: async ({ dispatches }) => {
    const { paused, by, who, reason, code } = await dispatches.sending();
    if (!paused) return passed('GET /sending: not paused');
    if (by === 'operator')
      return failed('by-operator', `paused by ${who ?? 'an operator'}${reason === undefined ? '' : `: "${reason}"`}`);
    return failed(code?.includes('QUOTA') === true ? 'quota' : 'by-service', `paused by the service with ${code ?? 'no code'}`);
  },
};
