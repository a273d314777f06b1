import { createResolveUnclear } from '../../lambda/application/unclear/resolve-unclear.ts';
import type { BackgroundDeps } from './background-hosts.ts';
import { createSendingPort } from './control-ports.ts';
import { createFeedbackPort } from './feedback-port.ts';
import { createRecipientPort } from './recipient-port.ts';
import type { Host, Process } from './scheduler.ts';
import type { Ses } from './ses.ts';
import { createLedgerPort, createWalkPort } from './unclear-port.ts';

const WALK_MS = 60_000;
const WALK_LIMIT_MS = 50_000;
const RESERVE_MS = 15_000;

/** Walks the ledger of unclear attempts by its schedule; now and then two walks go on at once. */
export const createWalker = (deps: BackgroundDeps & { readonly ses: Ses }, hosts: readonly Host[]) => {
  const { scheduler, dice, plan, table } = deps;

  const walk = (host: Host): void => {
    scheduler.start(
      host,
      WALK_LIMIT_MS,
      (process) => {
        const own = (): Process => process;
        const clock = (): number => scheduler.now() + host.skewMs;
        const resolveUnclear = createResolveUnclear({
          ledger: createLedgerPort(deps, own),
          walks: createWalkPort(deps, own),
          recipients: createRecipientPort(deps, own),
          feedback: createFeedbackPort(deps, own),
          sending: createSendingPort(deps, own),
          sendQueue: deps.sendQueue(own),
          provider: deps.ses.provider(own),
          from: 'Recruiting <jobs@example.org>',
          policy: plan.policy,
          ...{ clock, random: dice.next, observe: () => undefined },
        });
        return resolveUnclear(() => process.deadline - scheduler.now() > RESERVE_MS);
      },
      () => undefined,
    );
  };
  const run = (): void => {
    scheduler.at(scheduler.now() + WALK_MS, run);
    if (table.unclear.items.size === 0) return;
    for (const [i, host] of hosts.entries()) if (i === 0 || dice.chance(0.1)) walk(host);
  };
  return { run };
};
