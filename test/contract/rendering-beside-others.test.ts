import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createMailProvider } from '../../lambda/adapters/ses/mail-provider.ts';
import { createSesClient } from '../../lambda/adapters/ses/ses-client.ts';
import { createMailRenderer } from '../../lambda/adapters/template/content/mail-renderer.ts';
import { aContent, aKey, aMessage, aRecipient, pending } from '../support/builders.ts';
import { createFakeContents } from '../support/fakes.ts';
import { createSenderWorld } from '../support/sender-world.ts';
import { json, type SesServer, startSesServer } from '../support/ses-server.ts';

/** With the real client and real time: what one mail costs is felt by the calls of the others. */
const TIMEOUT_SECONDS = 1;
const ATTACK = 'attack';

let server: SesServer | undefined;

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.stop();
  server = undefined;
});

const loops = '{{#each @root.big}}'.repeat(3) + '{{/each}}'.repeat(3);
const big = Array.from({ length: 400 }, (_, i) => i);
const endless = '{{#*inline "p"}}{{#each @root.big}}{{> p}}{{/each}}{{/inline}}{{> p}}';

describe('mails of one dispatch in a batch with those of another', () => {
  it.each([
    ['whose subject has loops in loops', { template: { subject: `Hi ${loops}`, text: 'Hello' } }, 'TOO_MANY_STEPS'],
    ['that overrides the subject by loops in loops', { subject: `Hi ${loops}` }, 'TOO_MANY_STEPS'],
    [
      'whose text prints a long value for each item',
      { template: { subject: 'Hi', text: '{{#each big}}{{@root.long}}{{/each}}' } },
      'MAIL_TOO_LARGE',
    ],
    ['whose partial calls itself', { template: { subject: 'Hi', text: endless } }, 'NESTED_TOO_DEEP'],
  ])('are sent at once and known to be sent, beside one %s', async (_name, attack, code) => {
    server = await startSesServer((request, response) => {
      setTimeout(() => {
        json(200, { MessageId: `ses-${server?.posts.length ?? 0}` })(request, response);
      }, 50);
    });
    vi.stubEnv('AWS_ENDPOINT_URL_SESV2', server.url);
    const client = createSesClient(TIMEOUT_SECONDS);
    const provider = createMailProvider({ client, configurationSet: 'mail-events', timeoutSeconds: TIMEOUT_SECONDS });
    const innocents = ['a-1', 'a-2', 'a-3', 'a-4'];
    const world = createSenderWorld({
      applyIds: innocents,
      renderer: createMailRenderer(1_000_000),
      contents: createFakeContents({
        [aKey().dispatchId]: aContent({ template: { subject: 'Hello', text: 'Dear applicant' } }),
        [ATTACK]: aContent({ variables: { big, long: 'x'.repeat(50_000) }, ...attack }),
      }),
      answer: ({ mail, tags }) => provider.send(mail, tags),
    });
    world.dispatches.set(ATTACK, {});
    world.recipients.put(aKey('x-1', ATTACK), aRecipient(pending(), { applyId: 'x-1' }));
    world.clock.advance(10_000);
    const [first, second, ...rest] = innocents.map((applyId, i) => aMessage({ key: aKey(applyId), id: `m-${i}` }));
    if (first === undefined || second === undefined) throw new Error('there are four');

    const startedAt = performance.now();
    await world.send([first, second, aMessage({ key: aKey('x-1', ATTACK), id: 'x' }), ...rest]);
    client.destroy();

    expect(innocents.map((applyId) => world.recipients.get(aKey(applyId))?.recipient.status)).toEqual(Array(4).fill('SENT'));
    expect(world.recipients.get(aKey('x-1', ATTACK))?.recipient).toMatchObject({ status: 'FAILED', lastErrorCode: code });
    expect(server.posts).toHaveLength(4);
    expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_SECONDS * 1_000);
  });
});
