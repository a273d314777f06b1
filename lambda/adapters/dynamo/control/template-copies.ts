import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { Clock } from '../../../application/ports/system.ts';
import type { StoredCopy, TemplateCopies } from '../../../application/ports/templates.ts';
import type { CopiedTemplate, TemplateCopy } from '../../../domain/dispatch/template-copy.ts';
import { expiryAfter, toIso } from '../../../domain/shared/instant.ts';
import { templateKey } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { type OnUnreadable, readReplaceable } from '../client/replaceable-item.ts';
import { type Attributes, updateOf } from '../client/update.ts';
import { Iso } from '../recipient/items.ts';
import { createTemplateContents, type TemplateContents } from './template-contents.ts';

export interface TemplateCopiesDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** Put before the scenario's id. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly onUnreadable: OnUnreadable;
}

/** What changes with every fetch is small; the content is an item of its own, named by its version, and never changes. */
const Head = z.object({
  kind: z.enum(['template', 'missing', 'too-large']).exactOptional(),
  version: z.string().exactOptional(),
  fetchedAt: Iso.exactOptional(),
  freshSeconds: z.number().exactOptional(),
  /** Epoch seconds until which the content is kept. */
  contentUntil: z.number().exactOptional(),
  leaseUntil: Iso.exactOptional(),
});
type Head = z.output<typeof Head>;

/** A scenario in regular use stays known by its head; its content comes back with the next fetch. */
const HEAD_DAYS = 30;
const OTHER_DAYS = 1;
const CONTENT_DAYS = 2;
const CONTENT_RENEWED_DAYS = 1;

/** The copies of templates in the table. Every call throws `Unavailable` when the table gives no answer. */
export const createTemplateCopies = (deps: TemplateCopiesDeps): TemplateCopies => {
  const { tableName, prefix } = deps;
  const contents = createTemplateContents(deps);
  const find = (scenarioId: string): Promise<StoredCopy> => findCopy(deps, contents, prefix + scenarioId);
  const update = (scenarioId: string, set: Attributes, as: Attributes): Promise<boolean> =>
    write(deps, updateOf(tableName, templateKey(prefix + scenarioId), set, as));

  return {
    find,

    lease: (scenarioId, { fetchedAt, leaseUntil }, until, now) =>
      update(
        scenarioId,
        { leaseUntil: toIso(until), ...(fetchedAt === undefined && { expiresAt: expiryAfter(now, OTHER_DAYS) }) },
        { fetchedAt: fetchedAt && toIso(fetchedAt), leaseUntil: leaseUntil && toIso(leaseUntil) },
      ),

    async prolong(scenarioId, { from, until }) {
      await update(scenarioId, { leaseUntil: toIso(until) }, { leaseUntil: toIso(from) });
    },

    async release(scenarioId, until) {
      await write(deps, {
        TableName: tableName,
        Key: templateKey(prefix + scenarioId),
        UpdateExpression: 'REMOVE leaseUntil',
        ConditionExpression: 'leaseUntil = :own',
        ExpressionAttributeValues: { ':own': toIso(until) },
      });
    },

    async store(scenarioId, copy) {
      const stored = await storeCopy(deps, contents, prefix + scenarioId, copy);
      return stored ?? (await find(scenarioId)).copy ?? copy;
    },
  };
};

type Update = ReturnType<typeof updateOf>;

/** False: the condition did not hold. */
const write = async ({ client }: TemplateCopiesDeps, input: Omit<Update, 'ExpressionAttributeNames'>): Promise<boolean> => {
  try {
    await orUnavailable(() => client.send(new UpdateCommand(input)));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};

const readHead = async (deps: TemplateCopiesDeps, name: string): Promise<Head> =>
  (await orUnavailable(() => readReplaceable(deps, templateKey(name), Head))) ?? {};

const findCopy = async (deps: TemplateCopiesDeps, contents: TemplateContents, name: string): Promise<StoredCopy> => {
  const head = await readHead(deps, name);
  const { fetchedAt, freshSeconds = 0, leaseUntil } = head;
  const found = await readFound(contents, name, head);
  return {
    isKnown: head.kind === 'template' || head.kind === 'too-large',
    ...(found !== undefined && fetchedAt !== undefined && { copy: { found, fetchedAt, freshSeconds } }),
    ...(fetchedAt !== undefined && { fetchedAt }),
    ...(leaseUntil !== undefined && { leaseUntil }),
  };
};

const readFound = async (
  contents: TemplateContents,
  name: string,
  { kind, version }: Head,
): Promise<CopiedTemplate | undefined> => {
  if (kind !== 'template') return kind && { kind };
  const template = version === undefined ? undefined : await contents.read(name, version);
  return template === undefined || version === undefined ? undefined : { kind, template, version };
};

/** Undefined: a copy is there whose fetch began later. */
const storeCopy = async (
  deps: TemplateCopiesDeps,
  contents: TemplateContents,
  name: string,
  copy: TemplateCopy,
): Promise<TemplateCopy | undefined> => {
  const { found, contentUntil } = await storeContent(deps, contents, name, copy.found);
  const { fetchedAt, freshSeconds } = copy;
  const isStored = await write(deps, {
    ...updateOf(
      deps.tableName,
      templateKey(name),
      {
        kind: found.kind,
        version: found.kind === 'template' ? found.version : undefined,
        fetchedAt: toIso(fetchedAt),
        freshSeconds,
        contentUntil,
        leaseUntil: undefined,
        expiresAt: expiryAfter(fetchedAt, found.kind === 'template' ? HEAD_DAYS : OTHER_DAYS),
      },
      {},
    ),
    // Two answers of calls that began at once are the same age: the first one stays.
    ConditionExpression: 'attribute_not_exists(#fetchedAt) OR #fetchedAt < :fetchedAt',
  });
  return isStored ? { ...copy, found } : undefined;
};

/** The content first: a head never names one that is not there. */
const storeContent = async (
  deps: TemplateCopiesDeps,
  contents: TemplateContents,
  name: string,
  found: CopiedTemplate,
): Promise<{ readonly found: CopiedTemplate; readonly contentUntil?: number }> => {
  if (found.kind !== 'template') return { found };
  const now = deps.clock();
  const { version, contentUntil = 0 } = await readHead(deps, name);
  const isKept = version === found.version && contentUntil >= expiryAfter(now, CONTENT_RENEWED_DAYS);
  if (isKept && (await contents.read(name, found.version)) !== undefined) return { found, contentUntil };
  const expiresAt = expiryAfter(now, CONTENT_DAYS);
  const isWritten = await contents.write(name, found, expiresAt);
  return isWritten ? { found, contentUntil: expiresAt } : { found: { kind: 'too-large' } };
};
