import { FEEDBACK_WINDOW_SECONDS } from '../time-order.ts';
import {
  CHANGES_PER_MAIL,
  COPIES,
  EVENT_BATCH_SECONDS,
  EVENT_PROCESSOR_SECONDS,
  EVENTS_PER_MAIL,
  FULL_BATCH,
  INSERT_AHEAD,
  NEW_TABLE,
  OTHER_FUNCTIONS,
  PLANNED_LOAD,
  processorShare,
  READS_PER_MAIL,
  RECORDS_PER_CONSUMER,
  RESOLVER_COPIES,
  ROWS_PER_WORKER,
  UNRESERVED_MINIMUM,
  WRITES_PER_MAIL,
  WRITES_PER_PARTITION,
} from './load-model.ts';
import { batchSizeFor, faultsOfSenders, type SenderScale, senderScale, type SenderSettings } from './sender-scale.ts';

/** What the scale is derived from. */
export interface ScaleSettings extends SenderSettings {
  /** Mails per second of the account that the stage is built for. */
  readonly maxSendRate: number;
  /** The part of the account's rate that this stage uses; those of all stages in one account and region add up to 0.9 at most. */
  readonly rateShare: number;
  /** Write units per second that the table takes at once; 0: what a new table takes. */
  readonly warmWriteUnits?: number | undefined;
}

/** The function that applies SES's events. */
export interface FeedbackScale {
  readonly concurrency: number;
  readonly batchSize: number;
  /** How long SQS gathers events for a batch. */
  readonly windowSeconds: number;
  readonly memoryMegabytes: number;
}

/** Units per second. */
export interface TableUnits {
  readonly reads: number;
  readonly writes: number;
}

/** Every number of a stage that depends on how many mails it sends in a second. */
export interface ServiceScale {
  /** Mails per second that are sent at most. */
  readonly rate: number;
  readonly sender: SenderScale;
  readonly feedback: FeedbackScale;
  /** Copies of the task worker. */
  readonly taskWorkers: number;
  /** Copies of each stream consumer for a shard of the stream. */
  readonly relayFactor: number;
  readonly progressFactor: number;
  /** What all of it uses while it sends at that rate. */
  readonly used: TableUnits;
  /** What the table must take at once; undefined: a new table does. */
  readonly warm: TableUnits | undefined;
  /** Concurrent executions that the account must have. */
  readonly lambdaConcurrency: number;
}

/** Small copies waste less while they wait for the table; a larger size is taken before there are more than this. */
const MOST_SMALL_COPIES = 60;
const FEEDBACK_MEGABYTES = [256, 512, 1_024, 1_769] as const;

/** Mails per second that are sent at most. */
export const usedRate = ({ maxSendRate, rateShare }: Pick<ScaleSettings, 'maxSendRate' | 'rateShare'>): number =>
  maxSendRate * rateShare;

const feedbackScale = (rate: number): FeedbackScale => {
  const copiesFor = (memory: number): number => {
    const batchSeconds = EVENT_BATCH_SECONDS + (FULL_BATCH * EVENT_PROCESSOR_SECONDS) / processorShare(memory);
    return Math.max(COPIES.least, Math.ceil((rate * EVENTS_PER_MAIL * batchSeconds) / (FULL_BATCH * PLANNED_LOAD)));
  };
  const memoryMegabytes = FEEDBACK_MEGABYTES.find((memory) => copiesFor(memory) <= MOST_SMALL_COPIES) ?? FEEDBACK_MEGABYTES[3];
  return {
    concurrency: copiesFor(memoryMegabytes),
    batchSize: FULL_BATCH,
    windowSeconds: FEEDBACK_WINDOW_SECONDS,
    memoryMegabytes,
  };
};

const toThousands = (units: number): number => Math.ceil(units / 1_000) * 1_000;

/** A table cannot be made colder than a new one is. */
const warmThroughput = (used: TableUnits, given: number | undefined): TableUnits | undefined => {
  const writes = given ?? (used.writes > NEW_TABLE.writes ? toThousands(used.writes) : 0);
  if (writes === 0) return undefined;
  return {
    writes: Math.max(NEW_TABLE.writes, writes),
    reads: Math.max(NEW_TABLE.reads, toThousands((writes * READS_PER_MAIL) / WRITES_PER_MAIL)),
  };
};

/** Derives the scale of a stage on AWS. */
export const serviceScale = (settings: ScaleSettings): ServiceScale => {
  const rate = usedRate(settings);
  const sender = senderScale(rate, settings);
  const feedback = feedbackScale(rate);
  const taskWorkers = Math.max(COPIES.least, Math.ceil((rate * INSERT_AHEAD) / ROWS_PER_WORKER));
  const used = { reads: Math.ceil(rate * READS_PER_MAIL), writes: Math.ceil(rate * WRITES_PER_MAIL) };
  const warm = warmThroughput(used, settings.warmWriteUnits);
  const shards = Math.ceil((warm ?? NEW_TABLE).writes / WRITES_PER_PARTITION);
  const factorFor = (records: number): number => Math.ceil(records / shards / (RECORDS_PER_CONSUMER * PLANNED_LOAD));
  const relayFactor = factorFor(taskWorkers * ROWS_PER_WORKER);
  const progressFactor = factorFor(rate * CHANGES_PER_MAIL);
  const reserved = sender.concurrency + feedback.concurrency + taskWorkers + RESOLVER_COPIES;
  const unreserved = Math.max(UNRESERVED_MINIMUM, shards * (relayFactor + progressFactor) + OTHER_FUNCTIONS);
  const lambdaConcurrency = reserved + unreserved;
  return { rate, sender, feedback, taskWorkers, relayFactor, progressFactor, used, warm, lambdaConcurrency };
};

/** Calls to the emulator of SES take some 20 ms, and the machine's processors are the limit. */
const LOCAL_CALL_SECONDS = 0.02;
const LOCAL_SENDERS = 5;

/** The scale of the local stack: each copy is a process on one machine, so there are few, whatever the rate. */
export const localScale = (settings: ScaleSettings): ServiceScale => {
  const rate = usedRate(settings);
  const { maxConcurrency: concurrency = LOCAL_SENDERS, parallelCalls = FULL_BATCH } = settings;
  const memoryMegabytes = 512;
  return {
    ...serviceScale({ maxSendRate: settings.maxSendRate, rateShare: settings.rateShare }),
    sender: {
      concurrency,
      parallelCalls,
      batchSize: batchSizeFor(rate, concurrency),
      memoryMegabytes,
      mailsPerSecond: (concurrency * parallelCalls) / LOCAL_CALL_SECONDS,
    },
    feedback: { concurrency: 3, batchSize: FULL_BATCH, windowSeconds: 0, memoryMegabytes },
    taskWorkers: COPIES.least,
    relayFactor: 1,
    progressFactor: 1,
    warm: undefined,
  };
};

/** What is wrong with the settings of the scale; empty if nothing is. */
export const faultsOfScale = (settings: ScaleSettings): string[] => faultsOfSenders(usedRate(settings), settings);
