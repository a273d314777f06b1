import { resolve } from 'node:path';

import * as z from 'zod';

import type { FunctionEndpoints, FunctionHost } from './lambda-host/host.ts';

/** Something that was started and is stopped with the stack. */
interface Started {
  readonly stop: () => unknown;
}

/** Addresses of the emulators that functions, event sources and tools of the stack use. */
export interface EmulatorEndpoints {
  readonly dynamodb: string;
  readonly sqs: string;
}

/** Proxies in front of the emulators, for all callers. */
export interface EmulatorProxies extends EmulatorEndpoints, Started {
  /** Where what they saw can be read. @param more what the stack itself counts */
  readonly publish?: (more: () => object) => Promise<Started & { readonly address: string }>;
}

/** Proxies in front of the emulators, for each function its own. */
export interface FunctionProxies extends Started {
  readonly endpointsOf: (functionName: string) => FunctionEndpoints;
  /** Whether the function's processes were killed just before its messages would be deleted. */
  readonly crashBeforeDelete: (functionName: string) => Promise<boolean>;
  /** Where crashes are ordered. */
  readonly address: string;
}

/** What a harness may put into a local stack: the module that `LOCAL_HOOKS` names exports them as `hooks`. */
export interface StackHooks {
  readonly proxyEmulators?: (targets: EmulatorEndpoints) => Promise<EmulatorProxies>;
  readonly proxyFunctions?: (options: {
    readonly functionNames: readonly string[];
    readonly targets: FunctionEndpoints;
    readonly functions: () => FunctionHost;
  }) => Promise<FunctionProxies>;
}

const isHooks = (value: unknown): value is StackHooks => typeof value === 'object' && value !== null;
const Module = z.object({ hooks: z.custom<StackHooks>(isHooks) });

/** Loads the hooks. @param file module path, from the working directory; without one there are no hooks */
export const loadHooks = async (file: string | undefined): Promise<StackHooks> => {
  if (file === undefined) return {};
  const loaded: unknown = await import(resolve(file));
  return Module.parse(loaded).hooks;
};
