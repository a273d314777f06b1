import { posix, win32 } from 'node:path';

/** The version of dynoxide that this project is tested with; `package.json` installs the same one on Linux x64. */
export const DYNOXIDE_VERSION = '1.2.1';

/** Platforms for which dynoxide is published, as `<platform>-<arch>` of Node. */
const DYNOXIDE_PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64'];

/** DynamoDB Local does not run on an older Java. */
export const OLDEST_JAVA = 11;

/** What the choice of a DynamoDB server depends on. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** DYNAMODB_ENDPOINT. */
  readonly endpoint: string | undefined;
  /** PATH. */
  readonly searchPath: string;
  readonly nodeModules: string;
  /** The folder that has DynamoDBLocal.jar, if it was downloaded. */
  readonly jarFolder: string;
  readonly exists: (file: string) => boolean;
  /** Major version of Java; undefined if there is none. Called only if the jar is there. */
  readonly javaVersion: () => number | undefined;
}

/** A DynamoDB server that this machine can use. */
export type DynamoDbSource =
  | { readonly type: 'endpoint'; readonly endpoint: string }
  | { readonly type: 'dynoxide'; readonly binary: string }
  | { readonly type: 'dynamodb-local'; readonly jarFolder: string }
  | { readonly type: 'none'; readonly advice: string };

const adviseOn = (target: string): string => {
  const [reason, command] = DYNOXIDE_PLATFORMS.includes(target)
    ? ['is not installed', `npm install --no-save @dynoxide/${target}@${DYNOXIDE_VERSION}`]
    : [
        'is not published for this platform',
        'docker run --rm -d -p 127.0.0.1:8000:8000 amazon/dynamodb-local && DYNAMODB_ENDPOINT=http://127.0.0.1:8000 npm start',
      ];
  return `There is no DynamoDB server on this machine (${target}): dynoxide ${reason}. Run this command:\n\n  ${command}\n`;
};

/** The first server in this order: the given endpoint, the dynoxide package, dynoxide on the PATH, DynamoDB Local. */
export const findDynamoDb = (machine: Machine): DynamoDbSource => {
  const { platform, arch, endpoint, searchPath, nodeModules, jarFolder, exists } = machine;
  if (endpoint !== undefined) return { type: 'endpoint', endpoint: endpoint.replace(/\/$/, '') };
  const target = `${platform}-${arch}`;
  const path = platform === 'win32' ? win32 : posix;
  const name = platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  const folders = [
    path.join(nodeModules, '@dynoxide', target),
    ...searchPath.split(path.delimiter).filter((folder) => folder !== ''),
  ];
  const binary = folders.map((folder) => path.join(folder, name)).find(exists);
  if (binary !== undefined) return { type: 'dynoxide', binary };
  if (exists(path.join(jarFolder, 'DynamoDBLocal.jar')) && (machine.javaVersion() ?? 0) >= OLDEST_JAVA) {
    return { type: 'dynamodb-local', jarFolder };
  }
  return { type: 'none', advice: adviseOn(target) };
};
