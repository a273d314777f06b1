import { gzipSync } from 'node:zlib';

import { UnexpectedAnswer } from '../api.ts';
import { type Check, failed, type Outcome, passed, skipped } from '../check.ts';
import { type Dispatches, finalOf } from '../dispatches.ts';
import type { Options } from '../options.ts';
import type { World } from '../world.ts';

type Problem = 'not-cancelled' | 'not-sent';

const accept = async (dispatches: Dispatches, count: number): Promise<{ id: string; seconds: number; kilobytes: number }> => {
  const { key, body } = dispatches.request('large', new Array<'success'>(count).fill('success'));
  const bytes = new Uint8Array(gzipSync(JSON.stringify(body)));
  const startedAt = performance.now();
  const id = dispatches.idOf(await dispatches.postRaw(key, bytes, { 'content-type': 'application/gzip' }));
  return { id, seconds: Math.round((performance.now() - startedAt) / 100) / 10, kilobytes: Math.ceil(bytes.length / 1000) };
};

const isOver = (status: string): boolean => status === 'COMPLETED' || status === 'CANCELLED';

const end = async ({ dispatches, waiting, api, options, numbers }: World, id: string): Promise<Outcome<Problem>> => {
  const isCancelled = options.large === 'cancel';
  if (isCancelled) {
    const answer = await api.ask('POST', `/dispatches/${id}/cancel`);
    if (answer.status !== 202) throw new UnexpectedAnswer('POST cancel', answer);
  }
  const { secondsToSend } = await numbers();
  const { came, last, seconds } = await waiting.until(
    () => dispatches.now(id),
    (now) => isOver(now.status) && finalOf(now) === now.total,
    isCancelled ? 2 * options.waitSeconds : secondsToSend(options.largeCount),
  );
  const counted = Object.entries(last.counts)
    .filter(([, n]) => n > 0)
    .map(([status, n]) => `${n} ${status}`)
    .join(', ');
  if (!came)
    return failed(
      isCancelled ? 'not-cancelled' : 'not-sent',
      `${last.status} after ${seconds} s: ${counted || 'nothing counted'}`,
    );
  return passed(`${isCancelled ? 'cancelled' : 'sent'} after ${seconds} s: ${counted}`);
};

const effectsOf = ({ large: query, largeCount }: Options): string[] => {
  if (query === 'none') return [];
  const accepted = `Accept a test dispatch of ${largeCount} recipients`;
  return [query === 'cancel' ? `${accepted}, and cancel it at once.` : `${accepted}, and send all of it: SES bills its mails.`];
};

/** The largest dispatch is accepted in one request, and then cancelled or sent. */
export const large: Check<Problem> = {
  id: 'large',
  name: 'Accept a large dispatch',
  needs: ['one'],
  disturbs: true,
  effects: effectsOf,
  advice: {
    'not-cancelled':
      'The dispatch is cancelled and no mail of it goes out, but its recipients are not all marked yet. Look at the log of RunTask and at the task queue (docs/runbook.md, "Task dead letters").',
    'not-sent':
      'Look at the rate (GET /dispatches/{id} now and in a minute), at the alarms on the send queue, and at docs/scale.md. The tool cancels the dispatch at its end.',
  },
  run: async (world) => {
    const { options, dispatches, numbers } = world;
    if (options.large === 'none') return skipped('Left out, as asked.');
    const { room } = await numbers();
    if (options.large === 'send' && room < options.largeCount) {
      return skipped(`The account has ${room} mails of its 24-hour quota left: use --large cancel.`);
    }
    const { id, seconds, kilobytes } = await accept(dispatches, options.largeCount);
    const ended = await end(world, id);
    const accepted = `${options.largeCount} accepted in ${seconds} s (${kilobytes} kB of gzip)`;
    if (ended.kind === 'skipped') return ended;
    return { ...ended, saw: `${accepted}; ${ended.saw}` };
  },
};
