import { existsSync, readFileSync } from 'node:fs';

import * as z from 'zod';

const Settings = z.looseObject({
  issuer: z.string().optional(),
  audience: z
    .union([z.string().transform((text) => text.split(',').map((part) => part.trim())), z.array(z.string())])
    .default(['mail-dispatch']),
  templatePrefix: z.string().default(''),
});

const CdkJson = z.looseObject({ context: z.looseObject({ stages: z.record(z.string(), Settings).default({}) }) });

/** What of a stage's settings shows in its tokens and templates. */
export interface StageSettings {
  readonly issuer?: string;
  /** A token names one of them. */
  readonly audience?: readonly string[];
  readonly templatePrefix: string;
}

/** Reads them from cdk.json; what was given as `-c key=value` at the deployment is not there. */
export const readStageSettings = (file: string, stage: string): StageSettings => {
  if (!existsSync(file)) return { templatePrefix: '' };
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const settings = CdkJson.safeParse(content).data?.context.stages[stage];
  if (settings === undefined) return { templatePrefix: '' };
  const { issuer, audience, templatePrefix } = settings;
  return { ...(issuer !== undefined && { issuer }), audience, templatePrefix };
};
