import type { Fault } from './faults/faults.ts';

/** One call to send a mail, and how it ended. */
export interface SendCall {
  readonly at: string;
  /** Empty if the call broke before its addressee was known. */
  readonly recipient: string;
  /** In words for a person. */
  readonly outcome: string;
  /** SES took the mail under this id, whatever the caller heard. */
  readonly messageId?: string;
}

export const TAKEN = 'taken';

const MOMENTS = {
  unread: 'connection broken before the request was read',
  read: 'connection broken before the mail was taken',
  taken: 'connection broken after the mail was taken',
} as const;

/** What a fault does to a call. */
export const describeFault = (fault: Fault): string => {
  switch (fault.kind) {
    case 'refuse':
      return `refused: ${fault.refusal.name} (${fault.refusal.status})`;
    case 'page':
      return `an HTML page with status ${fault.status} instead of an answer`;
    case 'reset':
      return MOMENTS[fault.moment];
    case 'half-answer':
      return 'taken, but half of the answer was sent';
    case 'slow':
      return `taken, and answered after ${fault.seconds} s`;
    case 'silent':
      return fault.taken ? 'taken, and never answered' : 'never answered';
  }
};

/** Whether SES takes the mail all the same. */
export const takesMail = (fault: Fault): boolean => {
  switch (fault.kind) {
    case 'refuse':
    case 'page':
      return false;
    case 'reset':
      return fault.moment === 'taken';
    case 'half-answer':
    case 'slow':
      return true;
    case 'silent':
      return fault.taken;
  }
};

/** Remembers the newest calls, and no more than that. */
export const createCallLog = (capacity: number) => {
  let calls: readonly SendCall[] = [];
  return {
    note: (call: SendCall) => {
      calls = [...calls, call].slice(-capacity);
    },
    /** The newest first. */
    list: (): readonly SendCall[] => calls.toReversed(),
  };
};
