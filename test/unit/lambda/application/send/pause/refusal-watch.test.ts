import { describe, expect, it } from 'vitest';

import type { NotedAnswer } from '../../../../../../lambda/application/send/pause/noted-answer.ts';
import { createRefusalWatch } from '../../../../../../lambda/application/send/pause/refusal-watch.ts';
import { aKey, DISPATCH_ID } from '../../../../../support/builders.ts';
import { T0 } from '../../../../../support/clock.ts';
import { accepted, accessDenied } from '../../../../../support/fakes.ts';

const at = (seconds: number): number => T0 + seconds * 1000;

const noted = (applyId: string, startedAt: number, answer: NotedAnswer['answer'] = accessDenied): NotedAnswer => ({
  key: aKey(applyId),
  from: 'a@example.org',
  startedAt,
  answer,
});

/** Twelve recipients of one dispatch, each refused in a chunk of its own within twelve seconds. */
const afterARun = () => {
  const watch = createRefusalWatch();
  for (let n = 0; n < 12; n += 1) watch.add([noted(`a-${n}`, at(n))], n, at(n));
  return watch;
};

const refuseThreeMore = (watch: ReturnType<typeof createRefusalWatch>, startedAt: number, answeredAt: number) => {
  watch.add(
    ['b-1', 'b-2', 'b-3'].map((applyId) => noted(applyId, startedAt)),
    100,
    answeredAt,
  );
};

describe('a run of refusals of one dispatch is its own trouble', () => {
  it('when three recipients are refused between two signs that the account works', () => {
    const watch = afterARun();

    expect(watch.accountWorked(at(5))).toEqual([]);
    refuseThreeMore(watch, at(13), at(14));
    expect(watch.accountWorked(at(13))).toEqual([]);
    expect(watch.accountWorked(at(15))).toEqual([{ dispatchId: DISPATCH_ID, code: 'ACCESS_DENIED' }]);
  });

  it.each<[string, (watch: ReturnType<typeof createRefusalWatch>) => void]>([
    ['nobody is refused after the first canary', () => undefined],
    [
      'the mails that were refused had begun before the first canary',
      (watch) => {
        refuseThreeMore(watch, at(11), at(14));
      },
    ],
    [
      'a mail is accepted between them',
      (watch) => {
        refuseThreeMore(watch, at(13), at(14));
        watch.add([noted('c-1', at(14), accepted)], 101, at(14));
      },
    ],
  ])('but not when %s', (_name, between) => {
    const watch = afterARun();

    watch.accountWorked(at(12));
    between(watch);

    expect(watch.accountWorked(at(15))).toEqual([]);
  });

  it('but not by a canary from before the run', () => {
    const watch = afterARun();

    watch.accountWorked(at(-1));
    refuseThreeMore(watch, at(13), at(14));

    expect(watch.accountWorked(at(15))).toEqual([]);
  });
});
