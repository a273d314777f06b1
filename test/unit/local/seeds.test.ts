import { readFileSync } from 'node:fs';

import Handlebars from 'handlebars';
import { describe, expect, it } from 'vitest';

import { readSeeds } from '../../../local/fake-ses/templates.ts';
import { ROOT } from '../../../local/settings.ts';

interface Sample {
  readonly scenarioId: string;
  readonly variables: object;
  readonly recipients: readonly { readonly applyId: string; readonly variables: object }[];
}
const sampleOf = (name: string) => JSON.parse(readFileSync(`${ROOT}/local/samples/${name}.json`, 'utf8')) as Sample;
const seeds = readSeeds();

const render = (id: string, variables: object) => {
  const template = seeds.find((seed) => seed.id === id)?.template;
  const texts = [template?.Subject, template?.Html, template?.Text];
  return texts.map((text) => Handlebars.compile(text, { strict: true })(variables));
};

describe('seeds and samples', () => {
  it.each(seeds)('$id is satisfied by its own values', ({ id, variables, recipientVariables }) => {
    for (const text of render(id, { ...variables, ...recipientVariables })) expect(text).not.toMatch(/\{\{/);
  });

  it.each([
    ['three', 3],
    ['two-hundred', 200],
  ])('%s has as many recipients as it says, and satisfies its scenario for each', (name, count) => {
    const { scenarioId, variables, recipients } = sampleOf(name);
    expect(new Set(recipients.map(({ applyId }) => applyId)).size).toBe(count);
    for (const recipient of recipients) render(scenarioId, { ...variables, ...recipient.variables });
  });

  it('gives each of the first three emails a subject of its own, so that the inbox tells them apart', () => {
    const { scenarioId, variables, recipients } = sampleOf('three');
    const subjects = recipients.map((recipient) => render(scenarioId, { ...variables, ...recipient.variables })[0]);

    expect(new Set(subjects).size).toBe(3);
  });
});
