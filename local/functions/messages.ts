import * as z from 'zod';

/** An event on its way to the process that runs the function. */
export const ToRunner = z.object({
  id: z.string(),
  /** JSON text, parsed by the runner: the host need not pay for it. */
  event: z.string(),
  /** Epoch milliseconds at which the process is killed. */
  deadline: z.number(),
  functionName: z.string(),
  functionArn: z.string(),
  memoryMegabytes: z.number(),
});
export type ToRunner = z.output<typeof ToRunner>;

const failure = { errorType: z.string(), errorMessage: z.string(), trace: z.array(z.string()) };

/** What that process says. */
export const FromRunner = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('broken'), ...failure }),
  z.object({ kind: z.literal('done'), id: z.string(), payload: z.string() }),
  z.object({ kind: z.literal('failed'), id: z.string(), ...failure }),
]);
export type FromRunner = z.output<typeof FromRunner>;
