import { expect, it } from 'vitest';

import { readHttpAnswer } from '../../../../local/http-api/answer.ts';

const read = (payload: string) => {
  const { body, ...rest } = readHttpAnswer(payload);
  return { ...rest, body: body.toString() };
};

it('passes status, headers, cookies and body on', () => {
  const payload = '{"statusCode":202,"headers":{"Location":"/x","Retry-After":1},"cookies":["a=1"],"body":"hi"}';
  expect(read(payload)).toEqual({
    status: 202,
    headers: { 'content-type': 'text/plain; charset=utf-8', location: '/x', 'retry-after': '1', 'set-cookie': ['a=1'] },
    body: 'hi',
  });
});

it('unpacks a body in base64', () => {
  expect(read('{"statusCode":200,"body":"aGk=","isBase64Encoded":true}').body).toBe('hi');
});

it('takes an answer without a status for the JSON body of a 200', () => {
  expect(read('{"a":1}')).toEqual({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
});

it('answers 500 for an answer that is malformed', () => {
  expect(read('{"statusCode":"soon"}').status).toBe(500);
  expect(read('{"statusCode":200,"body":{"a":1}}').status).toBe(500);
});
