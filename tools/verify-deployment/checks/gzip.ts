import { gzipSync } from 'node:zlib';

import { describeAnswer, problemOf } from '../api.ts';
import { type Check, failed, passed } from '../check.ts';

type Problem = 'no-gzip' | 'encoding';

/** Compressed bodies are taken in both forms, or refused with a reason in the one that API Gateway may destroy. */
export const gzip: Check<Problem> = {
  id: 'gzip',
  name: 'Compressed bodies',
  needs: ['template'],
  advice: {
    'no-gzip':
      'Large dispatches need Content-Type application/gzip. Look at the log of AcceptDispatch; a proxy in front of the API may unpack or refuse such bodies.',
    encoding:
      'application/json with Content-Encoding gzip is neither taken nor refused as invalid-encoding. Let clients send Content-Type application/gzip, which works, and look at the log of AcceptDispatch.',
  },
  run: async ({ dispatches }) => {
    const post = (name: string, headers: Readonly<Record<string, string>>) => {
      const { key, body } = dispatches.request(name, ['success']);
      return dispatches.postRaw(key, new Uint8Array(gzipSync(JSON.stringify(body))), headers);
    };
    const plain = await post('gzip', { 'content-type': 'application/gzip' });
    if (plain.status !== 202) return failed('no-gzip', `application/gzip was answered ${describeAnswer(plain)}`);
    const encoded = await post('encoded', { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    if (encoded.status === 202) return passed('application/gzip: 202; Content-Encoding gzip: 202');
    if (problemOf(encoded) !== 'invalid-encoding') {
      return failed('encoding', `Content-Encoding gzip was answered ${describeAnswer(encoded)}`);
    }
    return passed('application/gzip: 202; Content-Encoding gzip: 400 invalid-encoding, so clients must send application/gzip');
  },
};
