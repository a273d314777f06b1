import * as z from 'zod';

import { withoutEffect } from '../parse-resource.ts';

/** AWS::ApiGatewayV2::Api of protocol HTTP. */
export const HttpApi = z.strictObject({
  Name: z.string(),
  ProtocolType: z.literal('HTTP'),
  Description: withoutEffect('text'),
  CorsConfiguration: z
    .strictObject({
      AllowOrigins: z.array(z.url()),
      AllowMethods: z.array(z.string()),
      AllowHeaders: z.array(z.string()),
      ExposeHeaders: z.array(z.string()),
      MaxAge: z.number(),
    })
    .optional(),
  DisableExecuteApiEndpoint: z.literal(false).optional(),
  Tags: withoutEffect('accounting'),
});

const Throttling = {
  ThrottlingBurstLimit: withoutEffect('one person does not need to be held back'),
  ThrottlingRateLimit: withoutEffect('one person does not need to be held back'),
  DetailedMetricsEnabled: withoutEffect('metrics'),
};

/** AWS::ApiGatewayV2::Stage that is served at the root. */
export const HttpStage = z.strictObject({
  ApiId: z.string(),
  StageName: z.literal('$default'),
  AutoDeploy: z.literal(true),
  AccessLogSettings: withoutEffect('access logs'),
  DefaultRouteSettings: z.strictObject(Throttling).optional(),
  RouteSettings: z.record(z.string(), z.strictObject(Throttling)).optional(),
  Description: withoutEffect('text'),
  Tags: withoutEffect('accounting'),
});

/** AWS::ApiGatewayV2::Integration of a function. */
export const HttpIntegration = z.strictObject({
  ApiId: z.string(),
  IntegrationType: z.literal('AWS_PROXY'),
  IntegrationUri: z.string(),
  PayloadFormatVersion: z.literal('2.0'),
  TimeoutInMillis: z.number().max(30_000).default(30_000),
  IntegrationMethod: withoutEffect('a function is always called by POST'),
  Description: withoutEffect('text'),
});

/** AWS::ApiGatewayV2::Route; one without an authorizer is open. */
export const HttpRoute = z.discriminatedUnion('AuthorizationType', [
  z.strictObject({
    ApiId: z.string(),
    RouteKey: z.string(),
    Target: z.string().startsWith('integrations/'),
    AuthorizationType: z.literal('JWT'),
    AuthorizerId: z.string(),
    AuthorizationScopes: z.array(z.string()).default([]),
    OperationName: withoutEffect('text'),
  }),
  z.strictObject({
    ApiId: z.string(),
    RouteKey: z.string(),
    Target: z.string().startsWith('integrations/'),
    AuthorizationType: z.literal('NONE').optional(),
    OperationName: withoutEffect('text'),
  }),
]);

/** AWS::ApiGatewayV2::Authorizer that checks JSON web tokens. */
export const JwtAuthorizer = z.strictObject({
  ApiId: z.string(),
  Name: z.string(),
  AuthorizerType: z.literal('JWT'),
  IdentitySource: z.tuple([z.literal('$request.header.Authorization')]),
  JwtConfiguration: z.strictObject({ Issuer: z.url(), Audience: z.array(z.string()).min(1) }),
});
