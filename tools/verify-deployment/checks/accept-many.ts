import { type Check, failed, passed } from '../check.ts';
import { findUnsentReason, UNSENT_ADVICE, type UnsentProblem } from '../unsent.ts';

/** A dispatch of many recipients is sent whole. */
export const acceptMany: Check<UnsentProblem> = {
  id: 'many',
  name: 'Accept and send many',
  needs: ['one'],
  advice: UNSENT_ADVICE,
  run: async (world) => {
    const { dispatches, waiting, numbers } = world;
    const { many, secondsToSend } = await numbers();
    const id = await dispatches.accepted(dispatches.request('many', new Array<'success'>(many).fill('success')));
    const { came, last, seconds } = await waiting.until(
      () => dispatches.now(id),
      ({ counts, status }) => counts['SENT'] === many && status === 'COMPLETED',
      secondsToSend(many),
    );
    const scaled = many < 100 ? ` (fewer than 100: the account is small)` : '';
    if (came) return passed(`${many} SENT and COMPLETED after ${seconds} s${scaled}`);
    const { problem, saw } = await findUnsentReason(world, id);
    return failed(problem, `${last.counts['SENT'] ?? 0} of ${many} SENT after ${seconds} s; ${saw}`);
  },
};
