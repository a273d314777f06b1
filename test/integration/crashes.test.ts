import { describe, expect, it } from 'vitest';

import { checkFromOutside } from '../support/invariants.ts';
import { poll } from '../support/stack.ts';
import { SLOW_STACK } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

const stack = useStack('crashes', SLOW_STACK);

describe('kill -9 of everything', () => {
  it('right after the 202 loses no mail (L8, U1)', async () => {
    const body = stack.bodyOf(300);
    const id = await stack.accepted('killed', body);
    await stack.launched.kill();

    await stack.start();
    const { status } = await stack.finished(id);

    expect(status).toBe('COMPLETED');
    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: 300, lost: 0, duplicates: 0 });
  });

  it('in the middle of sending neither loses a mail nor sends one twice (L9, U1)', async () => {
    const body = stack.bodyOf(300);
    const id = await stack.accepted('middle', body);
    await poll(
      async () => (await stack.dispatch(id)).counts['SENT'] ?? 0,
      (count) => count > 60,
    );
    await stack.launched.kill();

    await stack.start();
    await stack.finished(id);

    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: 300, lost: 0, duplicates: 0 });
  });
});
