import { describeAnswer, problemOf } from '../api.ts';
import { type Check, failed, passed } from '../check.ts';
import { Accepted } from '../views.ts';

type Problem = 'not-replayed' | 'no-conflict';

/** The same key and body is the same dispatch; the same key with another body is refused. */
export const replay: Check<Problem> = {
  id: 'replay',
  name: 'Replay and conflict',
  needs: ['template'],
  advice: {
    'not-replayed':
      'A repeated request makes a second dispatch: clients that ask again would send twice. Do not send real mails; look at the log of AcceptDispatch.',
    'no-conflict':
      'A key that names one request is taken for another. Do not send real mails; look at the log of AcceptDispatch.',
  },
  run: async ({ dispatches }) => {
    const request = dispatches.request('replay', ['success']);
    const id = await dispatches.accepted(request);
    const again = await dispatches.post(request);
    const isSame = again.headers.get('idempotency-replayed') === 'true' && Accepted.safeParse(again.body).data?.id === id;
    if (again.status !== 200 || !isSame)
      return failed('not-replayed', `the same request again was answered ${describeAnswer(again)}`);

    const other = await dispatches.post({ key: request.key, body: dispatches.request('another', ['success']).body });
    if (other.status !== 409 || problemOf(other) !== 'idempotency-key-conflict') {
      return failed('no-conflict', `another body under the same key was answered ${describeAnswer(other)}`);
    }
    return passed('200 with the same id; 409 for another body');
  },
};
