import { afterEach, describe, expect, it } from 'vitest';

import { checkFromOutside } from '../support/invariants.ts';
import { poll, TestStack } from '../support/stack.ts';

let stack: TestStack;
afterEach(() => stack.end());

describe('kill -9 of everything', () => {
  it('right after the 202 loses no mail (L8, U1)', async () => {
    stack = new TestStack();
    await stack.start();
    const body = stack.bodyOf(300);
    const id = await stack.accepted('killed', body);
    await stack.launched.kill();

    await stack.start();
    const { status } = await stack.finished(id);

    expect(status).toBe('COMPLETED');
    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: 300, lost: 0, duplicates: 0 });
  });

  it('in the middle of sending neither loses a mail nor sends one twice (L9, U1)', async () => {
    stack = new TestStack({ LOCAL_SES_RATE: '60' });
    await stack.start();
    const body = stack.bodyOf(300);
    const id = await stack.accepted('middle', body);
    await poll(
      async () => (await stack.dispatch(id)).counts['SENT'] ?? 0,
      (count) => count > 60,
    );
    await stack.launched.kill();

    await stack.start();
    await stack.finished(id, 80_000);

    expect(await checkFromOutside(stack, id, body)).toMatchObject({ sent: 300, lost: 0, duplicates: 0 });
  });
});
