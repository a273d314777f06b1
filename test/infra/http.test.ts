import { describe, expect, it } from 'vitest';

import { all, environmentOf, one, plain, synthesize } from './synthesized.ts';

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

describe('tokens of other issuers', () => {
  const given = { issuer: 'https://tenant.eu.auth0.example/', audience: 'client-1,client-2', scopePrefix: 'mail-dispatch/' };
  const other = synthesize('prod', given).dispatch;

  it('may be for one of several audiences, and the issuer is taken to the letter', () => {
    expect(one(other, 'AWS::ApiGatewayV2::Authorizer', 'Http').Properties).toMatchObject({
      JwtConfiguration: { Issuer: 'https://tenant.eu.auth0.example/', Audience: ['client-1', 'client-2'] },
    });
  });

  it('have scopes with the prefix on every route, and in the functions that tell operators from others', () => {
    const scopes = all(other, 'AWS::ApiGatewayV2::Route').flatMap(
      ({ Properties }) => Properties['AuthorizationScopes'] as string[],
    );

    expect([...new Set(scopes)].sort()).toEqual([
      'mail-dispatch/mail:operate',
      'mail-dispatch/mail:read',
      'mail-dispatch/mail:send',
    ]);
    for (const name of ['ReadDispatches', 'OperateDispatches'])
      expect(environmentOf(other, name)['SCOPE_PREFIX']).toBe('mail-dispatch/');
  });

  it.each([
    ['scopePrefix', 'a b/', /scopePrefix is "a b\/": use at most 52 printable/],
    ['scopePrefix', 'a,b/', /scopePrefix/],
    ['scopePrefix', `https://${'a'.repeat(45)}/`, /at most 52/],
    ['issuer', 'https://login.example.com/?a=1', /issuer is .*no user, query or fragment/],
    ['issuer', 'https://login.example.com/.well-known/openid-configuration', /give the part before \/\.well-known\//],
    ['issuer', ' https://login.example.com/', /issuer/],
    ['audience', [], /audience is empty/],
    ['audience', ['a b'], /audience has "a b"/],
  ])('with %s %j is refused', (key, value, message) => {
    expect(() => synthesize('prod', { [key]: value })).toThrow(message);
  });
});

describe('pages of other origins', () => {
  const corsOf = (given = {}): unknown =>
    one(synthesize('prod', given).dispatch, 'AWS::ApiGatewayV2::Api', 'Http').Properties['CorsConfiguration'];

  it('may not call unless they are named', () => {
    expect(corsOf()).toBeUndefined();
  });

  it('that are named may send our requests and read our answers, without cookies', () => {
    expect(corsOf({ allowedOrigins: ['https://admin.example.org', 'http://localhost:5173'] })).toEqual({
      AllowOrigins: ['https://admin.example.org', 'http://localhost:5173'],
      AllowMethods: ['GET', 'POST', 'PUT'],
      AllowHeaders: ['authorization', 'content-encoding', 'content-type', 'idempotency-key'],
      ExposeHeaders: ['idempotency-replayed', 'location', 'retry-after'],
      MaxAge: 3_600,
    });
  });

  it('allow every method that a route has', () => {
    const methods = new Set(routes.map(({ RouteKey }) => String(RouteKey).split(' ')[0]));

    expect([...methods].sort()).toEqual(['GET', 'POST', 'PUT']);
  });

  it.each([
    '*',
    'https://*.example.org',
    'https://admin.example.org/',
    'https://Admin.example.org',
    'http://admin.example.org',
    'null',
  ])('named %j are refused', (origin) => {
    expect(() => corsOf({ allowedOrigins: [origin] })).toThrow(/allowedOrigins has .*give an origin as browsers send it/);
  });
});
