import { parseAddress } from './mailbox.ts';
import { faultsOfScale, localScale, type ScaleSettings, type ServiceScale, serviceScale } from './scale/service-scale.ts';
import { readSenders, type SenderSettings } from './sender-settings.ts';
import { environmentName, type Lookup, SettingReader } from './setting.ts';
import { faultsOfTimeOrder, FEEDBACK_WINDOW_SECONDS, LONGEST_POLL_SECONDS, type TimeOrder } from './time-order.ts';
import { readTokens, type TokenSettings } from './token-settings.ts';

/** Everything in which one stage differs from another. */
export interface StageSettings extends TimeOrder, ScaleSettings, SenderSettings, TokenSettings {
  readonly name: string;

  /** Whether data and logs outlive a mistaken delete of the stacks. */
  readonly retainData: boolean;

  /** Whether CloudFormation and DynamoDB refuse to delete; off until the first deployment has succeeded. */
  readonly deletionProtection: boolean;

  /** Whether this stage alarms on metrics of the whole account and shows them: one stage of an account and region does. */
  readonly accountAlarms: boolean;

  /** Most bytes of one rendered mail: subject, HTML, text and unsubscribe URL together. */
  readonly maxMailBytes: number;
  /** Put before a scenario's id to get the name of its template in SES. */
  readonly templatePrefix: string;

  readonly attemptsPerRound: number;
  readonly backoffBaseSeconds: number;
  readonly backoffCapSeconds: number;

  readonly unclearPolicy: 'auto' | 'resend' | 'manual';
  /** Mails that may follow lost ones in a round: so many copies beyond the first are possible. */
  readonly resendsAfterLost: number;
  /** How much later than a lost attempt a mail must be whose events were applied, for the attempt to be taken as unsent. */
  readonly watermarkMarginSeconds: number;
  /** How long an unclear attempt waits for an event, pauses not counted, before a person has to decide; without a canary twice as long. */
  readonly unknownAfterSeconds: number;
  /** First and longest pause when the account cannot send. */
  readonly pauseBaseSeconds: number;
  readonly pauseCapSeconds: number;
  /** How long messages wait during an operator's pause before they are looked at again: mails go out up to that much after its end. */
  readonly pauseLookSeconds: number;
  readonly retentionDays: number;
  /** The table that took the place of the stage's own, after a restore; undefined: the stage's own. */
  readonly restoredTable: RestoredTable | undefined;
  /** A mail that waits longer is late, and somebody is told. */
  readonly lateSeconds: number;
  /** Who is told of every alarm; empty: nobody. */
  readonly alarmEmail: string;
  /** How long the same content is not accepted again under another key, unless that is asked for. */
  readonly repeatGuardSeconds: number;

  /** A dispatch counts as stuck after this long without a change; its rows are visited no more often than that. */
  readonly stuckAfterSeconds: number;
  readonly revisitSeconds: number;
  /** How long changes of recipients are gathered before they are counted. */
  readonly progressWindowSeconds: number;
}

/** A table that DynamoDB restored, which no stack owns. */
export interface RestoredTable {
  readonly streamArn: string;
  /** DynamoDB's `TableId`. */
  readonly id: string;
}

/** The stage of the local stack. */
export const LOCAL = 'local';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** What the local stack does differently: short times, and an issuer and a sender of its own. */
const LOCAL_DEFAULTS: Readonly<Record<string, unknown>> = {
  issuer: 'https://issuer.localhost/',
  accountAlarms: true,
  maxSendRate: 1_000,
  fromAddress: 'Recruiting <no-reply@example.com>',
  sesTimeoutSeconds: 3,
  functionTimeoutSeconds: 10,
  leaseSeconds: 15,
  visibilitySeconds: 20,
  feedbackTimeoutSeconds: 3,
  feedbackVisibilitySeconds: 5,
  backoffBaseSeconds: 2,
  backoffCapSeconds: 60,
  watermarkMarginSeconds: 6,
  behindAfterSeconds: 5,
  unknownAfterSeconds: 60,
  pauseBaseSeconds: 2,
  pauseCapSeconds: 10,
  pauseLookSeconds: 10,
  stuckAfterSeconds: 10,
  revisitSeconds: 10,
  progressWindowSeconds: 0,
};

