import * as z from 'zod';

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** A cursor is for us alone: clients hand it back as they got it. */
export const encodeCursor = (place: object): string => Buffer.from(JSON.stringify(place)).toString('base64url');

/** Reads a place back from a cursor. */
export const cursorOf = <T>(place: z.ZodType<T>) =>
  z
    .string()
    .max(1_024)
    .transform((text) => parseJson(Buffer.from(text, 'base64url').toString('utf8')))
    .pipe(place);
