/** Attempts that were made: a claim that had no time left, as on a busy machine, was given back without a call to SES. */
export const madeOf = <A extends { readonly outcome?: string | undefined }>(attempts: readonly A[]): A[] =>
  attempts.filter(({ outcome }) => outcome !== 'given-back');

/** How each attempt ended that was made. */
export const outcomesOf = ({ attempts }: { readonly attempts: readonly { readonly outcome?: string | undefined }[] }) =>
  madeOf(attempts).map(({ outcome }) => outcome);
