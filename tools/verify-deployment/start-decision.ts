import type { Check } from './check.ts';
import type { Options } from './options.ts';

/** What is under way on the stage. Undefined: it could not be read, and the checks will say why. */
export interface Traffic {
  /** Messages in the send queue. */
  readonly messages: number | undefined;
  /** Dispatches that are not finished and no tests of this tool. */
  readonly openDispatches: number | undefined;
}

/** Whether the checks start, and what a person is told if not. */
export type StartDecision = { readonly start: true } | { readonly start: false; readonly say: string };

type Wishes = Pick<Options, 'yes' | 'inUse'>;

const plural = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;

/** Nothing is done without a yes, and nothing that delays the mails of others without a second one. */
export const decideStart = (
  { yes, inUse }: Wishes,
  { messages = 0, openDispatches = 0 }: Traffic,
  checks: readonly Pick<Check, 'name' | 'disturbs'>[],
): StartDecision => {
  if (!yes) return { start: false, say: 'Nothing was done. Add --yes to start.' };
  const disturbing = checks.filter(({ disturbs }) => disturbs).map(({ name }) => `"${name}"`);
  if (inUse || disturbing.length === 0 || messages + openDispatches === 0) return { start: true };
  const found = [
    messages > 0 && plural(messages, 'message is in the send queue', 'messages are in the send queue'),
    openDispatches > 0 && plural(openDispatches, 'dispatch is not finished', 'dispatches are not finished'),
  ].filter((text) => text !== false);
  return {
    start: false,
    say: `Nothing was done: mails wait on this stage (${found.join(', ')}), and the checks would delay them. Wait until they are sent, or add --in-use, which leaves out ${disturbing.join(', ')}.`,
  };
};

/** What the checks will do, one sentence each. @param many recipients of the middle dispatch */
export const describePlan = (checks: readonly Check[], options: Options, many: number): readonly string[] => {
  const active = checks.filter(({ disturbs }) => !(disturbs && options.inUse));
  const sends = active.some(({ needs = [] }) => needs.includes('template') || needs.includes('one'));
  const effects = active.flatMap((check) => check.effects?.(options) ?? []);
  if (!sends && effects.length === 0) return ['Only read.'];
  return [
    ...(sends
      ? [
          `Send up to ${many + 12} test mails to addresses of the SES mailbox simulator, and to nobody else. They do not count against the 24-hour quota or the reputation; SES bills them.`,
        ]
      : []),
    ...effects,
    'Cancel every dispatch of its own that is not finished at the end. Ctrl-C puts everything back as well.',
  ];
};
