import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const META = '.meta.json';

const isJson = (file: string): boolean => {
  try {
    JSON.parse(readFileSync(file, 'utf8'));
    return true;
  } catch {
    return false;
  }
};

/**
 * Removes objects that a kill left half-written: the emulator refuses to start with one. Their PUT was never answered, so nobody
 * relies on them. @returns how many there were
 */
export const removeTornObjects = (directory: string): number => {
  if (!existsSync(directory)) return 0;
  const torn = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((file) => join(directory, file))
    .filter((file) => file.endsWith(META) && !isJson(file));
  for (const file of torn) {
    rmSync(file, { force: true });
    rmSync(`${file.slice(0, -META.length)}.data`, { force: true });
  }
  return torn.length;
};
