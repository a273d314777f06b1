import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { normaliseAddress } from '../../../../../lambda/adapters/addresses/normalise-address.ts';
import { PROBLEMS } from '../../../../../lambda/contracts/http/problem.ts';
import { createRequestParser } from '../../../../../lambda/contracts/http/request/dispatch-request.ts';
import { RetriedView, RetryRequest } from '../../../../../lambda/contracts/http/request/retry.ts';
import { SettledView, SettleManyRequest, SettleRequest } from '../../../../../lambda/contracts/http/request/settle.ts';
import { AcceptedView, DispatchNowView, RecipientView } from '../../../../../lambda/contracts/http/response/dispatch-view.ts';
import { ExportView } from '../../../../../lambda/contracts/http/response/export-view.ts';
import { openApiDocument } from '../../../../../local/http-api/openapi/document.ts';
import { EXAMPLES } from '../../../../../local/http-api/openapi/examples.ts';
import { OPERATIONS } from '../../../../../local/http-api/openapi/operations.ts';
import { schemas } from '../../../../../local/http-api/openapi/schemas.ts';
import { findPage } from '../../../../../local/http-api/pages.ts';
import { all, ROOT, synthesize } from '../../../../infra/synthesized.ts';

describe('the description of the API', () => {
  it('is checked in as it is made (npm run openapi)', () => {
    expect(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(openApiDocument())),
    );
  });

  it('has every route of the template with its scopes, and no other', () => {
    const routes = all(synthesize().dispatch, 'AWS::ApiGatewayV2::Route').map(({ Properties }) => Properties);

    expect(Object.fromEntries(Object.entries(OPERATIONS).map(([route, { scopes }]) => [route, scopes]))).toEqual(
      Object.fromEntries(routes.map(({ RouteKey, AuthorizationScopes }) => [RouteKey, AuthorizationScopes])),
    );
  });

  it('has every problem at some call', () => {
    expect(new Set(Object.values(OPERATIONS).flatMap(({ problems }) => problems))).toEqual(new Set(Object.keys(PROBLEMS)));
  });

  it('refers to no schema that is not there', () => {
    const names = [...JSON.stringify(openApiDocument()).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);

    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !Object.hasOwn(schemas(), name ?? ''))).toEqual([]);
  });

  it('has examples that the schemas accept', () => {
    const request = createRequestParser(normaliseAddress)(EXAMPLES.dispatchRequest);

    expect(request.ok).toBe(true);
    for (const [schema, example] of [
      [AcceptedView, EXAMPLES.accepted],
      [DispatchNowView, EXAMPLES.dispatch],
      [RecipientView, EXAMPLES.recipient],
      [RetryRequest, EXAMPLES.retry],
      [RetriedView, EXAMPLES.retried],
      [SettleRequest, EXAMPLES.settle],
      [SettleManyRequest, EXAMPLES.settleMany],
      [SettledView, EXAMPLES.settled],
      [ExportView, EXAMPLES.export],
    ] as const) {
      expect(schema.safeParse(example).error).toBeUndefined();
    }
  });
});

describe('the local gateway', () => {
  it('serves it as JSON and as a page that needs nothing from elsewhere', () => {
    expect(JSON.parse(findPage('GET', '/openapi.json')?.body.toString() ?? '')).toMatchObject({ openapi: '3.1.0' });
    const html = findPage('GET', '/docs')?.body.toString() ?? '';
    for (const route of Object.keys(OPERATIONS)) expect(html).toContain(`<code>${route}</code>`);
    expect(html).not.toMatch(/<script|<link|src=/);
  });

  it('serves nothing else by itself', () => {
    expect([findPage('POST', '/docs'), findPage('GET', '/doc')]).toEqual([undefined, undefined]);
  });
});
