import * as z from 'zod';

import { CRASH_POINTS, type CrashPoint } from './points.ts';

const isPoint = (name: string): name is keyof typeof CRASH_POINTS => name in CRASH_POINTS;

const common = {
  /** Another text that the request's body must contain, such as the id of a dispatch. */
  about: z.string().exactOptional(),
  times: z.number().int().positive().default(1),
};

const AtPoint = z
  .strictObject({ point: z.string().refine(isPoint), ...common })
  .transform(({ point, ...rest }) => ({ ...CRASH_POINTS[point], ...rest }));

const AtCall = z.strictObject({
  function: z.string().min(1),
  service: z.enum(['dynamodb', 'sqs', 'ses', 'events', 's3', 'host']),
  operation: z.string().min(1),
  match: z.string().exactOptional(),
  when: z.enum(['before', 'after']),
  ...common,
});

/** A crash that is to come: at a named point, or at any call there is. */
export const CrashOrder = z.union([AtPoint, AtCall], {
  error:
    `either {point, about?, times?} with one of the points ${Object.keys(CRASH_POINTS).join(', ')}, ` +
    'or {function, service, operation, when, match?, about?, times?}',
});
export type CrashOrder = CrashPoint & { readonly about?: string; readonly times: number };

/** A time in which a function cannot reach a service. */
export const Outage = z.strictObject({
  /** Name of the function, or what it begins with. */
  function: z.string().min(1),
  service: z.enum(['dynamodb', 'sqs', 'ses', 'events', 's3']),
  seconds: z.number().positive().max(3_600),
});
export type Outage = z.output<typeof Outage>;

/** A moment at which a crash may strike. */
export interface Moment extends Pick<CrashPoint, 'service' | 'operation' | 'when'> {
  readonly functionName: string;
  readonly body?: Buffer;
}

/** The crashes that were ordered. */
export const createCrashPlan = () => {
  let orders: { readonly order: CrashOrder; fired: number }[] = [];
  const isAt = (order: CrashOrder, { functionName, service, operation, when, body }: Moment): boolean =>
    functionName.startsWith(order.function) &&
    order.service === service &&
    order.operation === operation &&
    order.when === when &&
    [order.match, order.about].every((text) => text === undefined || body?.includes(text) === true);
  return {
    add: (order: CrashOrder) => {
      orders.push({ order, fired: 0 });
    },
    /** Each with how often it struck. */
    list: () => orders.map(({ order, fired }) => ({ ...order, fired })),
    clear: () => {
      orders = [];
    },
    /** Whether a crash strikes now, which uses one of its times up. */
    strikes: (moment: Moment): boolean => {
      const found = orders.find(({ order, fired }) => fired < order.times && isAt(order, moment));
      if (found) found.fired += 1;
      return found !== undefined;
    },
  };
};

/** The plan of one stack. */
export type CrashPlan = ReturnType<typeof createCrashPlan>;