/** A bare address, which SNS takes as it is. */
const isAddress = (text: string): boolean => {
  const parsed = parseAddress(text);
  return parsed.ok && parsed.value.address === text;
};

const readTimes = (read: SettingReader) => ({
  sesTimeoutSeconds: read.number('sesTimeoutSeconds', 10, { from: 1, to: 60 }),
  functionTimeoutSeconds: read.number('functionTimeoutSeconds', 30, { from: 2, to: 900 }),
  leaseSeconds: read.number('leaseSeconds', 300, { from: 3, to: 12 * HOUR }),
  // SQS hides a message for 12 hours at most.
  visibilitySeconds: read.number('visibilitySeconds', 360, { from: 4, to: 12 * HOUR }),
  feedbackTimeoutSeconds: read.number('feedbackTimeoutSeconds', 10, { from: 1, to: 900 }),
  feedbackVisibilitySeconds: read.number('feedbackVisibilitySeconds', 60, { from: 2, to: HOUR }),
  behindAfterSeconds: read.number('behindAfterSeconds', 45, { from: 1, to: HOUR }),
});

const readPolicy = (read: SettingReader) => ({
  // SQS allows 1,000 receives, and some are kept for crashes.
  attemptsPerRound: read.number('attemptsPerRound', 7, { from: 1, to: 900 }),
  backoffBaseSeconds: read.number('backoffBaseSeconds', 30, { from: 1, to: HOUR }),
  backoffCapSeconds: read.number('backoffCapSeconds', HOUR, { from: 1, to: 11 * HOUR }),
  // SES takes 40 MB, coded and with its headers.
  maxMailBytes: read.number('maxMailBytes', 1_000_000, { from: 10_000, to: 10_000_000 }),
  unclearPolicy: read.oneOf('unclearPolicy', ['auto', 'resend', 'manual']),
  resendsAfterLost: read.number('resendsAfterLost', 1, { from: 0, to: 5 }),
  watermarkMarginSeconds: read.number('watermarkMarginSeconds', 60, { from: 1, to: HOUR }),
  unknownAfterSeconds: read.number('unknownAfterSeconds', HOUR, { from: 1, to: DAY }),
  pauseBaseSeconds: read.number('pauseBaseSeconds', 60, { from: 1, to: HOUR }),
  pauseCapSeconds: read.number('pauseCapSeconds', 600, { from: 1, to: DAY }),
  // SQS delays a message for 15 minutes at most.
  pauseLookSeconds: read.number('pauseLookSeconds', 900, { from: 1, to: 900 }),
  retentionDays: read.number('retentionDays', 180, { from: 1, to: 3_650 }),
  repeatGuardSeconds: read.number('repeatGuardSeconds', 600, { from: 1, to: DAY }),
  lateSeconds: read.number('lateSeconds', HOUR, { from: 60, to: DAY }),
  stuckAfterSeconds: read.number('stuckAfterSeconds', 600, { from: 1, to: DAY }),
  revisitSeconds: read.number('revisitSeconds', 900, { from: 1, to: DAY }),
  progressWindowSeconds: read.number('progressWindowSeconds', 1, { from: 0, to: 60 }),
});

const readScale = (read: SettingReader) => ({
  // What SES gives a new account in production.
  maxSendRate: read.number('maxSendRate', 14, { from: 0.1, to: 10_000, fractions: true }),
  rateShare: read.number('rateShare', 0.9, { from: 0.01, to: 0.9, fractions: true }),
  // The event source accepts no less than 2.
  maxConcurrency: read.optional('maxConcurrency', { from: 2, to: 1_000 }),
  // A batch brings no more messages.
  parallelCalls: read.optional('parallelCalls', { from: 1, to: 10 }),
  warmWriteUnits: read.optional('warmWriteUnits', { from: 0, to: 1_000_000 }),
});

const readOthers = (read: SettingReader) => ({
  alarmEmail: read.text(
    'alarmEmail',
    '',
    'give the one mailbox that is told of alarms as name@host, or nothing',
    (text) => text === '' || isAddress(text),
  ),
  templatePrefix: read.text('templatePrefix', '', 'use letters, digits, - and _ only', (text) => /^[\w-]{0,40}$/.test(text)),
});

