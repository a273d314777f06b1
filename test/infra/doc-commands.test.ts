import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

import { serviceScale } from '../../lib/config/scale/service-scale.ts';
import { faultsOfAws, faultsOfCdk, MODELS, parametersOf } from '../support/aws-cli/check.ts';
import { commandsIn, type DocCommand } from '../support/aws-cli/commands.ts';
import { removeFolders, ROOT, synthesize } from './synthesized.ts';

afterAll(removeFolders);

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const DOCS = ['docs/deploy.md', 'docs/runbook.md', 'docs/scale.md', 'docs/costs.md', 'README.md'];
const texts = DOCS.map((file) => ({ file, text: read(file) }));

interface Typed extends DocCommand {
  readonly file: string;
}
const commands: readonly Typed[] = texts.flatMap(({ file, text }) => commandsIn(text).map((command) => ({ ...command, file })));
const startingWith = (...first: readonly string[]) =>
  commands
    .filter(({ words }) => first.every((word, i) => words[i] === word))
    .map((command) => ({ ...command, name: `${command.file}:${command.line} ${command.words.join(' ').slice(0, 90)}` }));

const CDK_REGISTRY: unknown = JSON.parse(read('node_modules/aws-cdk/lib/cli/cli-type-registry.json'));

describe('a command for AWS in the docs', () => {
  it.each(startingWith('aws'))('is one that the AWS CLI accepts: $name', ({ words, isInline }) => {
    expect(faultsOfAws(words, isInline)).toEqual([]);
  });

  it('is found wherever it stands', () => {
    expect(startingWith('aws').length).toBeGreaterThan(25);
    expect(startingWith('npx', 'cdk').length).toBeGreaterThan(6);
  });
});

describe('a command for CDK in the docs', () => {
  it.each(startingWith('npx', 'cdk'))('is one that the CLI of this project accepts: $name', ({ words }) => {
    expect(faultsOfCdk(words, CDK_REGISTRY)).toEqual([]);
  });
});

describe('a script in the docs', () => {
  const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(JSON.parse(read('package.json')));

  it.each(startingWith('npm', 'run'))('is one of this project: $name', ({ words }) => {
    expect(Object.keys(scripts)).toContain(words[2]);
  });
});

describe('what commands name', () => {
  const { storage, dispatch, watch } = synthesize('prod', { alarmEmail: 'duty@example.org' });
  const outputs: Readonly<Record<string, string[]>> = {
    'mail-dispatch-prod-storage': Object.keys(storage.findOutputs('*')),
    'mail-dispatch-prod': Object.keys(dispatch.findOutputs('*')),
    'mail-dispatch-prod-watch': Object.keys(watch.findOutputs('*')),
  };
  const anyOutput = new Set(Object.values(outputs).flat());

  it('are stacks that the app makes', () => {
    const made = [...read('bin/mail-dispatch.ts').matchAll(/stackName: `([^`]+)`/g)].map(([, name = '']) =>
      name.replace('${stage.name}', 'prod'),
    );
    expect(made.sort()).toEqual(Object.keys(outputs).sort());
    const inCommands = commands.flatMap(({ words }) => {
      const at = words.indexOf('--stack-name');
      const name = (words[at + 1] ?? '').replace('$STAGE', 'prod');
      return at < 0 || name.startsWith('$') ? [] : [name];
    });
    expect(inCommands.filter((name) => !made.includes(name))).toEqual([]);
    expect(inCommands.length).toBeGreaterThan(3);
  });

  it('are outputs of the stacks that they are looked up in', () => {
    for (const { text } of texts) {
      for (const [, stack = '', output = ''] of text.matchAll(/\."(mail-dispatch-[\w-]+)"\.(\w+)/g)) {
        expect(outputs[stack]).toContain(output);
      }
    }
    for (const { words } of startingWith('aws', 'cloudformation', 'describe-stacks')) {
      const stack = (words[words.indexOf('--stack-name') + 1] ?? '').replace('$STAGE', 'prod');
      const [, output = ''] = /OutputKey=='(\w+)'/.exec(words.join(' ')) ?? [];
      if (output !== '') expect(outputs[stack]).toContain(output);
    }
  });

  it('are outputs that some stack has, where a sentence names one', () => {
    const named = texts.flatMap(({ text }) => [...text.matchAll(/outputs? `(\w+)`/g)].map(([, name = '']) => name));
    expect(named.filter((name) => !anyOutput.has(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });

  it('are files that the reader was told to write', () => {
    for (const { file, text } of texts) {
      for (const [, name = ''] of text.matchAll(/file:\/\/([\w./-]+)/g)) {
        expect(text.slice(0, text.indexOf(`file://${name}`)), `${file}: ${name}`).toMatch(new RegExp(`> ${name}`));
      }
    }
  });

  it('are alarms, where the first ones are listed', () => {
    const [, table = ''] = read('docs/deploy.md').split('## What the first alarm may be');
    const rows =
      table
        .split('\n## ')[0]
        ?.split('\n')
        .filter((line) => line.startsWith('| `')) ?? [];
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    const alarms = Object.entries(
      watch.findResources('AWS::CloudWatch::Alarm') as Record<string, { Properties: { TreatMissingData: string } }>,
    );
    const ids = (given: typeof alarms) => given.map(([id]) => id.replace(/^Alarms|[0-9A-F]{8}$/g, ''));
    expect(named.filter((name) => !ids(alarms).includes(name))).toEqual([]);
    // Those that go off without data are all there.
    const onSilence = ids(alarms.filter(([, { Properties }]) => Properties.TreatMissingData === 'breaching'));
    expect(onSilence.filter((name) => !named.includes(name))).toEqual([]);
    expect(table).toContain(
      `These ${['no', 'one', 'two', 'three', 'four', 'five'][onSilence.length] ?? ''} are alarms on silence`,
    );
  });
});

