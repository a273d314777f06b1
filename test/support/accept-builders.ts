import type { NewDispatch } from '../../lambda/application/ports/accept.ts';
import type { RecipientInput, TemplateParts, Variables } from '../../lambda/domain/dispatch/content.ts';
import { countsAtAccept } from '../../lambda/domain/dispatch/dispatch.ts';
import { shardCount } from '../../lambda/domain/dispatch/shards.ts';
import { DISPATCH_ID } from './builders.ts';
import { T0 } from './clock.ts';

export const someRecipientInputs = (
  n: number,
  variables: (i: number) => Variables = (i) => ({ name: `Kim ${i}` }),
): RecipientInput[] =>
  Array.from({ length: n }, (_, i) => ({ applyId: `a-${i}`, email: `kim.${i}@example.com`, variables: variables(i) }));

/** A request that passed every check and is about to be stored. */
export const aNewDispatch = (recipients = someRecipientInputs(1), template: Partial<TemplateParts> = {}): NewDispatch => ({
  dispatch: {
    dispatchId: DISPATCH_ID,
    adminId: 'admin-1',
    scenarioId: 'interview',
    recruitId: '7',
    total: recipients.length,
    shards: shardCount(recipients.length),
    isTest: false,
    status: 'ACCEPTED',
    generation: 0,
    createdAt: T0,
    ...countsAtAccept(recipients.length),
  },
  fingerprint: {
    whole: 'v1:whole',
    fields: { subject: 'hash-of-subject' } as NewDispatch['fingerprint']['fields'],
  },
  content: {
    template: { subject: 'Hello {{name}}', text: 'Dear {{name}}', ...template },
    variables: { company: 'Acme' },
    from: '"Jobs" <jobs@example.com>',
  },
  recipients,
});
