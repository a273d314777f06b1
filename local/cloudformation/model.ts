import * as z from 'zod';

import type { Assembly, AssemblyStack, TemplateResource } from './assembly.ts';
import { NotUnderstoodError, parseResource } from './parse-resource.ts';
import { type References, resolveValue } from './resolve.ts';
import { LambdaFunction, QueueMapping, ScheduleRule, StreamMapping } from './types/compute-types.ts';
import { HttpApi, HttpIntegration, HttpRoute, HttpStage, JwtAuthorizer } from './types/http-types.ts';
import { ACCOUNT, type Addresses, identify, type Identity, REGION } from './types/identity.ts';
import { ConfigurationSet, EventBus, EventDestination, Queue, Subscription, Topic } from './types/messaging-types.ts';
import { Bucket, GlobalTable } from './types/storage-types.ts';

/** Types that are known and have nothing to do here, with the reason. */
const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'AWS::IAM::Role': 'no rights are checked',
  'AWS::IAM::Policy': 'no rights are checked',
  'AWS::Lambda::Permission': 'no rights are checked',
  'AWS::SQS::QueuePolicy': 'no rights are checked',
  'AWS::SNS::TopicPolicy': 'no rights are checked',
  'AWS::S3::BucketPolicy': 'no rights are checked',
  'AWS::KMS::Key': 'encryption at rest',
  'AWS::KMS::Alias': 'encryption at rest',
  'AWS::Logs::LogGroup': 'logs go to files',
  'AWS::CloudWatch::Alarm': 'no metrics are collected',
  'AWS::CloudWatch::CompositeAlarm': 'no metrics are collected',
  'AWS::CloudWatch::Dashboard': 'no metrics are collected',
  'AWS::Logs::QueryDefinition': 'logs go to files',
  'AWS::Logs::MetricFilter': 'no metrics are collected',
  'AWS::CDK::Metadata': 'statistics of CDK',
};

const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::AccountId': ACCOUNT,
  'AWS::Region': REGION,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
};

/** A resource with its name here and its properties as the local stack understands them. */
export interface Understood<T> extends Identity {
  readonly resource: TemplateResource;
  readonly properties: T;
}

const createReferences = (
  assembly: Assembly,
  stack: AssemblyStack,
  identities: ReadonlyMap<TemplateResource, Identity>,
): References => {
  const find = (logicalId: string): Identity => {
    const resource = stack.resources.find((each) => each.logicalId === logicalId);
    const identity = resource && identities.get(resource);
    if (identity === undefined) throw new Error(`${stack.name} refers to ${logicalId}, which it does not have`);
    return identity;
  };
  const references: References = {
    ref: (name) => {
      if (name === 'AWS::StackName') return stack.name;
      return PSEUDO_PARAMETERS[name] ?? stack.parameters[name] ?? find(name).ref;
    },
    attribute: (logicalId, attribute) => {
      const value = find(logicalId).attributes[attribute];
      if (value === undefined) throw new Error(`attribute ${attribute} of ${logicalId} is not understood by the local stack`);
      return value;
    },
    importValue: (name) => {
      for (const exporting of assembly.stacks) {
        const output = Object.values(exporting.outputs).find((each) => each.exportName === name);
        if (output !== undefined) return resolveValue(output.value, createReferences(assembly, exporting, identities));
      }
      throw new Error(`${stack.name} imports ${name}, which no stack exports`);
    },
  };
  return references;
};

/** Everything the templates describe, understood; throws on the first thing that is not. */
export const buildModel = (assembly: Assembly, addresses: Addresses) => {
  const all = assembly.stacks.flatMap((stack) => stack.resources);
  const identities = new Map(all.map((resource) => [resource, identify(resource, addresses)]));
  const references = new Map(assembly.stacks.map((stack) => [stack.name, createReferences(assembly, stack, identities)]));
  const known = new Set(Object.keys(WITHOUT_EFFECT));

  const resolved = (resource: TemplateResource): unknown => {
    const own = references.get(resource.stack);
    if (own === undefined) throw new Error(`there is no stack ${resource.stack}`);
    try {
      return resolveValue(resource.properties, own);
    } catch (error) {
      throw new NotUnderstoodError(resource, error instanceof Error ? error.message : String(error), { cause: error });
    }
  };
  const parse = <T>(resource: TemplateResource, schema: z.ZodType<T>): Understood<T> => ({
    ...identify(resource, addresses),
    resource,
    properties: parseResource(resource, schema, resolved(resource)),
  });
  const ofType = (type: string): TemplateResource[] => {
    known.add(type);
    return all.filter((resource) => resource.type === type);
  };
  const collect = <T>(type: string, schema: z.ZodType<T>): Understood<T>[] =>
    ofType(type).map((resource) => parse(resource, schema));

  const mappings = ofType('AWS::Lambda::EventSourceMapping').map((resource) => ({
    resource,
    source: z.object({ EventSourceArn: z.string() }).parse(resolved(resource)).EventSourceArn,
  }));
  const ofSource = (service: string) => mappings.filter(({ source }) => source.startsWith(`arn:aws:${service}:`));
  const foreign = mappings.find(({ source }) => !/^arn:aws:(sqs|dynamodb):/.test(source));
  if (foreign)
    throw new NotUnderstoodError(foreign.resource, `event source ${foreign.source} is not understood by the local stack`);

  const model = {
    tables: collect('AWS::DynamoDB::GlobalTable', GlobalTable),
    buckets: collect('AWS::S3::Bucket', Bucket),
    queues: collect('AWS::SQS::Queue', Queue),
    topics: collect('AWS::SNS::Topic', Topic),
    subscriptions: collect('AWS::SNS::Subscription', Subscription),
    configurationSets: collect('AWS::SES::ConfigurationSet', ConfigurationSet),
    eventDestinations: collect('AWS::SES::ConfigurationSetEventDestination', EventDestination),
    eventBuses: collect('AWS::Events::EventBus', EventBus),
    functions: collect('AWS::Lambda::Function', LambdaFunction),
    queueMappings: ofSource('sqs').map(({ resource }) => parse(resource, QueueMapping)),
    streamMappings: ofSource('dynamodb').map(({ resource }) => parse(resource, StreamMapping)),
    rules: collect('AWS::Events::Rule', ScheduleRule),
    apis: collect('AWS::ApiGatewayV2::Api', HttpApi),
    stages: collect('AWS::ApiGatewayV2::Stage', HttpStage),
    integrations: collect('AWS::ApiGatewayV2::Integration', HttpIntegration),
    routes: collect('AWS::ApiGatewayV2::Route', HttpRoute),
    authorizers: collect('AWS::ApiGatewayV2::Authorizer', JwtAuthorizer),
    outputs: Object.fromEntries(
      assembly.stacks.flatMap((stack) =>
        Object.entries(stack.outputs).map(([name, { value }]) => {
          const own = references.get(stack.name);
          return [name, own && resolveValue(value, own)];
        }),
      ),
    ),
    codeOf: (key: string): string | undefined => assembly.assets.get(key),
  };

  const unknown = all.find((resource) => !known.has(resource.type));
  if (unknown) throw new NotUnderstoodError(unknown, 'this type of resource is not understood by the local stack');
  return model;
};

/** What the template host hands to those who bring it up. */
export type Model = ReturnType<typeof buildModel>;
