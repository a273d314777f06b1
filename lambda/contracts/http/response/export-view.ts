import * as z from 'zod';

import { RECIPIENT_STATUSES, type RecipientStatus } from '../../../domain/recipient/recipient.ts';
import { toIso } from '../../../domain/shared/instant.ts';
import type { Fault } from '../problem.ts';
import { FaultList, toRule } from '../request/request-faults.ts';
import { dispatchPath } from './dispatch-view.ts';

const Iso = z.iso.datetime({ precision: 3 });

/** The body of a request for an export. Without a state: recipients in any. */
export const ExportRequest = z.strictObject({ status: z.enum(RECIPIENT_STATUSES).nullish() });

export type ParsedExport =
  | { readonly ok: true; readonly status?: RecipientStatus }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly total: number };

/** Reads such a body. */
export const parseExportRequest = (body: unknown): ParsedExport => {
  const parsed = ExportRequest.safeParse(body, { error: toRule });
  if (parsed.success) return { ok: true, ...(parsed.data.status && { status: parsed.data.status }) };
  const faults = new FaultList();
  faults.addIssues(parsed.error.issues, []);
  return { ok: false, faults: faults.listed, total: faults.total };
};

/** An export as the API shows it. */
export const ExportView = z.object({
  export: z.int().positive(),
  /** `gone`: its file is not kept any more. */
  state: z.enum(['running', 'done', 'gone']),
  status: z.enum(RECIPIENT_STATUSES).exactOptional(),
  requestedAt: Iso,
  /** Recipients written so far. */
  recipients: z.int().nonnegative(),
  /** Where the file can be fetched without a token, and until when. */
  url: z.string().exactOptional(),
  urlExpiresAt: Iso.exactOptional(),
  links: z.object({ self: z.string() }),
});
export type ExportView = z.output<typeof ExportView>;

/** Where an export is found. */
export const exportPath = (dispatchId: string, task: number): string => `${dispatchPath(dispatchId)}/exports/${task}`;

export const toExportView = (
  { dispatchId, task }: { readonly dispatchId: string; readonly task: number },
  seen: {
    readonly state: ExportView['state'];
    readonly statuses?: readonly RecipientStatus[];
    readonly requestedAt: number;
    readonly written: number;
    readonly url?: string;
    readonly until?: number;
  },
): ExportView => {
  const [status] = seen.statuses ?? [];
  return {
    export: task,
    state: seen.state,
    ...(status !== undefined && { status }),
    requestedAt: toIso(seen.requestedAt),
    recipients: seen.written,
    ...(seen.url !== undefined && { url: seen.url }),
    ...(seen.until !== undefined && { urlExpiresAt: toIso(seen.until) }),
    links: { self: exportPath(dispatchId, task) },
  };
};
