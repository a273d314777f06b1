import { REQUEST_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * The recipients that a request's path may name, the likeliest first. The gateway decodes a path's parts; should one come
 * as it was sent, it is decoded here.
 */
export const parseApplyIds = (pathParameters: Readonly<Record<string, string | undefined>> | undefined): readonly string[] => {
  const given = pathParameters?.['applyId'];
  if (given === undefined) return [];
  return [...new Set([given, decode(given)])].filter((id) => {
    const bytes = Buffer.byteLength(id);
    return bytes >= 1 && bytes <= REQUEST_LIMITS.idBytes && id.isWellFormed();
  });
};
