import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

import * as z from 'zod';

const Assets = z.looseObject({
  files: z.record(
    z.string(),
    z.looseObject({ displayName: z.string(), source: z.looseObject({ path: z.string(), packaging: z.string() }) }),
  ),
});

const read = (file: string): z.output<typeof Assets> => {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return Assets.parse(content);
};

const isBundle = (packaging: string) => packaging === 'zip';

/** Folder of each function's code in an assembly, by the stack's file and the construct's path. */
const bundlesOf = (lender: string, file: string): ReadonlyMap<string, string> =>
  new Map(
    Object.values(read(join(lender, file)).files)
      .filter(({ source }) => isBundle(source.packaging))
      .map(({ displayName, source }) => [displayName, resolve(lender, source.path)]),
  );

/**
 * Lets an assembly that was synthesized without the functions' code use that of another of the same sources: settings change
 * the templates only, and bundling takes most of the time.
 */
export const reuseBundles = (borrower: string, lender: string): void => {
  for (const file of readdirSync(borrower).filter((name) => name.endsWith('.assets.json'))) {
    const assets = read(join(borrower, file));
    const bundles = bundlesOf(lender, file);
    for (const { displayName, source } of Object.values(assets.files)) {
      if (!isBundle(source.packaging)) continue;
      const bundle = bundles.get(displayName);
      if (bundle === undefined) throw new Error(`${lender} has no code for ${displayName}`);
      source.path = relative(borrower, bundle);
    }
    writeFileSync(join(borrower, file), JSON.stringify(assets));
  }
};
