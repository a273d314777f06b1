import type { DispatchPage, DispatchQuery, ListRepository } from '../ports/queries.ts';
import type { Reader } from './read-dispatch.ts';

/** What is asked for; without `admin` and `open`: the reader's own dispatches. */
export interface ListRequest extends Omit<DispatchQuery, 'of'> {
  readonly admin?: string;
  readonly open: boolean;
}

export type ListDispatches = (reader: Reader, request: ListRequest) => Promise<DispatchPage | 'operators-only'>;

/** Lists one's own dispatches; operators may list anybody's, or all that somebody should look at. */
export const createListDispatches =
  (repository: ListRepository): ListDispatches =>
  async ({ adminId, isOperator }, { admin, open, ...query }) => {
    const isOwn = !open && (admin === undefined || admin === adminId);
    if (!isOwn && !isOperator) return 'operators-only';
    return repository.list({ ...query, of: open ? 'open' : { adminId: admin ?? adminId } });
  };
