import { AwsSolutionsChecks } from 'cdk-nag';
import { afterAll, expect, it } from 'vitest';

import { buildApp, removeFolders } from './synthesized.ts';

afterAll(removeFolders);

it.each(['local', 'dev', 'prod'])('stage %s passes the AWS Solutions rules, each exception argued', (name) => {
  const { app } = buildApp(name, { templatePrefix: 'recruiting-' });

  const { violations } = new AwsSolutionsChecks(app).validateScope(app);

  expect(violations).toEqual([]);
});
