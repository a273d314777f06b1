/**
 * What the work costs, in time and units: the assumptions behind every number that is derived from the rate. Times are in
 * seconds, memory in MB. `npm run costs` measures what can be measured on one machine.
 */

/** A function gets a whole processor at this much memory, and less in proportion. */
const WHOLE_PROCESSOR_MEGABYTES = 1_769;

/** The part of a processor that a function of this memory has. One Node.js thread cannot use more than one. */
export const processorShare = (memoryMegabytes: number): number => Math.min(1, memoryMegabytes / WHOLE_PROCESSOR_MEGABYTES);

/** Part of a function's top speed that is planned for. The rest absorbs slow answers, cold starts, retries and uneven batches. */
export const PLANNED_LOAD = 0.65;

/** SES answers a call from the same region in 100 to 200 ms; the slow end is planned for. */
export const SES_CALL_SECONDS = 0.2;

/** A batch of writes to DynamoDB takes about 10 ms. A chunk of mails is claimed and recorded: two of them. */
export const CHUNK_WRITES_SECONDS = 0.02;

/** Rendering, signing and parsing: 2 to 3 ms of a whole processor for a mail, and its row is read while it waits for the pace. */
export const MAIL_PROCESSOR_SECONDS = 0.003;

/** Events of SES for a mail: Send, Delivery, and at times a delay, a bounce or a complaint. */
export const EVENTS_PER_MAIL = 3;

/** Parsing an event, and reading and writing its row. */
export const EVENT_PROCESSOR_SECONDS = 0.006;

/** The events of a batch are applied at once: one read, one write, and then the watermark for all of them. */
export const EVENT_BATCH_SECONDS = 0.04;

/** SQS hands over no more without a batching window. Feedback has room to note as many events that it cannot apply. */
export const FULL_BATCH = 10;

/** Rows that one task worker inserts in a second: 25 a call and one call after the other, some 50 ms each on 1,024 MB. */
export const ROWS_PER_WORKER = 500;

/** Rows are inserted faster than they are sent, so that the senders never wait for them. */
export const INSERT_AHEAD = 1.3;

/** Write units of a mail: its row, its claim, its record, up to three events, and its part of the counts. Rows above 1 KB use more. */
export const WRITES_PER_MAIL = 7;

/** Read units of a mail: the row before its turn, and before each event. */
export const READS_PER_MAIL = 4;

/** Changes of a row that progress counts: claim, record, and the events. */
export const CHANGES_PER_MAIL = 2 + EVENTS_PER_MAIL;

/** Stream records that one copy of a consumer handles in a second, at 512 MB and 100 a batch. */
export const RECORDS_PER_CONSUMER = 500;

/** A partition of the table carries that many write units a second, and has one shard of the stream. */
export const WRITES_PER_PARTITION = 1_000;

/** What a new on-demand table takes at once, in units per second. */
export const NEW_TABLE = { reads: 12_000, writes: 4_000 } as const;

/** Write units per second that an account allows a table until it asks for more. */
export const TABLE_WRITE_QUOTA = 40_000;

/** Copies of the function that resolves unclear outcomes. Two walks at once do no harm, and more of them no good. */
export const RESOLVER_COPIES = 2;

/** What the functions without an event source need at a busy time: the API, the sweeper, the dashboard. */
export const OTHER_FUNCTIONS = 30;

/** Lambda refuses reservations that leave an account less than this. */
export const UNRESERVED_MINIMUM = 100;

/** Memory of the code and its libraries, and of one mail of 1 MB being rendered, encoded and sent. */
export const CODE_MEGABYTES = 130;
export const MAIL_MEGABYTES = 6;

/** Event sources of queues accept no fewer copies, and no more. */
export const COPIES = { least: 2, most: 1_000 } as const;
