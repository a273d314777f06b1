import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { lockDirectory } from './cli/lock.ts';
import { createClients } from './clients.ts';
import { readAssembly } from './cloudformation/assembly.ts';
import { createResources } from './cloudformation/create-resources.ts';
import { buildModel, type Model } from './cloudformation/model.ts';
import { readOutputs } from './cloudformation/stack-outputs.ts';
import { provideAssembly } from './cloudformation/synth.ts';
import { startDynamoDb } from './emulators/dynamodb.ts';
import { startEventBus } from './emulators/event-bus.ts';
import { startInbox } from './emulators/inbox.ts';
import { startQueues } from './emulators/queues.ts';
import { type FakeSes, startFakeSes } from './fake-ses/fake-ses.ts';
import { readSeeds, type Seed } from './fake-ses/templates.ts';
import { startGateway } from './http-api/gateway.ts';
import { startIssuer } from './http-api/issuer.ts';
import { createFunctionHost, type FunctionEndpoints } from './lambda-host/host.ts';
import { startSources } from './lambda-host/start-sources.ts';
import { createOperations } from './ops-page/create-operations.ts';
import { openRecordedOutput } from './recorded-output.ts';
import type { Settings } from './settings.ts';
import { removeStackFile, type StackFile, writeStackFile } from './stack-file.ts';
import type { StackHooks } from './stack-hooks.ts';

/** How long calls under way may go on after Ctrl-C; all of the stop stays below 3 s. */
const GRACE_MS = 1_500;

/** Who the printed tokens are for. */
const PEOPLE = {
  admin: { subject: 'admin-1', scopes: ['mail:send', 'mail:read'] },
  secondAdmin: { subject: 'admin-2', scopes: ['mail:send', 'mail:read'] },
  operator: { subject: 'operator-1', scopes: ['mail:send', 'mail:read', 'mail:operate'] },
} as const;

/** A stack that is up. */
export interface LocalStack {
  readonly description: StackFile;
  readonly stop: () => Promise<void>;
}

/** What tells the person at the terminal. */
export interface StackReporter {
  readonly trouble: (text: string) => void;
  readonly step: (text: string) => void;
  /** The stack cannot go on. */
  readonly fatal: (text: string) => void;
}

/** On a server of somebody else's, several stacks may live side by side; each folder goes on with its own table. */
const tableSuffix = (settings: Settings): string => {
  if (settings.dynamodbEndpoint === undefined) return '';
  const file = join(settings.directory, 'table-suffix');
  if (!existsSync(file)) writeFileSync(file, `-${randomBytes(4).toString('hex')}`);
  return readFileSync(file, 'utf8');
};

const seedTemplates = (fakeSes: FakeSes, seeds: readonly Seed[], prefix: string) => {
  for (const { id, template } of seeds) fakeSes.templates.create({ TemplateName: `${prefix}${id}`, TemplateContent: template });
};

/** What the issuer is expected to put before our scopes, as the routes say it. */
const scopePrefixOf = ({ routes }: Model): string => {
  const [first = ''] = routes.flatMap(({ properties }) =>
    properties.AuthorizationType === 'JWT' ? properties.AuthorizationScopes : [],
  );
  return first.slice(0, Math.max(0, first.lastIndexOf('mail:')));
};

const signTokens = async (issuer: Awaited<ReturnType<typeof startIssuer>>, model: Model): Promise<StackFile['tokens']> => {
  const [authorizer] = model.authorizers;
  const { Issuer, Audience } = authorizer?.properties.JwtConfiguration ?? { Issuer: issuer.address, Audience: ['local'] };
  if (issuer.locate(Issuer) !== issuer.address) {
    throw new Error(`The API trusts ${Issuer}, for which no token can be made here. Leave ISSUER unset.`);
  }
  const prefix = scopePrefixOf(model);
  const sign = (person: keyof typeof PEOPLE) => {
    const { subject, scopes } = PEOPLE[person];
    return issuer.sign({ subject, scopes: scopes.map((scope) => `${prefix}${scope}`), audience: Audience[0] ?? '' }, Issuer);
  };
  return { admin: await sign('admin'), secondAdmin: await sign('secondAdmin'), operator: await sign('operator') };
};

