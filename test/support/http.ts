import type { APIGatewayProxyEventV2WithJWTAuthorizer } from 'aws-lambda';

export interface RequestParts {
  readonly routeKey?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly pathParameters?: Record<string, string>;
  readonly query?: Record<string, string>;
  readonly claims?: Record<string, string>;
}

/** A request as the HTTP API hands it over (payload 2.0), after its JWT authorizer. */
export const httpEvent = (parts: RequestParts = {}): APIGatewayProxyEventV2WithJWTAuthorizer => ({
  version: '2.0',
  routeKey: parts.routeKey ?? 'POST /dispatches',
  rawPath: '/dispatches',
  rawQueryString: '',
  headers: parts.headers ?? {},
  ...(parts.query && { queryStringParameters: parts.query }),
  ...(parts.pathParameters && { pathParameters: parts.pathParameters }),
  requestContext: {
    accountId: '000000000000',
    apiId: 'api',
    authorizer: {
      principalId: '',
      integrationLatency: 0,
      jwt: { claims: parts.claims ?? { sub: 'admin-1', scope: 'mail:send' }, scopes: [] },
    },
    domainName: 'api.example.com',
    domainPrefix: 'api',
    http: { method: 'POST', path: '/dispatches', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'test' },
    requestId: 'request-1',
    routeKey: parts.routeKey ?? 'POST /dispatches',
    stage: '$default',
    time: '',
    timeEpoch: 0,
  },
  ...(parts.body !== undefined && { body: parts.body }),
  isBase64Encoded: parts.isBase64Encoded ?? false,
});
