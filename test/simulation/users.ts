import { createOperateDispatch } from '../../lambda/application/commands/operate-dispatch.ts';
import { createOperateSending } from '../../lambda/application/commands/operate-sending.ts';
import { ATTEMPTS_EXHAUSTED } from '../../lambda/domain/recipient/recipient.ts';
import { createSendingPort } from './control-ports.ts';
import { createOperatePort } from './dispatch-ports.ts';
import type { OperatorAction } from './plan.ts';
import type { PortDeps } from './ports.ts';
import type { Queue } from './queue.ts';
import type { Host, Process } from './scheduler.ts';
import type { SendBody } from './sender-host.ts';
import { countRowsOf } from './table.ts';
import { valueOf } from './table-access.ts';

export interface UsersDeps extends PortDeps {
  readonly sendQueue: Queue<SendBody>;
}

const CALL_MS = 29_000;
const OPERATOR = { adminId: 'operator', isOperator: true };

/** What people do to the service: through its own calls, and in the console of the dead-letter queue. */
export const createUsers = (deps: UsersDeps, host: Host) => {
  const { scheduler, dice, table } = deps;

  const ask = async (process: Process, what: OperatorAction['what'], dispatchId: string): Promise<void> => {
    const by = (): Process => process;
    const clock = (): number => scheduler.now() + host.skewMs;
    const sleep = (ms: number): Promise<void> => scheduler.sleep(process, ms);
    const sending = createOperateSending({ sending: createSendingPort(deps, by), clock, random: dice.next, sleep });
    const operate = createOperateDispatch({
      dispatches: createOperatePort(deps, by),
      rows: {
        counts: async (dispatch) =>
          valueOf(await deps.access.ask(process, 'count rows', () => countRowsOf(table.rowsOf(dispatch.dispatchId)))),
      },
      ...{ clock, random: dice.next, sleep },
    });
    switch (what) {
      case 'pause':
        await sending.change({ paused: true, who: 'operator' });
        return;
      case 'resume-sending':
        await sending.change({ paused: false });
        return;
      case 'cancel':
        await operate(OPERATOR, 'cancel', dispatchId);
        return;
      case 'resume-dispatch':
        await operate(OPERATOR, 'resume', dispatchId);
        return;
      case 'redrive':
        redrive(deps);
    }
  };

  const users = {
    /** Does it to that dispatch, or to any. */
    act: (what: OperatorAction['what'], to?: string): void => {
      const dispatchId = to ?? dice.pick([...table.dispatches.keys()]);
      scheduler.trace(host.name, () => `${what} ${dispatchId}`);
      // Whoever gets no answer asks again later, or never.
      scheduler.start(
        host,
        CALL_MS,
        (process) => ask(process, what, dispatchId),
        () => undefined,
      );
    },
    redriveAny: (): void => {
      if (deps.sendQueue.deadLetters.length > 0) users.act('redrive');
    },
  };
  return users;
};

export type Users = ReturnType<typeof createUsers>;

const redrive = ({ table, ledger, sendQueue }: UsersDeps): void => {
  for (const { body } of sendQueue.redrive()) {
    const row = table.row(body.key);
    const isDead =
      row?.recipient.status === 'FAILED' &&
      row.recipient.lastErrorCode === ATTEMPTS_EXHAUSTED &&
      row.recipient.deadMessage?.id === body.id;
    ledger.redrives.push({ id: body.id, key: body.key, ...(isDead && { round: row.recipient.round }) });
  }
};
