import { describe, expect, it } from 'vitest';

import { createRouter } from '../../../../local/http-api/routes.ts';

const keys = [
  'GET /dispatches/{id}',
  'GET /dispatches/{id}/recipients',
  'POST /dispatches',
  'GET /dispatches/latest',
  'ANY /{proxy+}',
];
const route = createRouter(keys.map((key) => ({ key, target: key })));

describe('routes', () => {
  it.each([
    ['POST', '/dispatches', 'POST /dispatches', {}],
    ['GET', '/dispatches/1%202', 'GET /dispatches/{id}', { id: '1 2' }],
    ['GET', '/dispatches/1/recipients', 'GET /dispatches/{id}/recipients', { id: '1' }],
    ['GET', '/dispatches/latest', 'GET /dispatches/latest', {}],
    ['DELETE', '/dispatches/1', 'ANY /{proxy+}', { proxy: 'dispatches/1' }],
    ['GET', '/dispatches/%zz', 'GET /dispatches/{id}', { id: '%zz' }],
  ])('%s %s takes %s', (method, path, key, pathParameters) => {
    expect(route(method, path)).toEqual({ route: { key, target: key }, pathParameters });
  });

  it('find nothing where nothing is', () => {
    const only = createRouter([{ key: 'GET /a/{b}', target: 1 }]);
    expect(only('GET', '/a')).toBeUndefined();
    expect(only('GET', '/a/')).toBeUndefined();
    expect(only('GET', '/a/b/c')).toBeUndefined();
    expect(only('POST', '/a/b')).toBeUndefined();
  });

  it('end at the catch-all if there is one', () => {
    expect(createRouter([{ key: '$default', target: 1 }])('GET', '/x')?.route.target).toBe(1);
  });
});
