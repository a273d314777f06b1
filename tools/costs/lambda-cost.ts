import { CHUNK_WRITES_SECONDS, FULL_BATCH, processorShare, SES_CALL_SECONDS } from '../../lib/config/scale/load-model.ts';
import { PRICES } from './price-list.ts';

/** What the invocations of one function took in a run on this machine. */
export interface FunctionTime {
  readonly invocations: number;
  readonly milliseconds: number;
  /** Of a whole processor. */
  readonly processorMilliseconds: number;
  readonly memoryMegabytes: number;
}

/** What a function costs on AWS for a million mails. */
export interface LambdaCost {
  readonly gigabyteSeconds: number;
  readonly requests: number;
  readonly dollars: number;
}

const MILLION = 1e6;

const costOf = (secondsPerMail: number, invocationsPerMail: number, memoryMegabytes: number): LambdaCost => {
  const gigabyteSeconds = secondsPerMail * (memoryMegabytes / 1_024) * MILLION;
  const requests = invocationsPerMail * MILLION;
  const dollars = gigabyteSeconds * PRICES.lambdaGigabyteSecond + requests * PRICES.lambdaRequest;
  return { gigabyteSeconds, requests, dollars };
};

/** Milliseconds in which a function did nothing but wait for answers. */
const waitedOf = ({ milliseconds, processorMilliseconds }: FunctionTime): number =>
  Math.max(0, milliseconds - processorMilliseconds);

/** How long a function waits for each mail. @param mails how many mails the run sent */
export const waitOfMail = (time: FunctionTime, mails: number): number => waitedOf(time) / mails;

/** How long a function waits in each call, however many mails or events it brings: what they wait for is asked at once. */
export const waitOfCall = (time: FunctionTime): number => waitedOf(time) / time.invocations;

/**
 * A function that does not wait for the pace: its processor time takes longer on a part of a processor, and it waits for
 * answers besides.
 * @param mails how many mails the run sent
 * @param waitMs milliseconds for each mail, of a run that did not load the machine: in one that does, functions wait for it
 */
export const workCost = (time: FunctionTime, mails: number, waitMs: number, memoryMegabytes: number): LambdaCost => {
  const processorMs = time.processorMilliseconds / mails / processorShare(memoryMegabytes);
  return costOf((waitMs + processorMs) / 1_000, time.invocations / mails, memoryMegabytes);
};

/** Senders in a run at their true pace: all of their time counts as it was, since what they compute they need not sleep. */
export const pacedCost = (time: FunctionTime, mails: number, memoryMegabytes: number): LambdaCost =>
  costOf(time.milliseconds / 1_000 / mails, time.invocations / mails, memoryMegabytes);

/** What is known of the senders of a stage. */
export interface Senders {
  readonly concurrency: number;
  readonly batchSize: number;
  readonly memoryMegabytes: number;
}

/**
 * Senders at a rate that this machine does not reach: with a backlog all of them run all the time, waiting for the pace or
 * working, whichever is longer.
 * @param rate mails per second that are sent
 */
export const plannedCost = (time: FunctionTime, mails: number, rate: number, senders: Senders): LambdaCost => {
  const { concurrency, batchSize, memoryMegabytes } = senders;
  const own = time.processorMilliseconds / mails / 1_000 / processorShare(memoryMegabytes);
  const working = (SES_CALL_SECONDS + CHUNK_WRITES_SECONDS) / Math.min(batchSize, FULL_BATCH) + own;
  return costOf(Math.max(working, concurrency / rate), 1 / batchSize, memoryMegabytes);
};
