import { type Check, failed, passed } from '../check.ts';
import { findUnsentReason, UNSENT_ADVICE, type UnsentProblem } from '../unsent.ts';

/** One recipient is accepted and sent to. */
export const acceptOne: Check<UnsentProblem> = {
  id: 'one',
  name: 'Accept and send 1',
  needs: ['template', 'sending'],
  advice: UNSENT_ADVICE,
  run: async (world) => {
    const { dispatches, waiting, numbers } = world;
    const id = await dispatches.accepted(dispatches.request('one', ['success']));
    const { came, seconds } = await waiting.until(
      () => dispatches.now(id),
      ({ counts }) => counts['SENT'] === 1,
      (await numbers()).secondsToSend(1),
    );
    if (came) return passed(`SENT after ${seconds} s`);
    const { problem, saw } = await findUnsentReason(world, id);
    return failed(problem, saw);
  },
};
