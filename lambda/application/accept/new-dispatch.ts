import { countsAtAccept, type Dispatch } from '../../domain/dispatch/dispatch.ts';
import type { DispatchRequest } from '../../domain/dispatch/dispatch-request.ts';
import { shardCount } from '../../domain/dispatch/shards.ts';
import type { Instant } from '../../domain/shared/instant.ts';
import type { NewDispatch } from '../ports/accept.ts';
import type { DraftedContent } from './draft-content.ts';

/** Who asks for a dispatch, and how it is told from others. */
export type DispatchName = Pick<Dispatch, 'dispatchId' | 'adminId'> & Pick<NewDispatch, 'fingerprint'>;

/** What a request leaves in the table once it is accepted. @param guardSeconds how long its repetition is held off */
export const newDispatch = (
  { dispatchId, adminId, fingerprint }: DispatchName,
  { scenarioId, recruitId, recipients, isTest, allowRepeat }: DispatchRequest,
  { content, templateVersion }: DraftedContent,
  guardSeconds: number,
  now: Instant,
): NewDispatch => ({
  dispatch: {
    dispatchId,
    adminId,
    scenarioId,
    recruitId,
    templateVersion,
    total: recipients.length,
    shards: shardCount(recipients.length),
    isTest,
    status: 'ACCEPTED',
    generation: 0,
    createdAt: now,
    ...countsAtAccept(recipients.length),
  },
  fingerprint,
  content,
  recipients,
  // Tests are repeated on purpose.
  ...(!isTest && { guard: { until: now + guardSeconds * 1000, overrides: allowRepeat } }),
});
