import type { DispatchContent } from '../../domain/dispatch/content.ts';
import { type DispatchStatus, isActive } from '../../domain/dispatch/dispatch.ts';
import type { MessageAction } from '../../domain/recipient/decide-message.ts';
import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import { type Group, groupId, type RecipientMessage, type SendableGroup } from './finished-attempt.ts';
import type { SendDeps } from './send-deps.ts';
import { stopUnreadable } from './stop-unreadable.ts';

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
  // A store that does not answer takes seconds: no dispatch may cost that once for each of its messages.
  const looks = new Map<string, ReturnType<typeof look>>();
  for (const together of Map.groupBy(messages, ({ key }) => groupId(key)).values()) {
    const [message] = together;
    if (message === undefined) continue;
    const { key } = message;
    const looking = looks.get(key.dispatchId) ?? look(deps, key);
    looks.set(key.dispatchId, looking);
    const found = await looking;
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
  deps: SendDeps,
  key: RecipientKey,
): Promise<Found | 'unknown-dispatch' | 'expired' | 'broken' | 'unavailable'> => {
  const { dispatches, contents } = deps;
  const { dispatchId } = key;
  const status = await dispatches.status(dispatchId);
  if (status === 'unavailable' || status === 'unknown-dispatch') return status;
  if (!isActive(status)) return { status };
  const content = await contents.find(dispatchId);
  if (typeof content === 'string') return content;
  if (!('unreadable' in content)) return { status, content };
  await stopUnreadable(deps, key, content);
  // Its messages come again in a while, and find it stopped.
  return 'unavailable';
};
