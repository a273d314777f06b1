import { afterAll, describe, expect, it } from 'vitest';

import { readStage } from '../../lib/config/stages.ts';
import { GIVEN, removeFolders, synthesize } from './synthesized.ts';

afterAll(removeFolders);

const TABLE = 'arn:aws:dynamodb:eu-west-1:123456789012:table/mail-dispatch-prod-restored';
const STREAM = `${TABLE}/stream/2026-03-02T09:00:00.000`;
const RESTORED = { restoredTableStreamArn: STREAM, restoredTableId: 'b1946ac9-2d1f-4a3c-8e5f-0a1b2c3d4e5f' };

const exportsOf = (given: object): string[] =>
  Object.values(synthesize('prod', { ...given }).storage.toJSON()['Outputs'] as Record<string, { Export?: { Name: string } }>)
    .flatMap(({ Export }) => Export?.Name ?? [])
    .sort();

const variablesOf = (given: object, name: string): string[] => {
  const functions = Object.values(synthesize('prod', { ...given }).dispatch.findResources('AWS::Lambda::Function')) as {
    Properties: { Environment?: { Variables?: Record<string, unknown> } };
  }[];
  return functions.flatMap(({ Properties }) => {
    const value = Properties.Environment?.Variables?.[name];
    return value === undefined ? [] : [typeof value === 'string' ? value : 'of this stack'];
  });
};

describe('a restored table in place of the stage’s own', () => {
  it('is what every function works with', () => {
    expect(new Set(variablesOf(RESTORED, 'TABLE_NAME'))).toEqual(new Set(['mail-dispatch-prod-restored']));
    expect(new Set(variablesOf(RESTORED, 'TABLE_ID'))).toEqual(new Set([RESTORED.restoredTableId]));
    expect(new Set(variablesOf({}, 'TABLE_NAME'))).toEqual(new Set(['of this stack']));
    expect(variablesOf(RESTORED, 'TABLE_NAME')).toHaveLength(variablesOf({}, 'TABLE_NAME').length);
  });

  it('is what both stream consumers follow, and what the rights are for', () => {
    const { dispatch } = synthesize('prod', RESTORED);
    const sources = Object.values(dispatch.findResources('AWS::Lambda::EventSourceMapping')).map(
      ({ Properties }) => (Properties as { EventSourceArn: unknown }).EventSourceArn,
    );
    expect(sources.filter((source) => source === STREAM)).toHaveLength(2);
    const policies = JSON.stringify(dispatch.findResources('AWS::IAM::Policy'));
    expect(policies).toContain(`"${TABLE}"`);
    expect(policies).toContain(`"${TABLE}/index/open"`);
    // Nothing is left that could touch the old table.
    expect(JSON.stringify(dispatch.toJSON())).not.toMatch(/ImportValue":"[^"]*DispatchesTable/);
  });

  it('is named by the output, and alarmed', () => {
    const { storage, watch } = synthesize('prod', RESTORED);
    storage.hasOutput('TableName', { Value: 'mail-dispatch-prod-restored' });
    const alarms = JSON.stringify(watch.findResources('AWS::CloudWatch::Alarm'));
    expect(alarms).toContain('"Name":"TableName","Value":"mail-dispatch-prod-restored"');
  });

  it('changes nothing of the stack that holds the data, so that it can be deployed before the stacks that still import from it', () => {
    const { storage: before } = synthesize('prod');
    const { storage: after } = synthesize('prod', RESTORED);

    expect(after.toJSON()['Resources']).toEqual(before.toJSON()['Resources']);
    expect(exportsOf(RESTORED)).toEqual(exportsOf({}));
    expect(exportsOf({}).filter((name) => name.includes('DispatchesTable'))).toHaveLength(4);
  });

  it.each([
    [{ restoredTableStreamArn: STREAM }, 'must be given together'],
    [{ restoredTableId: 'id' }, 'must be given together'],
    [{ ...RESTORED, restoredTableStreamArn: TABLE }, 'give LatestStreamArn'],
  ])('is refused half named: %j', (given, message) => {
    const settings: Readonly<Record<string, unknown>> = { ...GIVEN, ...given };
    expect(() => readStage('prod', (key) => settings[key])).toThrow(message);
  });
});
