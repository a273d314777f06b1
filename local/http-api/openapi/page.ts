import { PROBLEMS } from '../../../lambda/contracts/http/problem.ts';
import { type ApiOperation, OPERATIONS } from './operations.ts';
import { schemas } from './schemas.ts';

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const code = (value: unknown): string => `<pre>${escape(JSON.stringify(value, undefined, 2))}</pre>`;

const link = (name: string): string => `<a href="#${name}">${name}</a>`;

const section = ([route, { summary, scopes, query, body, answers, problems, needsKey }]: [string, ApiOperation]): string => {
  const rows = [
    ...Object.entries(answers).map(([status, { schema, description }]) => [status, `${escape(description)}: ${link(schema)}`]),
    ...problems.map((name) => [String(PROBLEMS[name].status), `<code>${name}</code>: ${escape(PROBLEMS[name].title)}`]),
  ].toSorted(([a = ''], [b = '']) => a.localeCompare(b));
  const example = Object.values(answers).find((answer) => answer.example !== undefined)?.example;
  return `<section><h2><code>${escape(route)}</code></h2><p>${escape(summary)}</p>
<p>Scope: ${scopes.map((scope) => `<code>${scope}</code>`).join(' or ')}.${needsKey === true ? ' Header <code>Idempotency-Key</code>.' : ''}
${
  query === undefined
    ? ''
    : ` Query: ${Object.keys(query.shape)
        .map((name) => `<code>${name}</code>`)
        .join(', ')}.`
}</p>
${body === undefined ? '' : `<p>Body: ${link(body.schema)}${body.isOptional === true ? ', may be left out' : ''}</p>${code(body.example)}`}
<table>${rows.map(([status = '', text = '']) => `<tr><td>${status}</td><td>${text}</td></tr>`).join('')}</table>
${example === undefined ? '' : `<p>An answer:</p>${code(example)}`}</section>`;
};

/** The API to be read in a browser; all of it stands in the page. */
export const docsPage = (): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mail dispatch: the API</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
section { border-top: 1px solid #ccc; margin-top: 2rem }
pre { background: #f4f4f4; padding: .8rem; overflow: auto; font-size: 14px }
td { padding: .1rem .8rem .1rem 0; vertical-align: top }
</style>
<h1>Mail dispatch: the API</h1>
<p>The same as <a href="/openapi.json">OpenAPI 3.1</a>. Errors are problem+json with a stable <code>type</code>
<code>urn:mail-dispatch:problem:…</code>; 401, 403, 429 and bodies that the gateway itself refuses carry the gateway's JSON.</p>
${Object.entries(OPERATIONS).map(section).join('\n')}
<h1>Schemas</h1>
${Object.entries(schemas())
  .map(([name, schema]) => `<section><h2 id="${name}">${name}</h2>${code(schema)}</section>`)
  .join('\n')}
</html>
`;
