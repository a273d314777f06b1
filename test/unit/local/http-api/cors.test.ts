import { describe, expect, it } from 'vitest';

import { answerPreflight, corsHeaders, isPreflight } from '../../../../local/http-api/cors.ts';

const cors = {
  origins: ['https://admin.example.org'],
  methods: ['GET', 'PUT'],
  allowedHeaders: ['authorization'],
  exposedHeaders: ['location'],
  maxAgeSeconds: 60,
};
const asked = (method: string, headers: Record<string, string>) => ({ method, headers });
const preflight = (origin: string) => asked('OPTIONS', { origin, 'access-control-request-method': 'PUT' });

describe('a preflight', () => {
  it('is an OPTIONS request of a page that asks for a method', () => {
    expect(isPreflight(preflight('https://x.example'))).toBe(true);
    expect(isPreflight(asked('GET', { origin: 'https://x.example', 'access-control-request-method': 'PUT' }))).toBe(false);
    expect(isPreflight(asked('OPTIONS', { origin: 'https://x.example' }))).toBe(false);
    expect(isPreflight(asked('OPTIONS', { 'access-control-request-method': 'PUT' }))).toBe(false);
  });

  it('of an allowed origin is answered with what is allowed', () => {
    expect(answerPreflight(cors, preflight('https://admin.example.org'))).toEqual({
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://admin.example.org',
        'access-control-allow-methods': 'GET,PUT',
        'access-control-allow-headers': 'authorization',
        'access-control-expose-headers': 'location',
        'access-control-max-age': '60',
        vary: 'origin',
      },
      body: Buffer.alloc(0),
    });
  });

  it.each(['https://other.example', 'https://admin.example.org:8443', 'https://Admin.example.org'])(
    'of origin %s is answered without any permission',
    (origin) => {
      expect(answerPreflight(cors, preflight(origin))).toMatchObject({ status: 204, headers: {} });
    },
  );
});

it('an answer to a page of another origin gets no permission', () => {
  expect(corsHeaders(cors, asked('GET', { origin: 'https://other.example' }))).toEqual({});
  expect(corsHeaders(cors, asked('GET', {}))).toEqual({});
});
