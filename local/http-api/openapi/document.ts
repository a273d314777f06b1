import * as z from 'zod';

import { problem, type ProblemCode, PROBLEMS } from '../../../lambda/contracts/http/problem.ts';
import { type ApiOperation, OPERATIONS } from './operations.ts';
import { type JsonSchema, schemas, toJsonSchema } from './schemas.ts';

const GATEWAY =
  'Errors are problem+json (RFC 9457): `type` is stable, `title` is for people, and no error repeats a value of the request. ' +
  'Only the gateway answers otherwise, with `{"message": "…"}` as application/json: 401 without a valid token, 403 without a ' +
  'scope, 404 for a route that does not exist, 413 for a body beyond its own limits, 429 when it is called too often, 500 and ' +
  '503 when it cannot reach the service.';

const GZIP =
  'JSON in UTF-8, or the gzip of it with `Content-Type: application/gzip` and without `Content-Encoding`. The gateway may damage ' +
  'a body that has `Content-Type: application/json` with `Content-Encoding: gzip`; such a body is answered 400.';

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const Shape = z.looseObject({ properties: z.record(z.string(), z.unknown()), required: z.array(z.string()).default([]) });

/** Parameters in the path and the query. What has a default need not be given. */
const parametersOf = (path: string, { query, needsKey = false }: ApiOperation): readonly JsonSchema[] => {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const shape = query === undefined ? undefined : Shape.parse(toJsonSchema(query, 'input'));
  const inQuery = Object.entries(shape?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: shape?.required.includes(name) === true,
    schema,
  }));
  const key = { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string', minLength: 1, maxLength: 255 } };
  return [...inPath, ...inQuery, ...(needsKey ? [key] : [])];
};

const problemAnswers = (codes: readonly ProblemCode[]): Record<string, JsonSchema> => {
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [
      String(status),
      {
        description: own.map((code) => PROBLEMS[code].title).join('; '),
        content: {
          'application/problem+json': {
            schema: ref('Problem'),
            examples: Object.fromEntries(own.map((code) => [code, { value: problem(code) }])),
          },
        },
      },
    ]),
  );
};

const json = (schema: string, example: unknown): JsonSchema => ({
  'application/json': { schema: ref(schema), ...(example !== undefined && { example }) },
});

const bodyOf = ({ schema, example, isOptional }: NonNullable<ApiOperation['body']>): JsonSchema => ({
  required: isOptional !== true,
  description: GZIP,
  content: { ...json(schema, example), 'application/gzip': { schema: { type: 'string', format: 'binary' } } },
});

const toOperation = (path: string, operation: ApiOperation): JsonSchema => {
  const { summary, scopes, body, answers, problems } = operation;
  const good = Object.entries(answers).map(([status, { schema, description, example }]): [string, JsonSchema] => [
    status,
    { description, content: json(schema, example) },
  ]);
  return {
    summary,
    description: `Needs a token with scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`,
    'x-scopes': scopes,
    security: scopes.map((scope) => ({ token: [scope] })),
    parameters: parametersOf(path, operation),
    ...(body && { requestBody: bodyOf(body) }),
    responses: { ...Object.fromEntries(good), ...problemAnswers(problems) },
  };
};

const paths = (): Record<string, Record<string, JsonSchema>> => {
  const all: Record<string, Record<string, JsonSchema>> = {};
  for (const [route, operation] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = route.split(' ');
    all[path] = { ...all[path], [method.toLowerCase()]: toOperation(path, operation) };
  }
  return all;
};

/** The API as an OpenAPI 3.1 document, from the schemas that validate requests and shape answers. */
export const openApiDocument = (): JsonSchema => ({
  openapi: '3.1.0',
  info: { title: 'Mail dispatch', version: '1', description: GATEWAY },
  paths: paths(),
  components: {
    schemas: schemas(),
    securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  },
});
