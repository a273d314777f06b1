import type { StackFile } from '../../local/stack-file.ts';

/** A body of `n` recipients that satisfies a seeded scenario; `local` makes the addresses' local parts. */
export const requestOf = (
  { scenarios }: Pick<StackFile, 'scenarios'>,
  n: number,
  local: (i: number) => string = (i) => `person-${i}`,
) => {
  const scenario = scenarios.find(({ id }) => id === 'interview-invitation');
  if (!scenario) throw new Error('the scenario is not seeded');
  return {
    scenarioId: scenario.id,
    recruitId: 'recruit-1',
    // Many requests of one run ask for the same, on purpose.
    allowRepeat: true,
    variables: scenario.variables,
    recipients: Array.from({ length: n }, (_, i) => ({
      applyId: `apply-${i}`,
      email: `${local(i)}@example.com`,
      variables: scenario.recipientVariables,
    })),
  };
};

/** The body of a request. */
export type DispatchBody = ReturnType<typeof requestOf>;
