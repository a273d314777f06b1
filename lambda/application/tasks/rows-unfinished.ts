/** Thrown when rows could not be changed for now; the task comes again. */
export class RowsUnfinishedError extends Error {
  override readonly name = 'RowsUnfinishedError';
}
