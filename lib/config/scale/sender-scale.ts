import {
  CHUNK_WRITES_SECONDS,
  CODE_MEGABYTES,
  COPIES,
  FULL_BATCH,
  MAIL_MEGABYTES,
  MAIL_PROCESSOR_SECONDS,
  PLANNED_LOAD,
  processorShare,
  SES_CALL_SECONDS,
} from './load-model.ts';

/** How many senders there are, and what each of them is given. */
export interface SenderScale {
  readonly concurrency: number;
  readonly parallelCalls: number;
  readonly batchSize: number;
  readonly memoryMegabytes: number;
  /** Mails per second that all senders together can send, whatever the account allows. */
  readonly mailsPerSecond: number;
}

/** Settings that take the place of what is derived. */
export interface SenderSettings {
  readonly maxConcurrency?: number | undefined;
  readonly parallelCalls?: number | undefined;
}

/** Two of the smallest do for a slow account: a sender that waits for the pace is paid by its memory. */
const SMALL_MEGABYTES = 256;
/** Many senders get a size with which they need fewer copies, at hardly a higher price for a mail. */
const USUAL_MEGABYTES = 512;
/** What senders get whose number is given and small. */
const LARGE_MEGABYTES = [1_024, 1_769] as const;

/** A batch must be sent within this time at the pace, so that hardly a message waits in a sender's hand. */
const BATCH_SECONDS = 2;

/** Mails per second of one sender that never waits for the pace. */
export const senderSpeed = (memoryMegabytes: number, parallelCalls: number): number =>
  parallelCalls /
  (SES_CALL_SECONDS + CHUNK_WRITES_SECONDS + (parallelCalls * MAIL_PROCESSOR_SECONDS) / processorShare(memoryMegabytes));

/** Senders of that memory that send at that rate with room to spare. */
const sendersFor = (rate: number, memoryMegabytes: number, parallelCalls: number): number =>
  Math.max(COPIES.least, Math.ceil(rate / (senderSpeed(memoryMegabytes, parallelCalls) * PLANNED_LOAD)));

const hasRoom = (memoryMegabytes: number, parallelCalls: number): boolean =>
  CODE_MEGABYTES + MAIL_MEGABYTES * parallelCalls <= memoryMegabytes;

/** The smallest memory with which so many senders keep up with the rate; the largest if none does. */
const memoryFor = (rate: number, concurrency: number, parallelCalls: number): number =>
  [SMALL_MEGABYTES, USUAL_MEGABYTES, ...LARGE_MEGABYTES].find(
    (memory) => hasRoom(memory, parallelCalls) && sendersFor(rate, memory, parallelCalls) <= concurrency,
  ) ?? LARGE_MEGABYTES[1];

/** How many messages a sender takes at once: two seconds of its pace. */
export const batchSizeFor = (rate: number, concurrency: number): number =>
  Math.max(1, Math.min(FULL_BATCH, Math.floor((rate / concurrency) * BATCH_SECONDS)));

/**
 * Fits the senders to the rate.
 * @param rate mails per second that are to be sent
 */
export const senderScale = (rate: number, given: SenderSettings): SenderScale => {
  const calls = given.parallelCalls ?? FULL_BATCH;
  const isSmall = hasRoom(SMALL_MEGABYTES, calls) && sendersFor(rate, SMALL_MEGABYTES, calls) <= COPIES.least;
  const concurrency = given.maxConcurrency ?? sendersFor(rate, isSmall ? SMALL_MEGABYTES : USUAL_MEGABYTES, calls);
  // No chunk is larger than a second of the pace.
  const parallelCalls = given.parallelCalls ?? Math.max(1, Math.min(FULL_BATCH, Math.floor(rate / concurrency)));
  const memoryMegabytes = memoryFor(rate, concurrency, parallelCalls);
  return {
    concurrency,
    parallelCalls,
    batchSize: batchSizeFor(rate, concurrency),
    memoryMegabytes,
    mailsPerSecond: concurrency * senderSpeed(memoryMegabytes, parallelCalls),
  };
};

/** What is wrong with settings that contradict the rate; empty if nothing is. */
export const faultsOfSenders = (rate: number, given: SenderSettings): string[] => {
  const { concurrency, parallelCalls, mailsPerSecond } = senderScale(rate, given);
  const wanted = `maxSendRate asks for ${round(rate)} mails/s`;
  if (concurrency > COPIES.most) {
    return [`parallelCalls (${parallelCalls}) would need ${concurrency} senders, and there can be ${COPIES.most}: ${wanted}`];
  }
  if (given.maxConcurrency === undefined) return [];
  if (mailsPerSecond < rate) {
    const reached = `maxConcurrency (${concurrency}) × parallelCalls (${parallelCalls}) can send ${round(mailsPerSecond)} mails/s`;
    return [`${reached}, but ${wanted}: leave maxConcurrency out, or raise it`];
  }
  const most = Math.max(COPIES.least, Math.floor(rate));
  return concurrency <= most
    ? []
    : [`maxConcurrency (${concurrency}) leaves each sender less than one mail a second: ${wanted}, so give at most ${most}`];
};

const round = (rate: number): number => Math.round(rate * 10) / 10;
