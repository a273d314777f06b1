import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';

import type { ServiceFunction } from '../constructs/service-function.ts';
import type { WorkerQueue } from '../constructs/worker-queue.ts';

/** A function that follows the table's stream. */
export interface WatchedStream {
  readonly follower: ServiceFunction;
  readonly mapping: EventSourceMapping;
}

/** What of the running parts is looked at. */
export interface Watched {
  readonly api: HttpApi;
  readonly sends: WorkerQueue;
  readonly tasks: WorkerQueue;
  readonly feedback: WorkerQueue;
  readonly sender: ServiceFunction;
  readonly streams: readonly WatchedStream[];
  /** Functions whose trouble no caller sees. */
  readonly background: readonly ServiceFunction[];
  /** All functions that write to a log. */
  readonly functions: readonly ServiceFunction[];
}
