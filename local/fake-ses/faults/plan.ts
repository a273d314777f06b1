import * as z from 'zod';

import { type Fault, FAULTS, type FaultyCall, makeFault } from './faults.ts';
import { createDraw } from './seeded-random.ts';

const UNREAD = 'reset-unread';

/** A fault that was ordered for calls to come. */
export const PlannedFault = z
  .strictObject({
    fault: z.string().refine((name) => (name.split(':')[0] ?? '') in FAULTS, {
      error: `one of ${Object.keys(FAULTS).join(', ')}, with an argument after a colon where it takes one`,
    }),
    /** How many calls it meets; for ever if not given. */
    times: z.number().int().positive().optional(),
    /** Only calls to addresses that contain this text. */
    recipient: z.string().optional(),
    /** Only mails of this dispatch. */
    dispatchId: z.string().optional(),
    operation: z.enum(['SendEmail', 'GetEmailTemplate', 'GetAccount']).default('SendEmail'),
    /** Only that share of the calls it could meet, drawn at random from the seed. */
    share: z.number().gt(0).max(1).optional(),
    seed: z.number().int().optional(),
  })
  .refine(({ fault, recipient, dispatchId }) => fault !== UNREAD || (recipient ?? dispatchId) === undefined, {
    error: `${UNREAD} breaks the connection before the recipient is known`,
    path: ['recipient'],
  });
export type PlannedFault = z.output<typeof PlannedFault>;

/** Calls that change nothing are about no recipient. */
const NOBODY: FaultyCall = { recipient: '', from: '' };

/** The faults that were ordered, in order. */
export const createFaultPlan = () => {
  let planned: { readonly order: PlannedFault; times: number; readonly strikes: () => boolean }[] = [];

  const find = (operation: PlannedFault['operation'], call: FaultyCall, unread: boolean) => {
    const found = planned.find(
      ({ order, strikes }) =>
        order.operation === operation &&
        (order.fault === UNREAD) === unread &&
        call.recipient.includes(order.recipient ?? '') &&
        (order.dispatchId === undefined || order.dispatchId === call.dispatchId) &&
        strikes(),
    );
    if (found) {
      found.times -= 1;
      planned = planned.filter(({ times }) => times > 0);
    }
    return found?.order.fault;
  };
  return {
    add: (order: PlannedFault) => {
      const { share = 1, seed = 1, times = Infinity } = order;
      const draw = createDraw(seed);
      planned.push({ order, times, strikes: () => share === 1 || draw() < share });
    },
    /** What is still to come, with the times that are left. */
    list: (): readonly PlannedFault[] =>
      planned.map(({ order, times }) => ({ ...order, ...(Number.isFinite(times) && { times }) })),
    clear: () => {
      planned = [];
    },
    /** Whether the connection of this SendEmail call breaks before its body is read, which uses up one of the times. */
    breaksUnread: (): boolean => find('SendEmail', NOBODY, true) !== undefined,
    /** The fault for this call, which uses one of its times up. */
    next: (operation: PlannedFault['operation'], call: FaultyCall = NOBODY): Fault | undefined => {
      const fault = find(operation, call, false);
      return fault === undefined ? undefined : makeFault(fault, call);
    },
  };
};

/** The plan of one gate. */
export type FaultPlan = ReturnType<typeof createFaultPlan>;
