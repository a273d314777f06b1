import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { openJournal } from '../../../../local/fake-ses/journal.ts';
import type { Mail } from '../../../../local/fake-ses/mail.ts';

const mail = (messageId: string): Mail => ({
  at: '2026-01-02T03:04:05.678Z',
  messageId,
  to: ['kim@example.com'],
  from: 'hr@example.com',
  replyTo: [],
  subject: '합격',
  tags: { dispatchId: 'd' },
  headers: [],
  body: { text: '축하합니다' },
});

it('finds every mail again, whole, also after a kill in the middle of a line', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'journal-')), 'journal.jsonl');
  const first = await openJournal(file, () => undefined);
  first.append(mail('m-1'));
  first.close();
  appendFileSync(file, '{"at":"2026-01-02T03:04:05.678Z","messa');

  const second = await openJournal(file, () => undefined);
  second.append(mail('m-2'));
  second.close();

  const seen: Mail[] = [];
  const third = await openJournal(file, (each) => seen.push(each));
  third.close();
  expect(seen).toEqual([mail('m-1'), mail('m-2')]);
  expect(third.entries.map(({ messageId }) => messageId)).toEqual(['m-1', 'm-2']);
});
