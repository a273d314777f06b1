import type { DispatchContent } from '../domain/content.ts';
import { type DispatchStatus, isActive } from '../domain/dispatch.ts';
import type { MessageAction } from '../domain/message-rule.ts';
import { type Group, groupId, type RecipientMessage, type SendableGroup } from './attempt-end.ts';
import type { SendDeps } from './send-deps.ts';

/** What was decided, message by message; a message that is not in it is left alone for a while. */
export type Actions = Map<RecipientMessage, MessageAction>;

/** The messages of one batch by recipient, and by what may be done for them. */
export interface Grouped {
  readonly sendable: readonly SendableGroup[];
  /** Of dispatches that are stopped or cancelled. */
  readonly inactive: readonly Group[];
}

/** Groups the messages of a batch by recipient and looks up their dispatches; decides those that are of none. */
export const groupMessages = async (
  deps: SendDeps,
  messages: readonly RecipientMessage[],
  actions: Actions,
): Promise<Grouped> => {
  const sendable: SendableGroup[] = [];
  const inactive: Group[] = [];
  for (const together of Map.groupBy(messages, ({ key }) => groupId(key)).values()) {
    const [message] = together;
    if (message === undefined) continue;
    const { key } = message;
    const found = await look(deps, key.dispatchId);
    if (found === 'unavailable') continue;
    if (typeof found === 'string') {
      deps.observe({ type: found, key });
      for (const each of together) actions.set(each, found === 'expired' ? { do: 'delete' } : { do: 'keep-failing' });
      continue;
    }
    const group = { key, message, messages: together, status: found.status };
    if (found.content === undefined) inactive.push(group);
    else sendable.push({ ...group, content: found.content });
  }
  return { sendable, inactive };
};

type Found = { readonly status: DispatchStatus; readonly content?: DispatchContent };

const look = async (
  { dispatches, contents }: SendDeps,
  dispatchId: string,
): Promise<Found | 'unknown-dispatch' | 'expired' | 'broken' | 'unavailable'> => {
  const status = await dispatches.status(dispatchId);
  if (status === 'unavailable' || status === 'unknown-dispatch') return status;
  if (!isActive(status)) return { status };
  const content = await contents.find(dispatchId);
  return typeof content === 'string' ? content : { status, content };
};
