import type { Bucket } from 'aws-cdk-lib/aws-s3';

import type { ServiceScale } from '../../config/scale/service-scale.ts';
import type { StageSettings } from '../../config/stages.ts';
import type { DispatchEventBus } from '../../constructs/dispatch-event-bus.ts';
import type { DispatchTable } from '../../constructs/dispatch-table.ts';
import type { ExportBucket } from '../../constructs/export-bucket.ts';
import type { ListBucket } from '../../constructs/list-bucket.ts';
import type { SesFeedback } from '../../constructs/ses-feedback.ts';
import type { WorkerQueue } from '../../constructs/worker-queue.ts';

/** What the functions of the service work with. */
export interface SharedResources {
  readonly stage: StageSettings;
  readonly scale: ServiceScale;
  readonly table: DispatchTable;
  /** Long lists of recipients and large content. */
  readonly lists: ListBucket;
  /** Where stream records go that could not be handled. */
  readonly failures: Bucket;
  readonly exports: ExportBucket;
  readonly sends: WorkerQueue;
  readonly tasks: WorkerQueue;
  readonly events: SesFeedback;
  readonly news: DispatchEventBus;
}
