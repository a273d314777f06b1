/** An event on its way to the process that runs the function. */
export interface ToRunner {
  readonly id: string;
  /** JSON text, parsed by the runner: the host need not pay for it. */
  readonly event: string;
  /** Epoch milliseconds at which the process is killed. */
  readonly deadline: number;
  readonly functionName: string;
  readonly functionArn: string;
  readonly memoryMegabytes: number;
}

/** How long a call ran, and how long it used a whole processor, in milliseconds. */
export interface Took {
  readonly milliseconds: number;
  readonly processorMilliseconds: number;
}

interface Failure {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace: readonly string[];
}

/** What that process says. */
export type FromRunner =
  | { readonly kind: 'ready' }
  | ({ readonly kind: 'broken' } & Failure)
  | { readonly kind: 'done'; readonly id: string; readonly payload: string; readonly took: Took }
  | ({ readonly kind: 'failed'; readonly id: string } & Failure);

/** Told by looking at one field, not by a schema: both ends are ours, and loading a parser slows every start of a process. */
export const isToRunner = (value: unknown): value is ToRunner => typeof value === 'object' && value !== null && 'event' in value;

/** The same for the way back. */
export const isFromRunner = (value: unknown): value is FromRunner =>
  typeof value === 'object' && value !== null && 'kind' in value;
