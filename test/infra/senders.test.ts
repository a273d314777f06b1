import { SendEmailCommand, type SESv2Client } from '@aws-sdk/client-sesv2';
import { describe, expect, it } from 'vitest';

import { createMailProvider } from '../../lambda/adapters/ses/mail-provider.ts';
import { draftContent } from '../../lambda/application/accept/draft-content.ts';
import { readStage } from '../../lib/config/stages.ts';
import { environmentOf, GIVEN, one, plain, synthesize } from './synthesized.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: readonly unknown[];
  readonly Condition: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

type Dispatch = ReturnType<typeof synthesize>['dispatch'];

const sendStatements = (dispatch: Dispatch, role: string): Statement[] => {
  const { PolicyDocument } = one(dispatch, 'AWS::IAM::Policy', `${role}RoleDefaultPolicy`).Properties;
  return (PolicyDocument as { Statement: Statement[] }).Statement.filter(({ Action }) => Action === 'ses:SendEmail');
};

const asList = (value: string | readonly string[]): readonly string[] => [value].flat();

const isLike = (text: string, pattern: string): boolean =>
  new RegExp(
    `^${pattern
      .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(text);

/** The operators that these policies use, as IAM defines them. */
const OPERATORS: Readonly<Record<string, (values: readonly string[], patterns: readonly string[]) => boolean>> = {
  StringEqualsIgnoreCase: ([value], patterns) => patterns.some((each) => each.toLowerCase() === value?.toLowerCase()),
  'ForAllValues:StringEqualsIgnoreCase': (values, patterns) =>
    values.every((value) => patterns.some((each) => each.toLowerCase() === value.toLowerCase())),
  'ForAllValues:StringLike': (values, patterns) => values.every((value) => patterns.some((each) => isLike(value, each))),
  Null: (values, [isMissing]) => String(values.length === 0) === isMissing,
};

/** What SES is asked to send, and the identity that it finds verified for it. */
interface Asked {
  readonly from: string;
  readonly to: string;
  readonly identity: string;
}

/** Whether a role may send: as IAM decides, in as much as these policies need it. */
const maySend = (dispatch: Dispatch, role: string, { from, to, identity }: Asked): boolean => {
  const context: Readonly<Record<string, readonly string[]>> = { 'ses:FromAddress': [from], 'ses:Recipients': [to] };
  return sendStatements(dispatch, role).some(
    ({ Resource, Condition }) =>
      Resource.map(plain).some((arn) => isLike(`identity/${identity}`, arn.slice(arn.lastIndexOf(':') + 1))) &&
      Object.entries(Condition).every(([operator, keys]) =>
        Object.entries(keys).every(([key, patterns]) => {
          const holds = OPERATORS[operator];
          if (holds === undefined) throw new Error(`operator ${operator} is not known here`);
          return holds(context[key] ?? [], asList(patterns));
        }),
      ),
  );
};

/** The mailbox of a From header, by the rules of RFC 5322 and 2047. */
const readHeader = (header: string): { readonly name: string; readonly address: string } => {
  expect(header).toMatch(/^[\x20-\x7e]+$/);
  const [, phrase = '', address = header] = /^(.*) <([^<>]+)>$/.exec(header) ?? [];
  if (phrase === '') return { name: '', address };
  const quoted = /^"([^"\\]*)"$/.exec(phrase)?.[1];
  // Whatever is neither quoted nor encoded could be taken for an address of its own.
  if (quoted === undefined) expect(phrase).toMatch(/^=\?UTF-8\?B\?[\w+/=]+\?=( =\?UTF-8\?B\?[\w+/=]+\?=)*$/);
  const decode = (word: string): string => Buffer.from(word.slice('=?UTF-8?B?'.length, -2), 'base64').toString('utf8');
  return { name: quoted ?? phrase.split(' ').map(decode).join(''), address };
};

/** The From header with which SES is called when a function gets these variables. */
const fromHeaders = async (dispatch: Dispatch) => {
  const posted: (string | undefined)[] = [];
  const client = {
    send: (command: unknown) => {
      if (command instanceof SendEmailCommand) posted.push(command.input.FromEmailAddress);
      return Promise.resolve({ MessageId: 'message-1' });
    },
  } as unknown as SESv2Client;
  const provider = createMailProvider({ client, configurationSet: 'events', timeoutSeconds: 10 });
  const variable = (role: string): string => String(environmentOf(dispatch, role)['FROM_ADDRESS']);

  await provider.sendCanary(variable('SendRecipients'));
  await provider.sendCanary(variable('ResolveUnclear'));
  const draft = await draftContent(
    {
      templates: {
        find: () => Promise.resolve({ kind: 'template', template: { subject: 'Hello', text: 'Hello' }, version: 'v' }),
      },
      checkContent: () => ({ outcome: 'fine' }),
      isAllowedRecipient: () => true,
      from: variable('AcceptDispatch'),
      replyTo: undefined,
    },
    { scenarioId: 's', recruitId: 'r', recipients: [], variables: {}, isTest: false, allowRepeat: false },
  );
  const from = draft.drafted?.content.from ?? '';
  const mail = { from, to: 'kim@example.com', subject: 'Hello', text: 'Hello' };
  await provider.send(mail, { dispatchId: 'd', shard: 0, applyId: 'a', round: 1, attempt: 1, lease: 'l' });
  return posted.map((header) => header ?? '');
};

const ROLES = ['SendRecipients', 'ResolveUnclear'];
const TO = 'kim@example.com';

describe('policy, canaries and mails agree', () => {
  it.each([
    ['a Korean display name (V5)', '채용팀 <jobs@mail.example.org>', '채용팀', 'jobs@mail.example.org', 'example.org'],
    ['a comma in the name (U13)', 'Karen, Chan <karen@example.org>', 'Karen, Chan', 'karen@example.org', 'example.org'],
    [
      'an international domain (U12)',
      'Jobs <jobs@Bücher.example>',
      'Jobs',
      'jobs@xn--bcher-kva.example',
      'xn--bcher-kva.example',
    ],
    ['upper case', 'Jobs <Jobs@Mail.EXAMPLE.org>', 'Jobs', 'Jobs@mail.example.org', 'mail.example.org'],
    ['no name', 'jobs@example.org', '', 'jobs@example.org', 'jobs@example.org'],
  ])('for %s', async (_name, fromAddress, name, address, identity) => {
    const { dispatch } = synthesize('prod', { fromAddress });

    for (const header of await fromHeaders(dispatch)) {
      const sent = readHeader(header);
      expect(sent).toEqual({ name, address });
      for (const role of ROLES) {
        expect(maySend(dispatch, role, { from: sent.address, to: TO, identity })).toBe(true);
        expect(maySend(dispatch, role, { from: `x${sent.address}`, to: TO, identity })).toBe(false);
        expect(maySend(dispatch, role, { from: sent.address, to: TO, identity: 'other.example' })).toBe(false);
      }
    }
  });

  it('while mails from former addresses wait: these may be sent, and new mails and canaries are from the new address', async () => {
    const old = '채용팀 <jobs@old.Bücher.example>';
    const [before = ''] = await fromHeaders(synthesize('prod', { fromAddress: old }).dispatch);
    const waiting = { from: readHeader(before).address, to: TO, identity: 'xn--bcher-kva.example' };
    const given = { fromAddress: 'Jobs <jobs@new.example>' };

    expect(maySend(synthesize('prod', given).dispatch, 'SendRecipients', waiting)).toBe(false);
    const { dispatch } = synthesize('prod', { ...given, formerFromAddresses: [old, 'hr@older.example'] });
    for (const header of await fromHeaders(dispatch)) expect(readHeader(header).address).toBe('jobs@new.example');
    for (const role of ROLES) {
      expect(maySend(dispatch, role, waiting)).toBe(true);
      expect(maySend(dispatch, role, { from: 'hr@older.example', to: TO, identity: 'older.example' })).toBe(true);
      expect(maySend(dispatch, role, { from: 'jobs@new.example', to: TO, identity: 'new.example' })).toBe(true);
    }
  });
});

describe('who may be mailed', () => {
  const from = 'jobs@mail.example.org';
  const may = (dispatch: Dispatch, to: string, identity = 'example.org') =>
    maySend(dispatch, 'SendRecipients', { from, to, identity });
  const variables = (dispatch: Dispatch) =>
    ['AcceptDispatch', 'SendRecipients'].map((role) => environmentOf(dispatch, role)['ALLOWED_RECIPIENTS']);

  it.each([
    ['dev', ['', ''], false],
    ['staging', ['', ''], false],
    ['prod', ['*', '*'], true],
  ])('of stage %s without the setting', (name, expected, everybody) => {
    const { dispatch } = synthesize(name, { accountAlarms: false });

    expect(variables(dispatch)).toEqual(expected);
    expect(may(dispatch, 'kim@example.com')).toBe(everybody);
    expect(may(dispatch, 'success@simulator.amazonses.com')).toBe(true);
  });

  it('are the addresses and domains of the setting in functions and policy alike, and the simulator', () => {
    const allowedRecipients = ['Kim@Example.com', 'team.example', '*.Bücher.example'];
    const { dispatch } = synthesize('dev', { allowedRecipients });

    expect(variables(dispatch)).toEqual(new Array(2).fill('kim@example.com,team.example,*.xn--bcher-kva.example'));
    for (const to of ['KIM@example.com', 'a@team.example', 'a@b.xn--bcher-kva.example', 'bounce+1@simulator.amazonses.com'])
      expect([to, may(dispatch, to)]).toEqual([to, true]);
    for (const to of ['lee@example.com', 'a@x.team.example', 'a@xn--bcher-kva.example', 'a@team.example.org'])
      expect([to, may(dispatch, to)]).toEqual([to, false]);
  });

  it('a stage may be opened for everybody, but not beside others', () => {
    expect(may(synthesize('dev', { allowedRecipients: ['*'] }).dispatch, 'kim@example.com')).toBe(true);
    expect(() => readStage('dev', (key) => ({ ...GIVEN, allowedRecipients: '*,example.com' })[key as 'issuer'])).toThrow(
      /allowedRecipients must name nobody else beside "\*"/,
    );
  });

  it('in the sandbox the identities of recipients may be used too, and else only that of the simulator', () => {
    const allowedRecipients = ['kim@team.example', 'own.example'];
    const sandbox = synthesize('prod', { allowedRecipients, sesSandbox: true }).dispatch;
    const production = synthesize('prod', { allowedRecipients }).dispatch;

    expect(may(sandbox, 'kim@team.example', 'kim@team.example')).toBe(true);
    expect(may(sandbox, 'kim@team.example', 'team.example')).toBe(true);
    expect(may(sandbox, 'lee@own.example', 'lee@own.example')).toBe(true);
    expect(may(sandbox, 'lee@team.example', 'team.example')).toBe(false);
    expect(may(production, 'kim@team.example', 'kim@team.example')).toBe(false);
    const simulator = 'success@simulator.amazonses.com';
    expect(may(production, simulator, simulator)).toBe(true);
  });

  it('the longest lists fit into what IAM takes for a role', () => {
    const allowedRecipients = Array.from({ length: 20 }, (_, i) => `recipient-${i}@team-${i}.of.a.company.example`);
    const formerFromAddresses = Array.from({ length: 10 }, (_, i) => `jobs-${i}@mail-${i}.example.org`);
    const { dispatch } = synthesize('prod', { allowedRecipients, formerFromAddresses, sesSandbox: true });
    const { PolicyDocument } = one(dispatch, 'AWS::IAM::Policy', 'SendRecipientsRoleDefaultPolicy').Properties;
    const document = JSON.stringify(PolicyDocument, (_key, value: unknown) =>
      typeof value === 'object' && value !== null && ('Fn::Join' in value || 'Fn::GetAtt' in value || 'Ref' in value)
        ? plain(value)
        : value,
    );
    // Of the 10,240 characters some are left for names, which are longer on AWS than here.
    expect(document.length).toBeLessThan(8_500);
  });
});

describe('a setting that is at fault is named with the rule', () => {
  const read = (given: Readonly<Record<string, unknown>>) => () =>
    readStage('prod', (key) => ({ ...GIVEN, ...given })[key as 'issuer']);

  it.each([
    [{ fromAddress: 'dån@example.com' }, /fromAddress is "dån@example.com": give the verified sender as .*; before the @, use /],
    [{ fromAddress: 7 }, /fromAddress is 7: .*give a text/],
    [{ formerFromAddresses: ['jobs@old.example', 'nobody'] }, /formerFromAddresses has "nobody": give name@host/],
    [{ formerFromAddresses: {} }, /formerFromAddresses must be a list of at most 10/],
    [{ replyToAddress: 'A <a@b.example>, c@d.example' }, /replyToAddress is "A <a@b.example>, c@d.example": before the @/],
    [{ allowedRecipients: ['example.com', 'kim@'] }, /allowedRecipients has "kim@": give an address, a domain/],
    [{ allowedRecipients: ['*.com'] }, /allowedRecipients has "\*\.com"/],
    [{ allowedRecipients: ['k*m@example.com'] }, /allowedRecipients has "k\*m@example.com"/],
    [
      { allowedRecipients: Array.from({ length: 21 }, (_, i) => `d${i}.example`) },
      /allowedRecipients must be a list of at most 20/,
    ],
    [{ allowedRecipients: Array.from({ length: 20 }, (_, i) => `${i}${'a'.repeat(55)}.example`) }, /at most 1000 characters/],
    [{ sesSandbox: true }, /sesSandbox needs allowedRecipients/],
    [{ sesSandbox: 'yes' }, /sesSandbox is "yes": say true while the account is in the sandbox of SES, or false/],
  ])('%j', (given, message) => {
    expect(read(given)).toThrow(message);
  });
});
