import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as z from 'zod';

import { type Refusal, refusal } from './faults/refusal.ts';

const Content = z.object({ Subject: z.string().optional(), Html: z.string().optional(), Text: z.string().optional() });

/** The body of CreateEmailTemplate. */
export const StoredTemplate = z.object({ TemplateName: z.string().min(1), TemplateContent: Content });
export type StoredTemplate = z.output<typeof StoredTemplate>;

const Variables = z.record(z.string(), z.json());

/** A scenario that a fresh stack knows, with values that satisfy it. */
export const Seed = z.strictObject({
  id: z.string(),
  template: Content,
  variables: Variables,
  recipientVariables: Variables,
});
export type Seed = z.output<typeof Seed>;

/** The scenarios of local/seeds. */
export const readSeeds = (): readonly Seed[] => {
  const folder = join(import.meta.dirname, 'seeds');
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => {
      const content: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
      return Seed.parse(content);
    });
};

/** The templates stored in the emulated SES. */
export const createTemplateStore = () => {
  const templates = new Map<string, StoredTemplate>();
  const missing = (name: string): Refusal => refusal(404, 'NotFoundException', `Template ${name} does not exist.`);
  return {
    get: (name: string): StoredTemplate | Refusal => templates.get(name) ?? missing(name),
    create: (template: StoredTemplate): Refusal | undefined => {
      const { TemplateName: name } = template;
      if (templates.has(name)) return refusal(400, 'AlreadyExistsException', `Template ${name} already exists.`);
      templates.set(name, template);
      return undefined;
    },
    update: (template: StoredTemplate): Refusal | undefined => {
      if (!templates.has(template.TemplateName)) return missing(template.TemplateName);
      templates.set(template.TemplateName, template);
      return undefined;
    },
    remove: (name: string): Refusal | undefined => (templates.delete(name) ? undefined : missing(name)),
  };
};

/** The templates of one gate. */
export type TemplateStore = ReturnType<typeof createTemplateStore>;
