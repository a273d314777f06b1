import { describe, expect, it } from 'vitest';

import { createPreviewDispatch, type PreviewDispatchDeps } from '../../../../../lambda/application/accept/preview-dispatch.ts';
import type { DispatchRequest } from '../../../../../lambda/domain/dispatch/dispatch-request.ts';
import { someRecipientInputs } from '../../../../support/accept-builders.ts';
import { T0 } from '../../../../support/clock.ts';

const request: DispatchRequest = {
  scenarioId: 'interview',
  recruitId: '7',
  recipients: someRecipientInputs(4),
  variables: {},
  isTest: false,
  allowRepeat: false,
};
const sample = { applyId: 'a-0', to: 'kim.0@example.com', subject: 'Hello', text: 'Dear Kim 0' };
const samples = { mails: [sample], cutShort: true };
const estimate = { mailsPerSecond: 9, doneAt: T0, waitingForNextWindow: 0 };

const preview = (more: Partial<PreviewDispatchDeps> = {}, change: Partial<DispatchRequest> = {}) =>
  createPreviewDispatch({
    templates: {
      find: () => Promise.resolve({ kind: 'template', template: { subject: 'Hello', text: 'Dear {{name}}' }, version: 'v-2' }),
    },
    checkContent: () => ({ outcome: 'fine' }),
    isAllowedRecipient: () => true,
    dispatches: { tooLarge: () => undefined },
    hashes: { fingerprint: () => ({ whole: 'v1:whole', fields: {} as never }) },
    renderSamples: () => samples,
    beginEstimate: () => (total) => Promise.resolve({ ...estimate, waitingForNextWindow: total }),
    clock: () => T0,
    from: 'jobs@example.com',
    replyTo: undefined,
    ...more,
  })('admin-1', { ...request, ...change });

describe('a preview', () => {
  it('of a request without fault has samples and an estimate of all its recipients', async () => {
    expect(await preview()).toEqual({
      refusals: [],
      sharedAddresses: [],
      samples,
      templateVersion: 'v-2',
      estimate: { ...estimate, waitingForNextWindow: 4 },
    });
  });

  it('says when there is no template, and renders nothing', async () => {
    const templates = { find: () => Promise.resolve(undefined) };

    expect(await preview({ templates })).toMatchObject({
      refusals: [{ outcome: 'unknown-scenario' }],
      samples: { mails: [], cutShort: false },
    });
  });

  it('names the recipients whom the stage may not mail, beside what else is wrong', async () => {
    const isAllowedRecipient = (address: string) => address !== 'kim.2@example.com';
    const refusal = { outcome: 'recipients-not-allowed', recipients: [{ index: 2, applyId: 'a-2' }], total: 1 };

    expect(await preview({ isAllowedRecipient }, { templateVersion: 'v-1' })).toMatchObject({
      refusals: [refusal, { outcome: 'template-changed', current: 'v-2' }],
      samples: { mails: [sample], cutShort: true },
    });
    const templates = { find: () => Promise.resolve(undefined) };
    expect(await preview({ isAllowedRecipient, templates })).toMatchObject({
      refusals: [refusal, { outcome: 'unknown-scenario' }],
    });
  });

  it('says that the template is another one than the request names, and shows the current one (V12)', async () => {
    expect(await preview({}, { templateVersion: 'v-1' })).toMatchObject({
      refusals: [{ outcome: 'template-changed', current: 'v-2' }],
      samples,
      templateVersion: 'v-2',
    });
    expect(await preview({}, { templateVersion: 'v-2' })).toMatchObject({ refusals: [] });
  });

  it('says all that is wrong with the mails, and renders those that can be', async () => {
    const broken = { outcome: 'cannot-render', total: 1, faults: [{ index: 3, applyId: 'a-3', rule: 'subject-empty' }] } as const;

    expect(await preview({ checkContent: () => broken, dispatches: { tooLarge: () => 'content' } })).toMatchObject({
      refusals: [broken, { outcome: 'too-large', limit: 'content' }],
      samples,
    });
  });

  it('names each recipient whose address an earlier one has', async () => {
    const [a, b, c, d] = someRecipientInputs(4).map((each, i) => (i === 1 ? each : { ...each, email: 'kim@example.com' }));
    const recipients = [a, b, c, d].filter((each) => each !== undefined);

    expect((await preview({}, { recipients })).sharedAddresses).toEqual([
      { index: 2, applyId: 'a-2', earlier: 'a-0' },
      { index: 3, applyId: 'a-3', earlier: 'a-0' },
    ]);
  });

  it('leaves a repeated applyId to the faults of form', async () => {
    const [first] = someRecipientInputs(1);
    const recipients = [first, first].filter((each) => each !== undefined);

    expect((await preview({}, { recipients })).sharedAddresses).toEqual([]);
  });
});