/** Brings everything up in order and keeps how to take it down. */
export const startStack = async (settings: Settings, reporter: StackReporter, hooks: StackHooks = {}): Promise<LocalStack> => {
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  const keep = <T extends { readonly stop: () => unknown }>(started: T): T => {
    undo.push(() => started.stop());
    return started;
  };
  const keepIf = <T extends { readonly stop: () => unknown }>(started: T | undefined): T | undefined => started && keep(started);
  const bringUp = async (): Promise<StackFile> => {
    mkdirSync(settings.directory, { recursive: true });
    undo.push(lockDirectory(settings.directory));
    removeStackFile(settings.directory);

    // Ports first: what is in the way is told before anything takes time.
    const recorded = openRecordedOutput(settings);
    const gateway = keep(await startGateway(settings, recorded));
    const issuer = keep(await startIssuer(settings));
    const inbox = keep(await startInbox(settings));
    const queues = keep(await startQueues(settings, recorded));
    const database = keep(await startDynamoDb(settings, reporter.fatal));
    const bus = keep(await startEventBus(settings.directory));
    const fakeSes = keep(await startFakeSes(settings, reporter.trouble));

    reporter.step('Reading the CDK template');
    const assembly = readAssembly(await provideAssembly(settings));
    const proxies = keepIf(await hooks.proxyEmulators?.({ dynamodb: database.endpoint, sqs: queues.endpoint }));
    const queueHost = proxies?.sqs ?? queues.endpoint;
    // Queue addresses lead through the door: the SDK sends a request to the host that its queue URL names.
    const model = buildModel(assembly, { sqs: queueHost, api: gateway.address, tableSuffix: tableSuffix(settings) });
    const readCounts = () => ({ ses: fakeSes.counts(), events: bus.counts(), functions: functions.used() });
    const counts = keepIf(await proxies?.publish?.(readCounts));
    const clients = createClients({ dynamodb: database.endpoint, sqs: queues.endpoint, pollers: queueHost });

    const emulators: FunctionEndpoints = {
      dynamodb: proxies?.dynamodb ?? database.endpoint,
      sqs: queueHost,
      sesv2: fakeSes.address,
      s3: queues.endpoint,
      events: bus.address,
    };
    const crashes = keepIf(
      await hooks.proxyFunctions?.({
        functionNames: model.functions.map(({ name }) => name),
        targets: emulators,
        functions: () => functions,
      }),
    );
    const functions = createFunctionHost(model, settings, {
      endpointsOf: crashes?.endpointsOf ?? (() => emulators),
      queueHost,
    });
    undo.push(() => {
      functions.stop();
    });
    reporter.step('Creating what it describes');
    await Promise.all([createResources(model, clients, fakeSes, settings.directory), functions.warm(reporter.trouble)]);
    bus.addBuses(model.eventBuses.flatMap(({ name, attributes }) => [name, attributes['Arn'] ?? name]));
    const outputs = readOutputs(model);
    const seeds = readSeeds();
    seedTemplates(fakeSes, seeds, outputs.templatePrefix);
    const tokens = await signTokens(issuer, model);

    const sources = await startSources({
      model,
      clients,
      functions,
      settings,
      onTrouble: reporter.trouble,
      ...(crashes && { crashBeforeDelete: crashes.crashBeforeDelete }),
    });
    undo.push(async () => {
      const closeRest = gateway.drain();
      await Promise.race([sources.stop(), new Promise((done) => setTimeout(done, GRACE_MS))]);
      closeRest();
    });
    const operations = createOperations(model, functions, {
      clients,
      fakeSes,
      outputs,
      port: gateway.port,
      links: {
        inbox: inbox.address,
        'the API': `${gateway.address}/docs`,
        'published events': bus.address,
        ...(counts && { counts: counts.address }),
      },
    });
    gateway.serve(model, functions, issuer.locate, operations);

    const description: StackFile = {
      api: gateway.address,
      inbox: inbox.address,
      ses: fakeSes.address,
      sqs: queues.endpoint,
      dynamodb: database.endpoint,
      busUrl: bus.address,
      ...outputs,
      scenarios: seeds.map(({ id, variables, recipientVariables }) => ({ id, variables, recipientVariables })),
      tokens,
      ...(counts && { counts: counts.address }),
      ...(crashes && { crash: crashes.address }),
    };
    writeStackFile(settings.directory, description);
    undo.push(() => {
      removeStackFile(settings.directory);
    });
    return description;
  };
  try {
    return { description: await bringUp(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
