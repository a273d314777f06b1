import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { expect, it } from 'vitest';
import * as z from 'zod';

import { NEWS_SOURCE, NEWS_TYPES, PublishedEvent } from '../../lambda/contracts/events/published-event.ts';

const GUIDE = readFileSync(resolve(import.meta.dirname, '../../docs/deploy.md'), 'utf8');
const [, section = ''] = GUIDE.split('## 10. Tell other systems');

it('the event in the guide is one that the service publishes', () => {
  const [, sample = ''] = /```json\n(.*?)```/s.exec(section) ?? [];

  expect(JSON.parse(sample)).toMatchObject({ source: NEWS_SOURCE, 'detail-type': NEWS_TYPES.completed });
  const { detail } = z.object({ detail: PublishedEvent.strict() }).parse(JSON.parse(sample));
  expect(detail.id).toBe(`${detail.dispatchId}-${detail.generation}-completed`);
});

it('the guide names every kind of event, and its rule asks for kinds that there are', () => {
  for (const type of Object.values(NEWS_TYPES)) expect(section).toContain(`\`${type}\``);
  const [, pattern = ''] = /--event-pattern '(.*)'/.exec(section) ?? [];
  const rule = z.object({ source: z.array(z.string()), 'detail-type': z.array(z.enum(NEWS_TYPES)) }).parse(JSON.parse(pattern));
  expect(rule.source).toEqual([NEWS_SOURCE]);
});
