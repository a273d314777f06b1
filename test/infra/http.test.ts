import { describe, expect, it } from 'vitest';

import { all, one, plain, synthesize } from './synthesized.ts';

const { dispatch } = synthesize('prod', { audience: 'hiring' });
const routes = all(dispatch, 'AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties);

describe('the HTTP API', () => {
  it('has these routes, each with the scopes of which a token must have one', () => {
    expect(Object.fromEntries(routes.map(({ RouteKey, AuthorizationScopes }) => [RouteKey, AuthorizationScopes]))).toEqual({
      'POST /dispatches': ['mail:send'],
      'POST /dispatches/preview': ['mail:send'],
      'GET /dispatches': ['mail:read', 'mail:operate'],
      'GET /dispatches/{dispatchId}': ['mail:read', 'mail:operate'],
      'GET /dispatches/{dispatchId}/recipients': ['mail:read', 'mail:operate'],
      'GET /dispatches/{dispatchId}/recipients/{applyId}': ['mail:read', 'mail:operate'],
      'GET /dispatches/{dispatchId}/exports/{export}': ['mail:read', 'mail:operate'],
      'POST /dispatches/{dispatchId}/exports': ['mail:read', 'mail:operate'],
      'POST /dispatches/{dispatchId}/retry': ['mail:send', 'mail:operate'],
      'POST /dispatches/{dispatchId}/settle': ['mail:send', 'mail:operate'],
      'POST /dispatches/{dispatchId}/recipients/{applyId}/settle': ['mail:send', 'mail:operate'],
      'POST /dispatches/{dispatchId}/cancel': ['mail:send', 'mail:operate'],
      'POST /dispatches/{dispatchId}/resume': ['mail:send', 'mail:operate'],
      'GET /sending': ['mail:operate'],
      'PUT /sending': ['mail:operate'],
    });
  });

  it('asks on every route for a token of the issuer, made for this service', () => {
    const authorizer = one(dispatch, 'AWS::ApiGatewayV2::Authorizer', 'Http');

    expect(authorizer.Properties).toMatchObject({
      AuthorizerType: 'JWT',
      IdentitySource: ['$request.header.Authorization'],
      JwtConfiguration: { Issuer: 'https://issuer.example.org/', Audience: ['hiring'] },
    });
    for (const route of routes) {
      expect(route['AuthorizationType']).toBe('JWT');
      expect(plain(route['AuthorizerId'])).toBe(authorizer.id);
    }
  });

  it('hands requests over as payload version 2', () => {
    for (const { Properties } of all(dispatch, 'AWS::ApiGatewayV2::Integration')) {
      expect(Properties).toMatchObject({ IntegrationType: 'AWS_PROXY', PayloadFormatVersion: '2.0' });
    }
  });

  const stage = one(dispatch, 'AWS::ApiGatewayV2::Stage', 'Http').Properties;

  it('slows a client that loops', () => {
    expect(stage).toMatchObject({
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
    });
  });

  it('counts requests as a whole and not route by route, which is billed by the metric', () => {
    expect(stage['DefaultRouteSettings']).toMatchObject({ DetailedMetricsEnabled: false });
  });

  it('is named after its stack, which names the stage', () => {
    expect(one(dispatch, 'AWS::ApiGatewayV2::Api', 'Http').Properties['Name']).toBe('Dispatch');
  });

  it('logs every request without network addresses, user agents or queries', () => {
    const { DestinationArn, Format } = stage['AccessLogSettings'] as { DestinationArn: unknown; Format: string };

    expect(plain(DestinationArn)).toMatch(/^HttpAccessLog.*\.Arn$/);
    expect(Object.keys(JSON.parse(Format) as object)).toContain('requestId');
    expect(Format).not.toMatch(/sourceIp|userAgent|\$context\.path|query/i);
    // The gateway takes no longer ones.
    expect(Format.length).toBeLessThan(3_000);
  });
});
