import { describe, expect, it } from 'vitest';

import { SettledView } from '../../lambda/contracts/http/request/settle.ts';
import { RecipientsView } from '../../lambda/contracts/http/response/dispatch-view.ts';
import { poll } from '../support/stack.ts';
import { MANUAL_STACK } from '../support/stack-settings.ts';
import { useStack } from '../support/use-stack.ts';

/** Under this policy a lost answer leaves a recipient UNKNOWN. */
const stack = useStack('bulk-settle', MANUAL_STACK);

const NOTE = 'asked them by phone';
const post = (id: string, body: object, token = stack.description.tokens.admin) =>
  stack.request('POST', `/dispatches/${id}/settle`, {
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const settledOf = async (id: string) =>
  RecipientsView.parse(await (await stack.request('GET', `/dispatches/${id}/recipients`)).json()).recipients.flatMap(
    ({ status, settled }) => (settled === undefined ? [] : [{ status, ...settled }]),
  );

describe('recipients of whom nobody knows whether they were sent to', () => {
  it('are settled together, some by name and then all others by a task', async () => {
    await stack.events({ lost: true });
    await stack.fault({ fault: 'reset-after-accept', recipient: 'lost-' });
    const names = (i: number) => (i < 8 ? `lost-${i}` : `fine-${i}`);
    const id = await stack.accepted('bulk', stack.bodyOf(10, names));
    expect((await stack.finished(id)).counts).toMatchObject({ SENT: 2, UNKNOWN: 8 });
    const unknown = (await stack.recipients(id, '?status=UNKNOWN')).map(({ applyId }) => applyId);
    const [sent] = await stack.recipients(id, '?status=SENT');

    const two = await post(id, { as: 'sent', note: NOTE, applyIds: [...unknown.slice(0, 2), sent?.applyId, 'nobody'] });
    expect(two.status).toBe(200);
    expect(SettledView.parse(await two.json()).recipients.map(({ result, status }) => [result, status])).toEqual([
      ['settled', 'SENT'],
      ['settled', 'SENT'],
      ['left-alone', 'SENT'],
      ['no-such-recipient', undefined],
    ]);

    expect((await post(id, { as: 'failed', note: NOTE, all: true }, stack.description.tokens.secondAdmin)).status).toBe(404);
    // Asked for twice, it has one effect.
    const answers = [
      await post(id, { as: 'failed', note: NOTE, all: true }),
      await post(id, { as: 'failed', note: NOTE, all: true }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    await poll(
      () => stack.dispatch(id),
      ({ status, counts }) => status === 'COMPLETED' && counts['UNKNOWN'] === 0,
    );

    expect((await stack.dispatch(id)).counts).toMatchObject({ SENT: 4, FAILED: 6, UNKNOWN: 0 });
    const settled = await settledOf(id);
    expect(settled.map(({ status, as }) => `${status} as ${as}`).toSorted()).toEqual([
      ...new Array<string>(6).fill('FAILED as failed'),
      ...new Array<string>(2).fill('SENT as sent'),
    ]);
    for (const { note, who } of settled) expect({ note, who }).toEqual({ note: NOTE, who: settled[0]?.who });
    for (const name of ['operate-dispatches', 'run-task']) expect(stack.log(name)).not.toContain(NOTE);
  });
});
