import type { HttpApi } from 'aws-cdk-lib/aws-apigatewayv2';

import type { ServiceFunction } from '../constructs/service-function.ts';
import type { StreamConsumer } from '../constructs/stream-consumer.ts';
import type { WorkerQueue } from '../constructs/worker-queue.ts';

/** What of the running parts is looked at. */
export interface MonitoredResources {
  readonly api: HttpApi;
  readonly sends: WorkerQueue;
  readonly tasks: WorkerQueue;
  readonly feedback: WorkerQueue;
  readonly sender: ServiceFunction;
  /** Shows people how the service stands. */
  readonly widget: ServiceFunction;
  readonly streams: readonly StreamConsumer[];
  /** Functions whose trouble no caller sees. */
  readonly background: readonly ServiceFunction[];
  /** All functions that write to a log. */
  readonly functions: readonly ServiceFunction[];
}
