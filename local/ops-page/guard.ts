import type { IncomingHttpHeaders } from 'node:http';

/** What of a request shows where it comes from. */
export interface Asked {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Whether a request comes from this page or from a person's own tool. Another site's page can make a browser ask here, and
 * under a name of its own that leads to 127.0.0.1 it could even read the answer.
 */
export const isFromHere = ({ method, headers: { host = '', origin } }: Asked, port: number): boolean => {
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return false;
  // A browser names the origin with every POST.
  return method === 'GET' || origin === `http://${host}`;
};

/** Forms of other sites can post without being asked, but not this type. */
export const isJson = ({ headers }: Asked): boolean => /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
