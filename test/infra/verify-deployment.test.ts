import { afterAll, describe, expect, it } from 'vitest';

import { stacksOf, StageOutputs } from '../../tools/verify-deployment/targets/stack-outputs.ts';
import { removeFolders, synthesize } from './synthesized.ts';

afterAll(removeFolders);

describe('what the verification of a deployment reads', () => {
  it('is among the outputs of the stacks that it asks', () => {
    const { dispatch, watch } = synthesize();
    const outputs = [dispatch, watch].flatMap((template) => Object.keys(template.findOutputs('*')));

    expect(Object.keys(StageOutputs.shape).filter((name) => !outputs.includes(name))).toEqual([]);
    expect(stacksOf('prod')).toEqual(['mail-dispatch-prod', 'mail-dispatch-prod-watch']);
  });

  it('finds every metric alarm by the name of its stack: none has a name of its own', () => {
    const { watch } = synthesize();
    const named = Object.values(watch.findResources('AWS::CloudWatch::Alarm')).filter(
      (alarm) => 'AlarmName' in (alarm as { Properties: object }).Properties,
    );

    expect(named).toEqual([]);
  });
});
