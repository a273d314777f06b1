import type { Clients } from '../clients.ts';
import type { Model } from '../cloudformation/model.ts';
import type { readOutputs } from '../cloudformation/stack-outputs.ts';
import type { FakeSes } from '../fake-ses/fake-ses.ts';
import type { FunctionHost } from '../lambda-host/host.ts';
import { repairableQueues } from '../redrive/repairable-queues.ts';
import type { Links } from './page.ts';
import { createOpsRoutes } from './routes.ts';

/** What of a running stack the operations page looks at. */
export interface Surroundings {
  readonly clients: Pick<Clients, 'sqs'>;
  readonly fakeSes: FakeSes;
  readonly outputs: ReturnType<typeof readOutputs>;
  /** Of the API, whose address the page shares. */
  readonly port: number;
  readonly links: Links;
}

/** By the name that the local stack gives the construct `ShowOperations`. */
const WIDGET = 'show-operations';

/** The operations page of a running stack. */
export const createOperations = (
  model: Model,
  functions: FunctionHost,
  { clients, fakeSes, outputs, port, links }: Surroundings,
) => {
  const widget = model.functions.find(({ name }) => name.startsWith(WIDGET));
  return createOpsRoutes({
    sqs: clients.sqs,
    queues: repairableQueues(outputs),
    fakeSes,
    port,
    links,
    widget: widget && functions.find(widget.name),
  });
};
