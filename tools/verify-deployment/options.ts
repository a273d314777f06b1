import { parseArgs } from 'node:util';

/** What becomes of the large dispatch. */
export type LargeWish = 'cancel' | 'send' | 'none';

/** What a person asks of the tool. */
export interface Options {
  /** Undefined: the local stack. */
  readonly stage: string | undefined;
  readonly yes: boolean;
  readonly inUse: boolean;
  readonly large: LargeWish;
  readonly largeCount: number;
  readonly redrive: boolean;
  readonly allowSandbox: boolean;
  /** How long anything may take before it counts as failed, in seconds. */
  readonly waitSeconds: number;
  /** Ids of the checks to run; empty: all. */
  readonly only: readonly string[];
  readonly templatePrefix: string | undefined;
  readonly token: string | undefined;
  readonly operatorToken: string | undefined;
}

/** The command line is not understood. */
export class UsageError extends Error {
  constructor(text: string) {
    super(text);
    this.name = 'UsageError';
  }
}

const MOST_RECIPIENTS = 50_000;

export const USAGE = `npm run verify:deployment -- --stage <stage> --yes     checks a stage on AWS (AWS_REGION, AWS_PROFILE, TOKEN)
npm run verify:deployment -- --local                   checks the local stack that npm start runs

  --token <JWT>            a token with mail:send, mail:read and mail:operate; default: the variable TOKEN
  --operator-token <JWT>   a second token for mail:operate; default: the variable OPERATOR_TOKEN, else the first one
  --yes                    start after saying what will be done; without it the tool only says it
  --in-use                 start although mails wait; leaves out the pause, the large dispatch and the dead letter
  --large cancel|send|none cancel the large dispatch at once (default), send all of it, or leave it out
  --large-count <n>        recipients of the large dispatch; default 50000
  --no-large               the same as --large none
  --no-redrive             leave out the malformed message; on AWS it sets off the alarm on dead letters for some minutes
  --allow-sandbox          an SES account in the sandbox is no failure
  --wait <seconds>         how long anything may take; default 300, with --local 60
  --only <id,id>           some checks alone
  --template-prefix <text> the stage's templatePrefix; default: from cdk.json`;

const wholeNumber = (name: string, text: string, from: number, to: number): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= from && value <= to) return value;
  throw new UsageError(`--${name} is a whole number from ${from} to ${to}, not ${text}`);
};

const isLargeWish = (text: string): text is LargeWish => ['cancel', 'send', 'none'].includes(text);

const readLarge = (text: string, isLeftOut: boolean): LargeWish => {
  if (isLeftOut) return 'none';
  if (isLargeWish(text)) return text;
  throw new UsageError(`--large is cancel, send or none, not ${text}`);
};

const parse = (args: readonly string[]) => {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        stage: text,
        local: flag,
        token: text,
        'operator-token': text,
        yes: flag,
        'in-use': flag,
        large: { ...text, default: 'cancel' },
        'large-count': { ...text, default: String(MOST_RECIPIENTS) },
        'no-large': flag,
        'no-redrive': flag,
        'allow-sandbox': flag,
        wait: text,
        only: text,
        'template-prefix': text,
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
};

/** Reads the command line; throws UsageError. */
export const readOptions = (args: readonly string[], environment: NodeJS.ProcessEnv): Options => {
  const given = parse(args);
  if (given.local === (given.stage !== undefined)) throw new UsageError('Give --stage <stage> or --local.');
  if (given.stage !== undefined && !/^[a-z][a-z0-9-]{0,19}$/.test(given.stage)) {
    throw new UsageError(`--stage is a short lower-case name such as dev or prod, not ${given.stage}`);
  }
  // The local stack has tokens of its own; one that is exported for a stage is none of them.
  const variable = (name: string) => (given.local ? undefined : environment[name] || undefined);
  return {
    stage: given.stage,
    // Nobody else is harmed on one's own machine.
    yes: given.yes || given.local,
    inUse: given['in-use'],
    large: readLarge(given.large, given['no-large']),
    largeCount: wholeNumber('large-count', given['large-count'], 1, MOST_RECIPIENTS),
    redrive: !given['no-redrive'],
    allowSandbox: given['allow-sandbox'],
    waitSeconds: given.wait === undefined ? (given.local ? 60 : 300) : wholeNumber('wait', given.wait, 1, 86_400),
    only: given.only?.split(',').filter((id) => id !== '') ?? [],
    templatePrefix: given['template-prefix'],
    token: given.token ?? variable('TOKEN'),
    operatorToken: given['operator-token'] ?? variable('OPERATOR_TOKEN'),
  };
};
