import type { StackHooks } from '../../../local/stack-hooks.ts';
import { startCrashControl } from './control.ts';
import { createCrashPlan } from './plan.ts';
import { startCrashProxies } from './proxies.ts';

/** Lets a test kill the processes of functions at chosen calls, and cut functions off from a service. */
export const hooks: StackHooks = {
  proxyFunctions: async ({ functionNames, targets, functions }) => {
    const plan = createCrashPlan();
    const crash = (name: string) => functions().find(name).crash();
    const { endpointsOf, crashBeforeDelete, cutOff, stop } = await startCrashProxies({ functionNames, targets, plan, crash });
    const control = await startCrashControl(plan, cutOff);
    return {
      endpointsOf,
      crashBeforeDelete,
      address: control.address,
      stop: () => {
        control.stop();
        stop();
      },
    };
  },
};
