import * as z from 'zod';

import { type Fault, FAULTS, makeFault } from './faults.ts';

/** A fault that was ordered for calls to come. */
export const PlannedFault = z.strictObject({
  fault: z.string().refine((name) => (name.split(':')[0] ?? '') in FAULTS, {
    error: `one of ${Object.keys(FAULTS).join(', ')}, with an argument after a colon where it takes one`,
  }),
  /** How many calls it meets; for ever if not given. */
  times: z.number().int().positive().optional(),
  /** Only calls to addresses that contain this text. */
  recipient: z.string().optional(),
  operation: z.enum(['SendEmail', 'GetEmailTemplate', 'GetAccount']).default('SendEmail'),
});
export type PlannedFault = z.output<typeof PlannedFault>;

/** The faults that were ordered, in order. */
export const createFaultPlan = () => {
  let planned: PlannedFault[] = [];
  return {
    add: (fault: PlannedFault) => {
      planned.push(fault);
    },
    list: (): readonly PlannedFault[] => planned,
    clear: () => {
      planned = [];
    },
    /** The fault for this call, which uses one of its times up. */
    next: (operation: PlannedFault['operation'], recipient: string): Fault | undefined => {
      const found = planned.find((each) => each.operation === operation && recipient.includes(each.recipient ?? ''));
      if (found === undefined) return undefined;
      if (found.times !== undefined) {
        found.times -= 1;
        planned = planned.filter(({ times }) => times !== 0);
      }
      return makeFault(found.fault, recipient);
    },
  };
};

/** The plan of one gate. */
export type FaultPlan = ReturnType<typeof createFaultPlan>;
