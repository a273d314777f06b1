import type { TemplateResource } from '../assembly.ts';

/** The account and region everything local pretends to live in; the emulators have the account built in. */
export const ACCOUNT = '000000000000';
export const REGION = 'us-east-1';

/** What other parts of a template can say about a resource. */
export interface Identity {
  readonly name: string;
  readonly ref: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Addresses that identities contain. */
export interface Addresses {
  readonly sqs: string;
  readonly api: string;
  /** Put after the table's name, where several stacks share one server. */
  readonly tableSuffix: string;
}

const kebab = (text: string): string =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .toLowerCase();

/** A short name from the construct's path: `Dispatch/SendRecipients/Function/Resource` is `send-recipients-function`. */
const nameOf = (resource: TemplateResource): string => {
  const [, ...parts] = resource.path.split('/');
  if (parts.length > 1 && ['Resource', 'Default'].includes(parts.at(-1) ?? '')) parts.pop();
  return kebab(parts.join('-')).slice(0, 60);
};

const arn = (service: string, rest: string): string => `arn:aws:${service}:${REGION}:${ACCOUNT}:${rest}`;

type Describe = (name: string, addresses: Addresses) => Omit<Identity, 'name'>;

const named: Describe = (name) => ({ ref: name, attributes: {} });

const DESCRIBE: Readonly<Record<string, Describe>> = {
  'AWS::DynamoDB::GlobalTable': (name) => {
    const table = arn('dynamodb', `table/${name}`);
    // The label of the real stream is known only once the table exists; the mapping goes by the table's name.
    return { ref: name, attributes: { Arn: table, StreamArn: `${table}/stream/local`, TableId: name } };
  },
  'AWS::S3::Bucket': (name) => ({ ref: name, attributes: { Arn: `arn:aws:s3:::${name}` } }),
  'AWS::SQS::Queue': (name, { sqs }) => {
    const url = `${sqs}/${ACCOUNT}/${name}`;
    return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
  },
  'AWS::SNS::Topic': (name) => {
    const topic = arn('sns', name);
    return { ref: topic, attributes: { TopicArn: topic, TopicName: name } };
  },
  'AWS::Lambda::Function': (name) => ({ ref: name, attributes: { Arn: arn('lambda', `function:${name}`) } }),
  'AWS::Events::EventBus': (name) => ({ ref: name, attributes: { Arn: arn('events', `event-bus/${name}`), Name: name } }),
  'AWS::Events::Rule': (name) => ({ ref: name, attributes: { Arn: arn('events', `rule/${name}`) } }),
  'AWS::ApiGatewayV2::Api': (name, { api }) => ({ ref: name, attributes: { ApiId: name, ApiEndpoint: api } }),
  'AWS::IAM::Role': (name) => ({ ref: name, attributes: { Arn: `arn:aws:iam::${ACCOUNT}:role/${name}` } }),
  'AWS::Logs::LogGroup': (name) => ({ ref: name, attributes: { Arn: arn('logs', `log-group:${name}:*`) } }),
  'AWS::KMS::Key': (name) => ({ ref: name, attributes: { Arn: arn('kms', `key/${name}`), KeyId: name } }),
  'AWS::CloudWatch::Alarm': (name) => ({ ref: name, attributes: { Arn: arn('cloudwatch', `alarm:${name}`) } }),
};

const PHYSICAL_NAME: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::S3::Bucket': 'BucketName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::SNS::Topic': 'TopicName',
  'AWS::SES::ConfigurationSet': 'Name',
  'AWS::Lambda::Function': 'FunctionName',
  'AWS::Events::EventBus': 'Name',
  'AWS::Events::Rule': 'Name',
};

/** How the resource is called here: by its own physical name if the template gives one. */
export const identify = (resource: TemplateResource, addresses: Addresses): Identity => {
  const given = resource.properties[PHYSICAL_NAME[resource.type] ?? ''];
  const suffix = resource.type === 'AWS::DynamoDB::GlobalTable' ? addresses.tableSuffix : '';
  const name = (typeof given === 'string' ? given : nameOf(resource)) + suffix;
  const describe = DESCRIBE[resource.type] ?? named;
  return { name, ...describe(name, addresses) };
};
