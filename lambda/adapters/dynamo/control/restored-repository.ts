import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';

import type { RestoredRepository } from '../../../application/ports/control.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import { dispatchKey, OPEN } from '../client/keys.ts';
import { createOpenDispatchRepository, type OpenDispatchRepositoryDeps } from '../dispatch/open-dispatch-repository.ts';

/** The open dispatches of a restored table. */
export const createRestoredRepository = (deps: OpenDispatchRepositoryDeps): RestoredRepository => {
  const ofOpen = createOpenDispatchRepository(deps);
  return {
    open: () => ofOpen.open(),
    tasks: (dispatchId) => ofOpen.tasks(dispatchId),

    async stopRestored({ dispatchId, resumedAt }, now) {
      const values = { ':accepted': 'ACCEPTED', ':inProgress': 'IN_PROGRESS', ':completed': 'COMPLETED' };
      try {
        await deps.client.send(
          new UpdateCommand({
            TableName: deps.tableName,
            Key: dispatchKey(dispatchId),
            UpdateExpression:
              'SET #status = :stopped, failureReason = :reason, stoppedAt = :now, openKey = :open, generation = generation + :one ' +
              // What a completed one has, and what an earlier stop left.
              'REMOVE completedAt, #outcome, needsAttention, expiresAt, faultCode, faultSince',
            ConditionExpression:
              '#status IN (:accepted, :inProgress, :completed) AND ' +
              (resumedAt === undefined ? 'attribute_not_exists(resumedAt)' : 'resumedAt = :resumedAt'),
            ExpressionAttributeNames: { '#status': 'status', '#outcome': 'outcome' },
            ExpressionAttributeValues: {
              ...values,
              ':stopped': 'STOPPED',
              ':reason': 'table-restored',
              ':now': toIso(now),
              ':open': OPEN,
              ':one': 1,
              ...(resumedAt !== undefined && { ':resumedAt': toIso(resumedAt) }),
            },
          }),
        );
        return true;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return false;
        throw error;
      }
    },
  };
};
