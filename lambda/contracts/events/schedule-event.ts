import * as z from 'zod';

/** What EventBridge sends on a schedule. `atStart` is added by the local stack, whose queues are empty when it starts. */
export const ScheduleEvent = z.object({ detail: z.object({ atStart: z.boolean().default(false) }).default({ atStart: false }) });
