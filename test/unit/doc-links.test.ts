import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
const files = ['README.md', ...docs.map((name) => join('docs', name))];

/** As GitHub makes them. */
const anchorsOf = (text: string): Set<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

it.each(files)('%s links to files and headings that exist', (file) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const broken = [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path = '', anchor]) => {
    const target = path === '' ? file : normalize(join(dirname(file), path));
    if (!existsSync(join(ROOT, target))) return [`${path}: no such file`];
    if (anchor === undefined || anchorsOf(readFileSync(join(ROOT, target), 'utf8')).has(anchor)) return [];
    return [`${path}#${anchor}: no such heading`];
  });

  expect(broken).toEqual([]);
});
