import { afterAll, describe, expect, it } from 'vitest';

import { buildApp, removeFolders, synthesize } from './synthesized.ts';

afterAll(removeFolders);

interface Kept {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties?: { readonly Replicas?: readonly { readonly DeletionProtectionEnabled?: boolean }[] };
}

const resourcesOf = (stage: string): Kept[] =>
  Object.values(synthesize(stage)).flatMap((template) => Object.values(template.toJSON()['Resources'] as Record<string, Kept>));

/** Types of which each resource stays when its stack is deleted; keys of notices protect nothing that is kept. */
const KEPT = ['AWS::DynamoDB::GlobalTable', 'AWS::KMS::Key', 'AWS::Logs::LogGroup', 'AWS::S3::Bucket'];

describe('after a first creation that failed', () => {
  const resources = resourcesOf('prod');

  it('nothing stays that was just created, whatever stays when a stack is deleted later', () => {
    expect(resources.filter(({ DeletionPolicy }) => DeletionPolicy === 'Retain')).toEqual([]);
    const kept = resources.filter(({ DeletionPolicy }) => DeletionPolicy === 'RetainExceptOnCreate');
    expect([...new Set(kept.map(({ Type }) => Type))].sort()).toEqual(KEPT);
    expect(kept.filter(({ UpdateReplacePolicy }) => UpdateReplacePolicy !== 'Retain')).toEqual([]);
  });

  it('the table, every bucket, every log group and the key of the events stay when a stack is deleted later', () => {
    const deleted = resources.filter(
      ({ Type, DeletionPolicy }) => KEPT.includes(Type) && DeletionPolicy !== 'RetainExceptOnCreate',
    );

    // The key of the alarms’ topics.
    expect(deleted.map(({ Type }) => Type)).toEqual(['AWS::KMS::Key']);
  });

  it('the stacks and the table can be deleted: no stage is protected before somebody says so', () => {
    const { storage, dispatch, watch } = buildApp('prod');

    expect([storage, dispatch, watch].map(({ terminationProtection }) => terminationProtection)).toEqual([false, false, false]);
    const replicas = resources.flatMap(({ Properties }) => Properties?.Replicas ?? []);
    expect(replicas.map(({ DeletionProtectionEnabled }) => DeletionProtectionEnabled ?? false)).toEqual([false]);
  });
});
