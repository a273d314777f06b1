import type { Clients } from '../clients.ts';
import { findStream } from '../cloudformation/create-resources.ts';
import type { Model } from '../cloudformation/model.ts';
import { NotUnderstoodError } from '../cloudformation/parse-resource.ts';
import type { Settings } from '../settings.ts';
import { checkpointFile, openCheckpoints } from './event-sources/checkpoints.ts';
import { writeToFailureBucket } from './event-sources/failure-bucket.ts';
import { compileFilters } from './event-sources/filter.ts';
import { type EventSource, startQueueSource } from './event-sources/queue-source.ts';
import { startSchedule } from './event-sources/schedule.ts';
import { startStreamSource } from './event-sources/stream-source.ts';
import type { FunctionHost } from './host.ts';

/** What the event sources work with. */
export interface SourceSurroundings {
  readonly model: Model;
  readonly clients: Clients;
  readonly functions: FunctionHost;
  readonly settings: Settings;
  /** For tests of crashes: kills a function's processes if a crash is ordered for the moment before its messages are deleted. */
  readonly crashBeforeDelete?: (functionName: string) => Promise<boolean>;
  readonly onTrouble: (text: string) => void;
}

const startQueues = ({ model, clients, functions, crashBeforeDelete, onTrouble }: SourceSurroundings): EventSource[] =>
  model.queueMappings.map(({ resource, properties }) => {
    const queue = model.queues.find(({ attributes }) => attributes['Arn'] === properties.EventSourceArn);
    if (queue === undefined) throw new NotUnderstoodError(resource, `there is no queue ${properties.EventSourceArn}`);
    const pool = functions.find(properties.FunctionName);
    return startQueueSource({
      sqs: clients.pollers,
      queueUrl: queue.ref,
      queueArn: properties.EventSourceArn,
      pool,
      batchSize: properties.BatchSize,
      maxConcurrency: properties.ScalingConfig.MaximumConcurrency,
      reportsItems: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
      ...(crashBeforeDelete && { losesAnswer: () => crashBeforeDelete(pool.definition.name) }),
      onTrouble,
    });
  });

const startStreams = async (surroundings: SourceSurroundings): Promise<EventSource[]> => {
  const { model, clients, functions, settings, onTrouble } = surroundings;
  const checkpoints = openCheckpoints(checkpointFile(settings.directory));
  return Promise.all(
    model.streamMappings.map(async ({ resource, name: mapping, properties }) => {
      // A restored table is no resource of the template: the stream's address names it.
      const name = /:table\/([^/]+)\/stream\//.exec(properties.EventSourceArn)?.[1];
      if (name === undefined) throw new NotUnderstoodError(resource, `${properties.EventSourceArn} is no stream of a table`);
      const streamArn = await findStream(clients, name);
      const pool = functions.find(properties.FunctionName);
      const bucket = properties.DestinationConfig?.OnFailure.Destination.split(':::')[1];
      return startStreamSource({
        streams: clients.streams,
        streamArn,
        pool,
        batchSize: properties.BatchSize,
        windowSeconds: properties.MaximumBatchingWindowInSeconds,
        matches: compileFilters(properties.FilterCriteria.Filters.map(({ Pattern }) => Pattern)),
        bisect: properties.BisectBatchOnFunctionError,
        maxRetries: properties.MaximumRetryAttempts,
        maxAgeSeconds: properties.MaximumRecordAgeInSeconds,
        reportsItems: properties.FunctionResponseTypes.includes('ReportBatchItemFailures'),
        checkpoints,
        discard: async (records, reason, attempts, shardId) => {
          onTrouble(`${pool.definition.name}: ${records.length} stream records given up (${reason})`);
          if (bucket === undefined) return;
          const functionArn = pool.definition.arn;
          const discarded = { records, reason, attempts, mapping, functionArn, streamArn, shardId };
          await writeToFailureBucket(clients.s3, bucket, discarded);
        },
        onTrouble,
      });
    }),
  );
};

const EVERY_MINUTE = 'rate(1 minute)';

const startSchedules = ({ model, functions, settings, onTrouble }: SourceSurroundings): EventSource[] =>
  model.rules.flatMap(({ attributes, properties }) =>
    properties.Targets.map((target) =>
      startSchedule({
        ruleArn: attributes['Arn'] ?? '',
        pool: functions.find(target.Arn),
        intervalSeconds: properties.ScheduleExpression === EVERY_MINUTE ? settings.resolveSeconds : settings.sweepSeconds,
        onTrouble,
      }),
    ),
  );

/** Starts every event source of the template; stopping waits for the calls under way. */
export const startSources = async (surroundings: SourceSurroundings): Promise<EventSource> => {
  const sources = [...startQueues(surroundings), ...(await startStreams(surroundings)), ...startSchedules(surroundings)];
  return {
    stop: async () => {
      await Promise.all(sources.map((source) => source.stop()));
    },
  };
};
