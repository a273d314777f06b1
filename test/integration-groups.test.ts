import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { allFiles, FOLDER, FULL_ONLY, MEMBERS, otherFiles } from './integration/groups/members.ts';

describe('the groups of real runs', () => {
  it('have every test file once, but for those that only test:full runs', () => {
    const members = [...Object.values(MEMBERS).flat(), ...otherFiles(), ...FULL_ONLY];

    expect(members.toSorted()).toEqual(allFiles().toSorted());
  });

  it('are run, each by a file of its name', () => {
    const runners = readdirSync(join(FOLDER, 'groups')).filter((name) => name.endsWith('.test.ts'));

    expect(runners.toSorted()).toEqual([...Object.keys(MEMBERS), 'others'].map((name) => `${name}.test.ts`).toSorted());
  });
});
