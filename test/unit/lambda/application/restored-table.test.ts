import { describe, expect, it } from 'vitest';

import { aKey } from '../../../support/builders.ts';
import { createSenderWorld } from '../../../support/sender-world.ts';

describe('a sender in a restored table', () => {
  it.each(['restored', 'unavailable'] as const)(
    'claims nothing while the sweeper has not stopped what the table was restored with, or the table does not say: %s',
    async (origin) => {
      const world = createSenderWorld();
      world.table.origin = origin;
      // The sweeper passed not long ago by the restored items: they do not look old.
      world.sending.lastPass = world.clock.now();
      await world.queue.send([{ key: aKey(), delaySeconds: 0 }]);

      await world.run(3_600_000);
      expect(world.provider.calls).toHaveLength(0);
      expect(world.statuses()).toEqual(['PENDING']);

      world.table.origin = 'own';
      await world.run(3_600_000);
      expect(world.statuses()).toEqual(['SENT']);
    },
  );
});
