import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where downloads are kept: outside the repository, for all checkouts. */
export const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'mail-dispatch');

/** Where the archive of DynamoDB Local is unpacked. */
export const JAR_FOLDER = join(CACHE, 'package/emulator');

/** The major version that `java -version` names; undefined if it names none. */
export const parseJavaVersion = (output: string): number | undefined => {
  const [, major, minor] = /version "(\d+)(?:\.(\d+))?/.exec(output) ?? [];
  // Java 8 calls itself 1.8.
  const version = major === '1' ? minor : major;
  return version === undefined ? undefined : Number(version);
};

/** The major version of the Java on the PATH; undefined if there is none. */
export const findJava = (): number | undefined => {
  const { stderr, status } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  return status === 0 ? parseJavaVersion(stderr) : undefined;
};

/** Arguments of `java` that start DynamoDB Local. @param storage where it keeps its data, as options of the server */
export const javaArguments = (jarFolder: string, port: number, storage: readonly string[]): string[] => [
  `-Djava.library.path=${join(jarFolder, 'DynamoDBLocal_lib')}`,
  '-jar',
  join(jarFolder, 'DynamoDBLocal.jar'),
  '-port',
  String(port),
  '-sharedDb',
  ...storage,
];
