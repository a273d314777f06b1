import { describe, expect, it } from 'vitest';

import { toSesFailure } from '../../../../../lambda/adapters/ses/ses-failure.ts';

const errorWith = (fields: object): Error => Object.assign(new Error('text'), fields);

describe('what is read off an error of the client', () => {
  it('is the status of the answer, wherever the SDK left it', () => {
    expect(toSesFailure(errorWith({ $metadata: { httpStatusCode: 503 } })).httpStatus).toBe(503);
    expect(toSesFailure(errorWith({ $metadata: {}, $response: { statusCode: 200 } })).httpStatus).toBe(200);
  });

  it('is no status when no answer came', () => {
    expect(toSesFailure(errorWith({ code: 'ECONNRESET', $metadata: { attempts: 1 } }))).not.toHaveProperty('httpStatus');
  });

  it.each([
    ['a look-up that failed', { syscall: 'getaddrinfo' }, true],
    ['a connection that failed', { syscall: 'connect', code: 'ETIMEDOUT' }, true],
    [
      'a name none of whose addresses answered',
      { code: 'ETIMEDOUT', errors: [{ syscall: 'connect' }, { syscall: 'connect' }] },
      true,
    ],
    ['errors of which one came later', { errors: [{ syscall: 'connect' }, { syscall: 'read' }] }, false],
    ['a reset while reading', { syscall: 'read', code: 'ECONNRESET' }, false],
    ['an error that does not say', { code: 'ETIMEDOUT' }, false],
  ])('tells whether anything can have been written: %s', (_name, fields, beforeWrite) => {
    expect(toSesFailure(errorWith(fields)).beforeWrite).toBe(beforeWrite);
  });

  it.each([[undefined], ['text'], [42]])('is nothing of %o, which is no error', (thrown) => {
    expect(toSesFailure(thrown)).toEqual({ name: 'Error', message: '' });
  });
});
