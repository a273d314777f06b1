import type { StackHooks } from '../../../local/stack-hooks.ts';
import { startCountsPage } from './page.ts';
import { startCountingProxies } from './proxies.ts';

/** Counts the requests that a local stack makes, and serves the counts. */
export const hooks: StackHooks = {
  proxyEmulators: async (targets) => {
    const { read, ...proxies } = await startCountingProxies(targets);
    return { ...proxies, publish: (more) => startCountsPage(() => ({ ...read(), ...more() })) };
  },
};
