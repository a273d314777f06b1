import { type DynamoDBDocumentClient, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

import type {
  DispatchPage,
  DispatchPosition,
  DispatchQuery,
  ListRepository,
  OpenList,
} from '../../../application/ports/queries.ts';
import { type Dispatch, wasCounted } from '../../../domain/dispatch/dispatch.ts';
import { adminKey, ATTENTION, dispatchKey, OPEN } from '../client/keys.ts';
import { orUnavailable } from '../client/or-unavailable.ts';
import { DispatchItem } from '../recipient/items.ts';

export interface ListRepositoryDeps {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly byAdminIndex: string;
  readonly openIndex: string;
}

/** Dispatches that one request looks at: with a filter, most may be passed over. */
const LOOKED_AT = 500;
const PER_QUERY = 50;

/** Some dispatches of an index, newest first. */
interface Part {
  readonly name: DispatchPosition['part'];
  readonly index: string;
  readonly attribute: string;
  readonly value: string;
}

/** Dispatches by the indexes, which hold keys alone and lag behind: each item itself says how it stands. */
export const createListRepository = (deps: ListRepositoryDeps): ListRepository => ({
  list: ({ of, ...query }) =>
    list(deps, of === 'open' ? openParts(deps.openIndex) : [ofAdmin(deps.byAdminIndex, of.adminId)], query),
});

/** The same for one who has no business with the dispatches of an admin. */
export const createOpenList = (deps: Omit<ListRepositoryDeps, 'byAdminIndex'>): OpenList => ({
  list: (query) => list(deps, openParts(deps.openIndex), query),
});

const ofAdmin = (index: string, adminId: string): Part => ({
  name: 'admin',
  index,
  attribute: 'adminKey',
  value: adminKey(adminId),
});

const openParts = (index: string): readonly Part[] => [
  { name: 'open', index, attribute: 'openKey', value: OPEN },
  { name: 'attention', index, attribute: 'openKey', value: ATTENTION },
];

type Table = Pick<ListRepositoryDeps, 'client' | 'tableName'>;
type Query = Omit<DispatchQuery, 'of'>;

const list = (table: Table, parts: readonly Part[], query: Query): Promise<DispatchPage> =>
  orUnavailable(() => listParts(table, parts, query));

/** Goes from part to part until the page is full. What comes after an empty page may still fit. */
const listParts = async (table: Table, parts: readonly Part[], query: Query): Promise<DispatchPage> => {
  const dispatches: Dispatch[] = [];
  let at = Math.max(
    0,
    parts.findIndex(({ name }) => name === query.from?.part),
  );
  let after = query.from?.after;
  let left = LOOKED_AT;
  for (let part = parts[at]; part !== undefined; part = parts[at]) {
    const keys = await readKeys(table, part, after);
    const items = await Promise.all(keys.map(({ dispatchId }) => readItem(table, part, dispatchId)));
    left -= keys.length;
    for (const [i, item] of items.entries()) {
      after = keys[i]?.createdKey;
      if (item !== undefined && isListed(part, item) && fits(item, query)) dispatches.push(item);
      if (dispatches.length === query.limit) return { dispatches, next: place(part, after) };
    }
    if (keys.length === PER_QUERY && left <= 0) return { dispatches, next: place(part, after) };
    if (keys.length === PER_QUERY) continue;
    at += 1;
    after = undefined;
  }
  return { dispatches };
};

const place = ({ name }: Part, after: string | undefined): DispatchPosition => ({
  part: name,
  ...(after !== undefined && { after }),
});

/** One that is finished is among the open ones until the sweeper has closed it: nobody need look at it for that. */
const isListed = ({ name }: Part, dispatch: Dispatch): boolean =>
  name !== 'open' || !wasCounted(dispatch) || dispatch.needsAttention === true;

const fits = (dispatch: Dispatch, { recruitId, status, isTest }: Query): boolean =>
  (isTest === undefined || dispatch.isTest === isTest) &&
  (recruitId === undefined || dispatch.recruitId === recruitId) &&
  (status === undefined || dispatch.status === status);

const Key = z.object({ createdKey: z.string() });

/** A time and an id, so that it names the place in the index and the item. */
const idOf = (createdKey: string): string => createdKey.slice(createdKey.indexOf('#') + 1);

const readKeys = async ({ client, tableName }: Table, part: Part, after: string | undefined) => {
  const { index, attribute, value } = part;
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: tableName,
      IndexName: index,
      KeyConditionExpression: '#part = :part',
      ExpressionAttributeNames: { '#part': attribute },
      ExpressionAttributeValues: { ':part': value },
      ScanIndexForward: false,
      Limit: PER_QUERY,
      ...(after !== undefined && {
        ExclusiveStartKey: { ...dispatchKey(idOf(after)), [attribute]: value, createdKey: after },
      }),
    }),
  );
  return Items.map((item) => {
    const { createdKey } = Key.parse(item);
    return { createdKey, dispatchId: idOf(createdKey) };
  });
};

/** Undefined: gone, no longer in that part, or unreadable, which must not hide the others. */
const readItem = async (
  { client, tableName }: Table,
  { attribute, value }: Part,
  dispatchId: string,
): Promise<Dispatch | undefined> => {
  const { Item } = await client.send(new GetCommand({ TableName: tableName, Key: dispatchKey(dispatchId) }));
  return Item?.[attribute] === value ? DispatchItem.safeParse(Item).data : undefined;
};
