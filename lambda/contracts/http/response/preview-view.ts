import * as z from 'zod';

import type { RenderedMail } from '../../../domain/dispatch/content.ts';
import type { SendEstimate } from '../../../domain/dispatch/send-estimate.ts';
import { Fault, FAULTS_LISTED } from '../problem.ts';
import { EstimateView, toEstimateView } from './estimate-view.ts';

const SampleView = z.object({
  applyId: z.string(),
  /** The address as it would be sent to. */
  to: z.string(),
  subject: z.string(),
  html: z.string().exactOptional(),
  text: z.string().exactOptional(),
  unsubscribeUrl: z.string().exactOptional(),
});

/** What a request would come to; nothing of it is stored. */
export const PreviewView = z.object({
  /** Whatever would have it refused, the first ones; without any, the request would be accepted. */
  faults: z.array(Fault),
  /** Faults there are; of those that keep a mail from being rendered, the recipients concerned. */
  faultsTotal: z.int().nonnegative(),
  /** What would be sent all the same, but may not be meant; the first ones. */
  warnings: z.array(Fault),
  warningsTotal: z.int().nonnegative(),
  /** The first mails that can be rendered. */
  mails: z.array(SampleView),
  mailsCutShort: z
    .boolean()
    .describe(
      'True: the time or the size allowed for `mails` was used up, so there may be fewer than could be rendered. It is no fault of the request.',
    ),
  /** Names the template that the mails were made of; null: there is none. As `templateVersion` of a request it keeps another one from being sent. */
  templateVersion: z.string().nullable(),
  estimate: EstimateView.nullable(),
});
export type PreviewView = z.output<typeof PreviewView>;

/** Faults or warnings, the first of which may be all that is at hand. */
export interface Listed {
  readonly faults: readonly Fault[];
  readonly total: number;
}

export const toPreviewView = (
  faults: readonly Listed[],
  warnings: Listed,
  {
    mails,
    cutShort,
  }: {
    readonly mails: readonly (RenderedMail & { readonly applyId: string; readonly to: string })[];
    readonly cutShort: boolean;
  },
  { templateVersion, estimate }: { readonly templateVersion?: string | undefined; readonly estimate?: SendEstimate | undefined },
): PreviewView => ({
  faults: faults.flatMap((listed) => listed.faults).slice(0, FAULTS_LISTED),
  faultsTotal: faults.reduce((sum, { total }) => sum + total, 0),
  warnings: warnings.faults.slice(0, FAULTS_LISTED),
  warningsTotal: warnings.total,
  mails: mails.map((mail) => ({ ...mail })),
  mailsCutShort: cutShort,
  templateVersion: templateVersion ?? null,
  estimate: toEstimateView(estimate),
});
