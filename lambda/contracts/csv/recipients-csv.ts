import { type RecipientView, toRecipientView } from '../http/response/dispatch-view.ts';

/** By it spreadsheets know UTF-8. */
export const CSV_BYTE_ORDER_MARK = '\uFEFF';

const COLUMNS = [
  'applyId',
  'email',
  'status',
  'delivery',
  'round',
  'attemptCount',
  'messageId',
  'sentAt',
  'failedAt',
  'cancelledAt',
  'nextAttemptAt',
  'lastErrorCode',
] as const satisfies readonly (keyof RecipientView)[];

/**
 * What a spreadsheet could run as a formula, also behind spaces or in full width; or cut off, as tabs and line breaks
 * are. An apostrophe in front makes it text.
 */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** RFC 4180, always in quotes: a spreadsheet that parts columns by semicolons must not find one inside a value. */
const field = (value: string | number | undefined): string => {
  const text = String(value ?? '');
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};

const line = (values: readonly (string | number | undefined)[]): string => `${values.map(field).join(',')}\r\n`;

/** Names of the columns. */
export const CSV_HEADER = line(COLUMNS);

/** One recipient. */
export const toCsvLine = (row: Parameters<typeof toRecipientView>[0]): string => {
  const view = toRecipientView({ ...row, attempts: [], events: [] });
  return line(COLUMNS.map((column) => view[column]));
};
