import { Duration, Stack } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { CorsHttpMethod, HttpApi, type HttpMethod, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

import { removalPolicyOf } from './removal.ts';
import type { ServiceFunction } from './service-function.ts';

/** One function, and the requests that it answers. */
export interface Endpoint {
  readonly handler: ServiceFunction;
  readonly routes: readonly {
    readonly method: HttpMethod;
    readonly path: string;
    /** A token with any one of these may call; the issuer's prefix is put before each. */
    readonly scopes: readonly string[];
  }[];
}

export interface DispatchApiProps {
  readonly issuer: string;
  readonly audience: readonly string[];
  /** What the issuer puts before the names of scopes. */
  readonly scopePrefix: string;
  /** Origins of pages that may call from a browser; none: no page may. */
  readonly allowedOrigins: readonly string[];
  /** By the name of their integration. */
  readonly endpoints: Readonly<Record<string, Endpoint>>;
  readonly retainData: boolean;
}

/** Far above what admins do by hand; what it stops is a client that loops. */
const THROTTLE = { rateLimit: 50, burstLimit: 100 };

/** What was called, and how it ended: no caller, whose id may be a mail address, no network address, no query. */
const ACCESS_LOG = {
  requestId: '$context.requestId',
  time: '$context.requestTime',
  route: '$context.routeKey',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  integrationStatus: '$context.integrationStatus',
  integrationError: '$context.integrationErrorMessage',
  authorizerError: '$context.authorizer.error',
};

/** What a page needs: the headers of our requests, and those of our answers that it reads. */
const corsFor = (origins: readonly string[]) => ({
  allowOrigins: [...origins],
  allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST, CorsHttpMethod.PUT],
  allowHeaders: ['authorization', 'content-encoding', 'content-type', 'idempotency-key'],
  exposeHeaders: ['idempotency-replayed', 'location', 'retry-after'],
  maxAge: Duration.hours(1),
});

/** The HTTP API: every route asks for a token of the issuer, with a scope. */
export class DispatchApi extends Construct {
  readonly api: HttpApi;
  readonly url: string;

  constructor(scope: Construct, id: string, props: DispatchApiProps) {
    super(scope, id);

    const authorizer = new HttpJwtAuthorizer('Tokens', props.issuer, { jwtAudience: [...props.audience] });
    const api = new HttpApi(this, 'Api', {
      apiName: Stack.of(this).stackName,
      createDefaultStage: false,
      ...(props.allowedOrigins.length > 0 && { corsPreflight: corsFor(props.allowedOrigins) }),
    });
    for (const [name, { handler, routes }] of Object.entries(props.endpoints)) {
      const integration = new HttpLambdaIntegration(name, handler.lambda);
      for (const { method, path, scopes } of routes) {
        const authorizationScopes = scopes.map((scope) => `${props.scopePrefix}${scope}`);
        api.addRoutes({ path, methods: [method], integration, authorizer, authorizationScopes });
      }
    }

    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: props.retainData ? RetentionDays.THREE_MONTHS : RetentionDays.ONE_WEEK,
      removalPolicy: removalPolicyOf(props.retainData),
    });
    new HttpStage(this, 'Stage', {
      httpApi: api,
      stageName: '$default',
      autoDeploy: true,
      throttle: THROTTLE,
      // By route they would cost as much as all other metrics together, and nothing reads them.
      detailedMetricsEnabled: false,
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    this.api = api;
    this.url = api.apiEndpoint;
  }
}
