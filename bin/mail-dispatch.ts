import { App } from 'aws-cdk-lib';

import { environmentName } from '../lib/config/setting.ts';
import { LOCAL, readStage } from '../lib/config/stages.ts';
import { DispatchStack } from '../lib/stacks/dispatch-stack.ts';
import { WatchStack } from '../lib/stacks/monitoring-stack.ts';
import { StorageStack } from '../lib/stacks/storage-stack.ts';

const app = new App();

const context = (key: string): unknown => app.node.tryGetContext(key);
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null;

/** Settings of the stage as they stand in cdk.json. */
const written = (name: unknown): Readonly<Record<string, unknown>> => {
  const stages = context('stages');
  const own = isRecord(stages) && typeof name === 'string' ? stages[name] : undefined;
  return isRecord(own) ? own : {};
};

/** An empty variable means "not set", as in most shells' habits. */
const fromEnvironment = (key: string): string | undefined => {
  const value = process.env[environmentName(key)];
  return value === '' ? undefined : value;
};

const name = context('stage');
const own = written(name);
const stage = readStage(name, (key) => context(key) ?? (name === LOCAL ? fromEnvironment(key) : undefined) ?? own[key]);

const common = { stage, terminationProtection: stage.deletionProtection };
const storage = new StorageStack(app, 'Storage', {
  ...common,
  stackName: `mail-dispatch-${stage.name}-storage`,
  description: 'Mail dispatch: what must survive',
});
const dispatch = new DispatchStack(app, 'Dispatch', {
  ...common,
  stackName: `mail-dispatch-${stage.name}`,
  description: 'Mail dispatch: API, queues, senders, recovery',
  table: storage.table,
  lists: storage.lists,
  failures: storage.failures,
  exports: storage.exports,
});
new WatchStack(app, 'Watch', {
  stage,
  stackName: `mail-dispatch-${stage.name}-watch`,
  description: 'Mail dispatch: alarms, dashboard, saved queries',
  table: storage.table,
  monitored: dispatch.monitored,
});
