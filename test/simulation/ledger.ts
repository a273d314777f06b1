import type { ReceivedFeedback } from '../../lambda/domain/recipient/feedback.ts';
import type { RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { SendAnswer } from '../../lambda/domain/sending/send-answer.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { Host, Process } from './scheduler.ts';
import { nameOf } from './table.ts';

/** A mail that SES really took, whoever knows of it. */
export interface Mail {
  readonly key: RecipientKey;
  readonly lease: string;
  readonly round: number;
  readonly messageId: string;
  /** By the true time. */
  readonly takenAt: Instant;
  /** Its event was applied to its row. */
  isHeard: boolean;
  /** Its attempt was settled as if SES had not taken it. */
  isWrittenOff: boolean;
}

/** A claim that took effect, and all that came of it. */
export interface Claim {
  readonly key: RecipientKey;
  readonly lease: string;
  readonly round: number;
  readonly n: number;
  /** As it was granted, by the worker's clock. */
  readonly leaseUntil: Instant;
  readonly by: Process;
  /** SES was called; absent: it never was. */
  call?: { answer?: SendAnswer };
  /** What the row says of it. */
  outcome?: string;
  /** The row says that SES itself answered that it failed. */
  isAnswered?: boolean;
  /** An answer of the table about it was lost for good. */
  isCutOff: boolean;
}

/** A redrive of one dead letter. */
export interface Redrive {
  readonly id: string;
  readonly key: RecipientKey;
  /** Round that it must end, since the recipient had failed for want of this very message. Absent: it is a stray. */
  readonly round?: number;
}

/** What really happened, as nobody in the service can know it. */
export interface Ledger {
  readonly violations: string[];
  readonly violate: (what: string) => void;
  readonly claims: Map<string, Claim>;
  readonly mails: readonly Mail[];
  readonly addMail: (mail: Mail) => void;
  readonly mailsOf: (key: RecipientKey) => Mail[];
  /** When the mails were taken of which feedback has applied an event, canaries among them. */
  readonly heardOf: Instant[];
  readonly redrives: Redrive[];
  /** Messages that were handed to two at once. */
  readonly twins: Set<string>;
  /** Messages that a sender let go. */
  readonly letGo: Set<string>;
  /** Duplicates that were counted, by recipient. */
  readonly duplicates: Map<string, number>;
  /** Changes of recipients whose writers never learnt that they were made, so that a duplicate may go uncounted. */
  readonly unseenChanges: Map<string, number>;
  /** Leases whose events feedback could not apply, and was told that this is remembered. */
  readonly unapplied: Set<string>;
  /** Those of them when a walk last read how far feedback got. */
  readonly unappliedSeen: Map<Process, ReadonlySet<string>>;
  /** When feedback was last behind, as the table had it then. */
  readonly behindSeen: Map<Process, Instant | undefined>;
  readonly inHand: Map<Process, readonly ReceivedFeedback[]>;
  /** When a sender last asked whether it may send, and how old the answer was when it got it. */
  readonly leaves: Map<Process, { readonly askedAt: Instant; readonly lagMs: number }>;
  /** Since when the dispatch is stopped or cancelled. */
  readonly inactiveSince: Map<string, Instant>;
  /** When SES told a sender that it accepted a mail or a canary. */
  readonly acceptances: Instant[];
  /** Mails that SES refused for the account's sake, as their senders were told. */
  readonly refusals: {
    readonly lease: string;
    readonly recipient: string;
    readonly round: number;
    readonly host: Host;
    readonly at: Instant;
  }[];
  operatorPauseSince: Instant | undefined;
  /** Operators' pauses that are over. */
  readonly operatorPauses: { readonly from: Instant; readonly to: Instant }[];
}

export const createLedger = (): Ledger => {
  const byRecipient = new Map<string, Mail[]>();
  const mails: Mail[] = [];
  const ledger: Ledger = {
    violations: [],
    violate: (what) => ledger.violations.push(what),
    claims: new Map(),
    mails,
    addMail: (mail) => {
      mails.push(mail);
      byRecipient.set(nameOf(mail.key), [...ledger.mailsOf(mail.key), mail]);
    },
    mailsOf: (key) => byRecipient.get(nameOf(key)) ?? [],
    heardOf: [],
    redrives: [],
    twins: new Set(),
    letGo: new Set(),
    duplicates: new Map(),
    unseenChanges: new Map(),
    unapplied: new Set(),
    unappliedSeen: new Map(),
    behindSeen: new Map(),
    inHand: new Map(),
    leaves: new Map(),
    inactiveSince: new Map(),
    acceptances: [],
    refusals: [],
    operatorPauseSince: undefined,
    operatorPauses: [],
  };
  return ledger;
};
