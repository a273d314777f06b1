import type { HttpAnswer } from './answer.ts';
import { openApiDocument } from './openapi/document.ts';
import { docsPage } from './openapi/page.ts';

const page = (type: string, text: string): HttpAnswer => ({
  status: 200,
  headers: { 'content-type': type },
  body: Buffer.from(text),
});

/** What the local gateway answers by itself: the description of the API. On AWS nobody serves these. */
export const findPage = (method: string, path: string): HttpAnswer | undefined => {
  if (method !== 'GET') return undefined;
  // Every browser asks for one.
  if (path === '/favicon.ico') return { status: 204, headers: {}, body: Buffer.alloc(0) };
  if (path === '/openapi.json') return page('application/json', JSON.stringify(openApiDocument()));
  return path === '/docs' ? page('text/html; charset=utf-8', docsPage()) : undefined;
};
