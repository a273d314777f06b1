import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import * as model from '../../lib/config/scale/load-model.ts';
import { serviceScale } from '../../lib/config/scale/service-scale.ts';
import { ROOT } from './synthesized.ts';

const lines = readFileSync(join(ROOT, 'docs/scale.md'), 'utf8').split('\n');
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const inWords = (n: number): string => n.toLocaleString('en-US');

/** Rows of the first table whose header has the cell. */
const rowsUnder = (header: string): string[][] => {
  const start = lines.findIndex((line) => cellsOf(line).includes(header));
  const rest = lines.slice(start + 2);
  return rest
    .slice(
      0,
      rest.findIndex((line) => !line.startsWith('|')),
    )
    .map(cellsOf);
};

describe('docs/scale.md', () => {
  it.each([14, 100, 500, 2_000, 5_000])('says what is built for %d mails/s', (maxSendRate) => {
    const { rate, sender, feedback, taskWorkers, relayFactor, progressFactor, lambdaConcurrency, used, warm } = serviceScale({
      maxSendRate,
      rateShare: 0.9,
    });

    expect(rowsUnder('Lambda concurrency to ask for')).toContainEqual([
      inWords(maxSendRate),
      inWords(rate),
      `${inWords(sender.concurrency)} × ${inWords(sender.memoryMegabytes)} MB`,
      inWords(sender.parallelCalls),
      inWords(sender.batchSize),
      `${inWords(feedback.concurrency)} × ${inWords(feedback.memoryMegabytes)} MB`,
      inWords(taskWorkers),
      `${relayFactor}, ${progressFactor}`,
      inWords(lambdaConcurrency),
      inWords(used.writes),
      warm === undefined ? '–' : inWords(warm.writes),
    ]);
  });

  it('says for each of them what gives way first', () => {
    expect(rowsUnder('what gives way first').map(([rate]) => rate)).toEqual(['14', '100', '500', '2,000', '5,000']);
  });

  it('names the assumptions of the model as they are', () => {
    const values = rowsUnder('assumption').map(([, value]) => value);

    expect(values).toEqual([
      `in ${model.SES_CALL_SECONDS} s`,
      `${model.CHUNK_WRITES_SECONDS} s`,
      `${model.MAIL_PROCESSOR_SECONDS * 1_000} ms`,
      `${model.EVENT_PROCESSOR_SECONDS * 1_000} ms, and ${model.EVENT_BATCH_SECONDS} s for a batch of ten`,
      `up to ${model.EVENTS_PER_MAIL}`,
      `${model.ROWS_PER_WORKER} rows per second, and rows are inserted ${model.INSERT_AHEAD} times as fast as they are sent`,
      `${model.RECORDS_PER_CONSUMER} records per second`,
      `${model.PLANNED_LOAD} of its top speed`,
    ]);
  });
});
