import { UnexpectedAnswer } from '../api.ts';
import { type Check, failed, type Outcome, passed, skipped } from '../check.ts';
import { findUnsentReason, UNSENT_ADVICE, type UnsentProblem } from '../unsent.ts';
import type { World } from '../world.ts';

type Problem = UnsentProblem | 'sent-in-pause' | 'still-paused';

/** A sender reads the pause at least so often. */
const KNOWN_MS = 6_000;
/** Long enough for a mail that nothing holds back. */
const WATCH_MS = 6_000;

const reasonOf = ({ runId }: World): string => `verify-deployment ${runId}`;

const setPaused = async ({ api }: World, body: object): Promise<void> => {
  const answer = await api.askOnce('PUT', '/sending', {
    as: 'operator',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (answer.status !== 200) throw new UnexpectedAnswer('PUT /sending', answer);
};

/** Ends the pause of this run; the pause of a person, who came in between, stays. */
const endOwnPause = async (world: World): Promise<void> => {
  const answer = await world.api.askOnce('GET', '/sending', { as: 'operator' });
  if (answer.status !== 200) throw new UnexpectedAnswer('GET /sending', answer);
  if (JSON.stringify(answer.body).includes(reasonOf(world))) await setPaused(world, { paused: false });
};

const holdsBack = async (world: World): Promise<Outcome<Problem>> => {
  const { dispatches, waiting } = world;
  await waiting.pause(KNOWN_MS);
  const id = await dispatches.accepted(dispatches.request('paused', ['success']));
  await waiting.pause(WATCH_MS);
  const { counts } = await dispatches.now(id);
  return counts['SENT'] === 1 ? failed('sent-in-pause', 'a mail was sent although sending was paused') : passed('');
};

/** An operator's pause holds mails back, and its end lets them go. */
export const pauseAndResume: Check<Problem> = {
  id: 'pause',
  name: 'Pause and resume',
  needs: ['one'],
  disturbs: true,
  effects: () => ['Pause sending for about 15 seconds, and resume it.'],
  advice: {
    ...UNSENT_ADVICE,
    'sent-in-pause':
      'The operator’s pause does not hold: it cannot be relied on to stop a wrong dispatch. Cancel dispatches instead, and look at the log of SendRecipients.',
    'still-paused':
      'PUT /sending {"paused": false} was answered, but sending is still paused. Look at the log of OperateSending, and call it again.',
  },
  run: async (world) => {
    const { dispatches, waiting, cleanup, numbers } = world;
    if ((await dispatches.sending()).paused) return skipped('Somebody has paused sending meanwhile.');
    const forget = cleanup.add({
      what: 'the pause of sending',
      byHand: 'PUT /sending {"paused": false}',
      undo: () => endOwnPause(world),
    });
    await setPaused(world, { paused: true, reason: reasonOf(world) });
    const held = await holdsBack(world);
    await endOwnPause(world);
    if (held.kind === 'failed') return held;
    if ((await dispatches.sending()).paused) return failed('still-paused', 'GET /sending says so');
    forget();

    // A mail that met the pause may wait up to 15 minutes more; one that comes after it must not.
    const after = await dispatches.accepted(dispatches.request('resumed', ['success']));
    const { came, seconds } = await waiting.until(
      () => dispatches.now(after),
      ({ counts }) => counts['SENT'] === 1,
      (await numbers()).secondsToSend(1),
    );
    if (came) return passed(`nothing sent during the pause; a mail accepted after it SENT after ${seconds} s`);
    const { problem, saw } = await findUnsentReason(world, after);
    return failed(problem, saw);
  },
};