/** Of stages with another name nobody knows whether they share their account. */
const ACCOUNT_ALARMS: Readonly<Record<string, boolean>> = { prod: true, dev: false };

const readDuties = (read: SettingReader, name: string) => ({
  accountAlarms: read.flag(
    'accountAlarms',
    ACCOUNT_ALARMS[name],
    'say true for one stage of the account and region, and false for every other',
  ),
  deletionProtection: read.flag('deletionProtection', false, 'say true once the first deployment has succeeded, or false'),
});

const isStreamArn = (text: string): boolean => /^arn:[\w-]+:dynamodb:[\w-]+:\d{12}:table\/[\w.-]+\/stream\/.+$/.test(text);

/** Both or neither. */
const readRestoredTable = (read: SettingReader): RestoredTable | undefined => {
  const streamArn = read.text(
    'restoredTableStreamArn',
    '',
    'give LatestStreamArn of the restored table, or nothing',
    (text) => text === '' || isStreamArn(text),
  );
  const id = read.text('restoredTableId', '', 'give TableId of the restored table, or nothing', (text) => /^[\w-]*$/.test(text));
  if ((streamArn === '') !== (id === '')) read.faults.push('restoredTableStreamArn and restoredTableId must be given together');
  return streamArn === '' || id === '' ? undefined : { streamArn, id };
};

/** Stages that mail everybody unless `allowedRecipients` says otherwise. The local stack mails nobody. */
const OPEN_STAGES: ReadonlySet<string> = new Set(['prod', LOCAL]);

/** Whether data outlives a mistaken delete: outside of development it does. */
const keepsData = (name: string): boolean => name !== LOCAL && name !== 'dev';

/** Final rows live longer than a dead letter of theirs. */
const LEAST_RETENTION_DAYS = 15;

/** Reads and checks all settings of a stage; throws one error that names every fault. */
export const readStage = (name: unknown, lookup: Lookup): StageSettings => {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,19}$/.test(name)) {
    throw new Error(
      `'stage' must be a short lower-case name such as dev or prod, got ${typeof name === 'string' ? name : 'none'}: -c stage=prod`,
    );
  }
  const read = new SettingReader(name === LOCAL ? (key) => lookup(key) ?? LOCAL_DEFAULTS[key] : lookup);
  const settings = {
    ...readTokens(read),
    ...readSenders(read, OPEN_STAGES.has(name)),
    ...readOthers(read),
    ...readTimes(read),
    ...readPolicy(read),
    ...readScale(read),
    ...readDuties(read, name),
    restoredTable: readRestoredTable(read),
  };
  const faults = [
    ...read.faults,
    ...faultsOfTimeOrder(settings, name === LOCAL ? 0 : LONGEST_POLL_SECONDS + FEEDBACK_WINDOW_SECONDS),
  ];
  // On one machine its processors are the limit.
  if (name !== LOCAL && read.faults.length === 0) faults.push(...faultsOfScale(settings));
  for (const kind of ['backoff', 'pause'] as const) {
    const [base, cap] = [settings[`${kind}BaseSeconds`], settings[`${kind}CapSeconds`]];
    if (base > cap) faults.push(`${kind}BaseSeconds (${base}) must not exceed ${kind}CapSeconds (${cap})`);
  }
  const retainData = keepsData(name);
  if (retainData && settings.retentionDays < LEAST_RETENTION_DAYS) {
    faults.push(
      `retentionDays (${settings.retentionDays}) must be at least ${LEAST_RETENTION_DAYS}: dead letters live 14 days, and a redriven one needs its recipient`,
    );
  }
  if (faults.length > 0) {
    const how =
      name === LOCAL
        ? `environment variables such as ${environmentName('leaseSeconds')}`
        : `cdk.json under stages.${name}, or -c key=value`;
    throw new Error(`stage '${name}' cannot be built (settings come from ${how}):\n- ${faults.join('\n- ')}`);
  }
  return { name, retainData, ...settings };
};

/** Every number of the stage that follows from its rate. */
export const scaleOf = (stage: StageSettings): ServiceScale => (stage.name === LOCAL ? localScale(stage) : serviceScale(stage));
