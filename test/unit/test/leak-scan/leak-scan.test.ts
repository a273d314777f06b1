import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openRecordedOutput, RECORDED_FILES } from '../../../../local/recorded-output.ts';
import { lookForLeaks } from '../../../leak-scan/look.ts';
import { markersOfJournal, markersOfRequest } from '../../../leak-scan/markers.ts';
import { createSearch, type Marker } from '../../../leak-scan/search.ts';

const MARKERS: readonly Marker[] = [
  { kind: 'address', value: '@private.invalid' },
  { kind: 'variable', value: '김하늘 & "Kim"' },
  { kind: 'subject', value: 'Your offer, 100% yours' },
];
const [address, name, subject] = ['secret.person@private.invalid', '김하늘 & "Kim"', 'Your offer, 100% yours'];
const base64 = (text: string) => Buffer.from(text).toString('base64');
const asciiJson = (text: string) =>
  JSON.stringify(text).replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
const html = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');

describe.each([
  ['address', address],
  ['variable', name],
  ['subject', subject],
] as const)('a search for a %s', (kind, value) => {
  it.each<[string, (text: string) => string]>([
    ['plain', (text) => text],
    ['in capitals', (text) => text.toUpperCase()],
    ['in JSON', (text) => JSON.stringify({ text })],
    ['in JSON within JSON', (text) => JSON.stringify({ body: JSON.stringify({ text }) })],
    ['in JSON of ASCII only', asciiJson],
    ['in JSON of ASCII only within JSON', (text) => JSON.stringify({ body: asciiJson(text) })],
    ['in a URL', encodeURIComponent],
    ['in a form', (text) => new URLSearchParams({ text }).toString()],
    ['in HTML', html],
    ['broken over two lines', (text) => JSON.stringify(text.replace('r', 'r\n'))],
    ['in base64', base64],
    ['in base64, after one more letter', (text) => base64(`x${text}`)],
    ['in base64, between others', (text) => base64(`xy${text} and more`)],
    ['in base64url', (text) => Buffer.from(`{"a":"${text}"}`).toString('base64url')],
  ])('finds it %s', (_how, write) => {
    const text = `{"level":"INFO"}\n{"message":"about ${write(value)} here"}\n{"level":"INFO"}`;

    expect(createSearch(MARKERS)(text)).toContainEqual({ kind, line: 2 });
  });
});

describe('a search', () => {
  it('finds an address of which it was told nothing', () => {
    expect(createSearch([])('to someone@elsewhere.example.org')).toEqual([{ kind: 'address', line: 1 }]);
  });

  it('finds nothing in what the product may say', () => {
    const text = [
      '{"level":"INFO","signal":"sent","dispatchId":"abc","applyIdHash":"0123456789abcdef","round":1}',
      '    at send (/work/node_modules/@aws-sdk/client-sesv2/dist-es/index.js:1:1)',
      '{"rule":"missing-variable","names":["applicantName"],"applyId":"apply-1"}',
    ].join('\n');

    expect(createSearch(MARKERS)(text)).toEqual([]);
  });
});

describe('what must not be seen of a request', () => {
  const request = {
    scenarioId: 'interview',
    subject: 'Welcome aboard, {{who}}',
    variables: { company: 'Hanbit Software', short: 'ab', deep: { list: ['Soyeon Lee'] } },
    recipients: [
      { applyId: 'apply-0', email: 'a@one.example', variables: { name: '하늘' } },
      { applyId: 'apply-1', email: 'b@one.example', variables: { count: 12 } },
    ],
  };
  const expected = [
    { kind: 'address', value: '@one.example' },
    { kind: 'variable', value: '하늘' },
    { kind: 'address', value: '@one.example' },
    { kind: 'variable', value: 'Hanbit Software' },
    { kind: 'variable', value: 'Soyeon Lee' },
    { kind: 'subject', value: 'Welcome aboard, {{who}}' },
  ];

  it('is its domains, the texts of its variables and its subject', () => {
    expect(markersOfRequest(JSON.stringify(request))).toEqual(expected);
  });

  it('is the same when it comes in gzip', () => {
    expect(markersOfRequest(gzipSync(JSON.stringify(request)))).toEqual(expected);
  });

  it.each(['{"scenarioId":', '[]', 'null', '{"recipients":[1,{"email":7}]}'])('is nothing in %s', (body) => {
    expect(markersOfRequest(body)).toEqual([]);
  });

  it('is the subject of each mail that went out', () => {
    expect(markersOfJournal('{"subject":"Interview at Hanbit"}\n\n{"subject":"cut sh')).toEqual([
      { kind: 'subject', value: 'Interview at Hanbit' },
    ]);
  });
});

