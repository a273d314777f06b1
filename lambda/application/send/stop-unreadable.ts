import type { RecipientKey } from '../../domain/recipient/recipient.ts';
import type { UnreadableContent } from '../ports/dispatches.ts';
import type { SendDeps } from './send-deps.ts';

/** Stops the dispatch of a recipient whose content is gone: nobody can make its mails. Never throws; the next message tries again. */
export const stopUnreadable = async (
  { contents, clock, observe }: Pick<SendDeps, 'contents' | 'clock' | 'observe'>,
  key: RecipientKey,
  content: UnreadableContent,
): Promise<void> => {
  const isStopped = await contents.stopUnreadable(key.dispatchId, content, clock()).catch(() => false);
  if (isStopped) observe({ type: 'stopped', key, code: 'content-unreadable' });
};
