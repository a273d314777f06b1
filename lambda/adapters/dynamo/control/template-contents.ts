import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type { TemplateParts } from '../../../domain/dispatch/content.ts';
import type { VersionedTemplate } from '../../../domain/dispatch/template-copy.ts';
import { decodeTemplate, encodeTemplate } from '../client/codec.ts';
import { templateContentKey } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import type { OnUnreadable } from '../client/replaceable-item.ts';

export interface TemplateContentsDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly onUnreadable: OnUnreadable;
}

/** The contents of templates, one item a version, and a memory of the latest. Calls throw `Unavailable` when the table gives no answer. */
export interface TemplateContents {
  /** Undefined: there is none, or no version of this code wrote it. */
  read(name: string, version: string): Promise<TemplateParts | undefined>;
  /** @param expiresAt epoch seconds; @returns false: no item can hold it */
  write(name: string, template: VersionedTemplate, expiresAt: number): Promise<boolean>;
}

const Content = z.object({ data: z.instanceof(Uint8Array) });

/** An item holds 400 KB with its keys. SES takes templates of 500 KB, which are smaller than that when packed. */
const MOST_BYTES = 400_000;
/** Contents kept in memory. */
const MOST_KEPT = 20;

export const createTemplateContents = (deps: TemplateContentsDeps): TemplateContents => {
  const { client, tableName, onUnreadable } = deps;
  const kept = new Map<string, TemplateParts>();
  /** Each is reported once: callers that wait for another copy read it again and again. */
  const reported = new Set<string>();
  const idOf = (name: string, version: string): string => `${version} ${name}`;

  /** As the latest that was used. */
  const keep = (id: string, template: TemplateParts): void => {
    kept.delete(id);
    kept.set(id, template);
    const oldest = kept.keys().next();
    if (kept.size > MOST_KEPT && oldest.done !== true) kept.delete(oldest.value);
  };

  return {
    async read(name, version) {
      const id = idOf(name, version);
      const known = kept.get(id);
      if (known !== undefined) {
        keep(id, known);
        return known;
      }
      const command = new GetCommand({ TableName: tableName, Key: templateContentKey(name, version), ConsistentRead: true });
      const { Item } = await orUnavailable(() => client.send(command));
      const template = Item && unpack(Item);
      if (template !== undefined) keep(id, template);
      else if (Item !== undefined && !reported.has(id)) {
        reported.add(id);
        onUnreadable('TEMPLATE CONTENT');
      }
      return template;
    },

    async write(name, { template, version }, expiresAt) {
      const data = encodeTemplate(template);
      if (data.byteLength > MOST_BYTES) return false;
      const Item = { ...templateContentKey(name, version), data, expiresAt };
      await orUnavailable(() => client.send(new PutCommand({ TableName: tableName, Item })));
      return true;
    },
  };
};

const unpack = (item: Record<string, unknown>): TemplateParts | undefined => {
  try {
    return decodeTemplate(Content.parse(item).data);
  } catch {
    return undefined;
  }
};
