import { join, resolve } from 'node:path';

import type { Duration } from 'aws-cdk-lib';
import { type IGrantable, type IPrincipal, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

import { removalPolicyOf } from './removal.ts';

export interface ServiceFunctionProps {
  /** Folder under lambda/handlers whose index.ts exports `handler`. */
  readonly handler: string;

  /** What the handler's env.ts asks for; check it with `satisfies` where it is written. */
  readonly environment: Readonly<Record<string, string>>;

  readonly timeout: Duration;
  readonly memoryMegabytes: number;

  /** Whether the logs outlive the stack. */
  readonly retainData: boolean;

  /**
   * Copies of the function that are set aside for it, and the most that run at once.
   *
   * @default - shares what the account has
   */
  readonly reservedConcurrency?: number;
}

/** Where our metrics are found, and the dimension `service` of all of them. The other one is `Stage`. */
export const METRICS_NAMESPACE = 'MailDispatch';
export const SERVICE_NAME = 'mail-dispatch';

const ROOT = resolve(import.meta.dirname, '../..');

/** Some packages in the bundle are CommonJS and call `require`, which an ES module does not have. */
const REQUIRE_FOR_ESM =
  "import{createRequire as createRequireForBundle}from'node:module';const require=createRequireForBundle(import.meta.url);";

/** A function of this service: the house's runtime, bundle, log group and settings, and a role that starts with no rights but its log. */
export class ServiceFunction extends Construct implements IGrantable {
  readonly lambda: LambdaFunction;
  readonly logs: LogGroup;
  readonly timeout: Duration;
  readonly grantPrincipal: IPrincipal;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    this.timeout = props.timeout;

    const logGroup = new LogGroup(this, 'Logs', {
      retention: props.retainData ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_WEEK,
      removalPolicy: removalPolicyOf(props.retainData),
    });
    // A role of our own: the managed policy that CDK attaches otherwise may write to every log of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.grantPrincipal = role;
    logGroup.grantWrite(role);
    this.logs = logGroup;

    this.lambda = new NodejsFunction(this, 'Function', {
      entry: join(ROOT, 'lambda/handlers', props.handler, 'index.ts'),
      projectRoot: ROOT,
      depsLockFilePath: join(ROOT, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: props.timeout,
      memorySize: props.memoryMegabytes,
      role,
      logGroup,
      ...(props.reservedConcurrency !== undefined && { reservedConcurrentExecutions: props.reservedConcurrency }),
      awsSdkConnectionReuse: false,
      environment: {
        ...props.environment,
        POWERTOOLS_SERVICE_NAME: SERVICE_NAME,
        POWERTOOLS_METRICS_NAMESPACE: METRICS_NAMESPACE,
        POWERTOOLS_LOG_LEVEL: 'INFO',
        NODE_OPTIONS: '--enable-source-maps',
      },
      bundling: {
        format: OutputFormat.ESM,
        target: 'node24',
        mainFields: ['module', 'main'],
        minify: true,
        sourceMap: true,
        // Our sources are in the repository; in the bundle they would double its size.
        sourcesContent: false,
        // The runtime's own SDK may not know an option that a send depends on, and would ignore it silently.
        bundleAwsSDK: true,
        banner: REQUIRE_FOR_ESM,
        logLevel: LogLevel.WARNING,
      },
    });
  }
}