describe('the quota of Lambda in deploy.md', () => {
  const inWords = (n: number): string => n.toLocaleString('en-US');

  it.each([14, 100, 500, 2_000, 5_000])('is what a stage of %d mails/s reserves and needs', (maxSendRate) => {
    const { dispatch } = synthesize('prod', { maxSendRate });
    const functions = Object.values(dispatch.findResources('AWS::Lambda::Function')) as {
      Properties: { ReservedConcurrentExecutions?: number };
    }[];
    const reserved = functions.reduce((sum, { Properties }) => sum + (Properties.ReservedConcurrentExecutions ?? 0), 0);
    const { lambdaConcurrency } = serviceScale({ maxSendRate, rateShare: 0.9 });

    expect(read('docs/deploy.md')).toContain(
      `| ${inWords(maxSendRate)} | ${inWords(reserved)} | ${inWords(lambdaConcurrency)} |`,
    );
  });
});

describe('the check of commands', () => {
  const faultsOf = (text: string) => commandsIn(`\`${text}\``).flatMap(({ words }) => faultsOfAws(words));

  it.each([
    ['aws sqs start-message-move-task --source <ARN>', 'has no parameter --source'],
    ['aws sqs start-message-move-task', '--source-arn is missing'],
    ['aws sqs move-messages --source-arn <ARN>', 'sqs has no operation move-messages'],
    [
      'aws dynamodb update-table --table-name t --stream-specification Enabled=true',
      '--stream-specification has no member Enabled',
    ],
    [
      'aws dynamodb update-table --table-name t --deletion-protection-enabled true',
      '--deletion-protection-enabled takes no value',
    ],
    ['aws dynamodb describe-table t --table-name t', 't belongs to no parameter'],
    ['aws dynamodb wait table-ready --table-name t', 'dynamodb has no operation wait table-ready'],
    ['aws nosuch list', 'there is no service nosuch in operations.json'],
  ])('finds what is wrong with %s', (text, fault) => {
    expect(faultsOf(text)).toContain(fault);
  });

  it('reads commands over several lines, and inside of substitutions and pipes', () => {
    const text =
      '```sh\nX=$(aws sts get-caller-identity \\\n  --query "A[?b==\'c\']" --output text)\naws s3api list-buckets | while read -r; do aws kms list-keys; done\n```';
    expect(commandsIn(text).map(({ words }) => words)).toEqual([
      ['aws', 'sts', 'get-caller-identity', '--query', "A[?b=='c']", '--output', 'text'],
      ['aws', 's3api', 'list-buckets'],
      ['aws', 'kms', 'list-keys'],
    ]);
  });

  it('leaves prose alone', () => {
    expect(commandsIn('Ask aws cloudwatch people. `aws sqs list-queues`').map(({ words }) => words.join(' '))).toEqual([
      'aws sqs list-queues',
    ]);
  });

  /** The installed SDK has the same models: a list that was changed by hand would differ. */
  it.each([
    ['dynamodb', 'client-dynamodb', 'RestoreTableToPointInTime'],
    ['dynamodb', 'client-dynamodb', 'UpdateContinuousBackups'],
    ['sqs', 'client-sqs', 'StartMessageMoveTask'],
    ['sesv2', 'client-sesv2', 'CreateEmailTemplate'],
    ['s3api', 'client-s3', 'ListObjectVersions'],
    ['sns', 'client-sns', 'SetSubscriptionAttributes'],
    ['events', 'client-eventbridge', 'PutTargets'],
  ])('has for %s what %s has for %s', (service, client, operation) => {
    const command = read(`node_modules/@aws-sdk/${client}/dist-types/commands/${operation}Command.d.ts`);
    const members = [...command.matchAll(/^ \* {3}(\w+): /gm)].map(([, name = '']) => name);
    const input = command.slice(command.indexOf('const input = {'), command.indexOf('const command ='));
    const inInput = [...input.matchAll(/^ \* {3}(\w+): /gm)].map(([, name = '']) => name);
    expect(members.length).toBeGreaterThan(0);
    const kebab = (text: string) => text.replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3-$2$4').toLowerCase();
    const known = parametersOf(service, kebab(operation));

    expect([...(known?.keys() ?? [])]).toEqual(expect.arrayContaining(inInput.map(kebab)));
  });

  it('knows where its list is from', () => {
    expect(MODELS.source).toMatch(/^botocore \d+\.\d+\.\d+$/);
  });
});
