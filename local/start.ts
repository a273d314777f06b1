// `npm start`: brings up the whole product on this machine, from the synthesized template.
import { describeStack } from './cli/commands.ts';
import { NotUnderstoodError } from './cloudformation/parse-resource.ts';
import { PortTakenError } from './ports.ts';
import { readSettings, type Settings } from './settings.ts';
import { type LocalStack, type StackReporter, startStack } from './stack.ts';
import { loadHooks } from './stack-hooks.ts';

/** Whatever hangs, the terminal is free again after this. */
const STOP_MS = 2_800;

const explain = (error: unknown): string => {
  if (error instanceof NotUnderstoodError) {
    return `${error.message}\nThe local stack would rather stop than run something else than the template says.`;
  }
  if (error instanceof PortTakenError) return error.message;
  return error instanceof Error ? error.message : String(error);
};

const fail = (error: unknown): never => {
  console.error(`\n${explain(error)}`);
  process.exit(1);
};

const loadSettings = (): Settings => {
  try {
    return readSettings(process.env);
  } catch (error) {
    return fail(error);
  }
};

const settings = loadSettings();
let stopping = false;

const reporter: StackReporter = {
  trouble: (text) => {
    if (!stopping) console.error(`! ${text}`);
  },
  step: (text) => {
    console.log(`${text} ...`);
  },
  fatal: (text) => {
    if (stopping) return;
    console.error(`\n${text}; the local stack stops.`);
    stop(1);
  },
};

const starting: Promise<LocalStack> = loadHooks(settings.hooks).then((hooks) => startStack(settings, reporter, hooks));

function stop(code: number) {
  if (stopping) process.exit(code === 0 ? 130 : code);
  stopping = true;
  setTimeout(() => process.exit(code), STOP_MS).unref();
  const end = async () => {
    await (await starting).stop();
  };
  end().then(
    () => process.exit(code),
    () => process.exit(code),
  );
}

process.on('SIGINT', () => {
  if (!stopping) console.log('\nStopping (Ctrl-C again to stop at once)');
  stop(0);
});
process.on('SIGTERM', () => {
  stop(0);
});

starting.then(
  ({ description }) => {
    console.log(describeStack(description, settings.directory));
  },
  (error: unknown) => {
    if (!stopping) fail(error);
  },
);