describe('looking through what a stack has kept', () => {
  let root: string;
  let directory: string;
  beforeEach(() => {
    // What is written here is no evidence of a run.
    vi.stubEnv('RECORDED_OUTPUT', '');
    root = mkdtempSync(join(tmpdir(), 'mail-dispatch-recorded-'));
    directory = join(root, 'stack');
    mkdirSync(join(directory, 'logs'), { recursive: true });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(root, { recursive: true });
  });
  const recorded = () => openRecordedOutput({ directory, recorded: true });
  const look = () => {
    lookForLeaks(directory, MARKERS);
  };

  it('says where something is, and never what', () => {
    writeFileSync(join(directory, 'logs', 'sweep-function.log'), `{"level":"INFO"}\n{"to":"${address}"}\n`);

    expect(look).toThrow('address in logs and metrics: logs/sweep-function.log, line 2');
    expect(look).not.toThrow(/private|secret/);
  });

  it('finds it in a message of a queue', () => {
    recorded().message('http://127.0.0.1:1/000000000000/sends', { MessageBody: JSON.stringify({ applyId: 'a', name }) });

    expect(look).toThrow(`variable in messages: ${RECORDED_FILES.messages}, line 1`);
  });

  it('finds it in the answer to a request that was refused', () => {
    recorded().refusal('POST /dispatches 422', { headers: {}, body: Buffer.from(JSON.stringify({ detail: subject })) });

    expect(look).toThrow(`subject in error answers: ${RECORDED_FILES.refusals}, line 1`);
  });

  it('finds it in an event that was published', () => {
    writeFileSync(join(directory, 'events-bus.jsonl'), `\n{"detail":{"to":"${address}"}}`);

    expect(look).toThrow('address in events: events-bus.jsonl, line 2');
  });

  it('leaves out the queue of SES’s own events, and the mails themselves', () => {
    recorded().message('http://127.0.0.1:1/000000000000/dispatch-FeedbackQueue', { MessageBody: address });
    writeFileSync(join(directory, 'journal.jsonl'), JSON.stringify({ to: [address], subject }));

    expect(look).not.toThrow();
  });

  it('looks for the subjects that went out', () => {
    writeFileSync(join(directory, 'journal.jsonl'), JSON.stringify({ subject: 'Interview for Alex' }));
    recorded().message('http://127.0.0.1:1/000000000000/sends', { MessageBody: 'interview for alex' });

    expect(look).toThrow('subject in messages');
  });

  it('keeps all of it, with what it looked for, in the folder that RECORDED_OUTPUT names', () => {
    const kept = join(root, 'kept');
    vi.stubEnv('RECORDED_OUTPUT', kept);
    writeFileSync(join(directory, 'logs', 'sweep-function.log'), '{"level":"INFO"}\n');
    recorded().message('http://127.0.0.1:1/000000000000/sends', { MessageBody: 'fine' });

    look();

    const copy = join(kept, basename(directory));
    expect(readdirSync(copy).sort()).toEqual(['logs', 'markers.json', RECORDED_FILES.messages]);
    expect(readFileSync(join(copy, 'logs', 'sweep-function.log'), 'utf8')).toBe('{"level":"INFO"}\n');
    expect(JSON.parse(readFileSync(join(copy, 'markers.json'), 'utf8'))).toEqual(MARKERS);
  });
});

it('a stack that is not asked to keep anything writes nothing', () => {
  const recorded = openRecordedOutput({ directory: '/nowhere', recorded: false });

  expect(() => {
    recorded.message('queue', {});
  }).not.toThrow();
});
