import type { Preview } from '../../application/accept/preview-dispatch.ts';
import type { ParsedRequest } from '../../contracts/http/request/dispatch-request.ts';
import { type Listed, type PreviewView, toPreviewView } from '../../contracts/http/response/preview-view.ts';
import {
  notAllowed,
  ofRecipient,
  ofTemplate,
  sharedAddress,
  templateChanged,
  templateTooLarge,
  tooCostly,
  tooLarge,
  unknownScenario,
} from './faults.ts';

/** Says what a request would come to: its faults of form first, then those that show in its mails. */
export const toPreview = (parsed: ParsedRequest, preview: Preview | undefined): PreviewView => {
  const { refusals = [], sharedAddresses = [], samples = { mails: [], cutShort: false }, ...rest } = preview ?? {};
  // Recipients at fault were left out, so the others stand at other places in the body.
  const placeOf = (index: number): number => (parsed.ok ? index : (parsed.sound?.places[index] ?? index));
  return toPreviewView(
    [...(parsed.ok ? [] : [parsed]), ...refusals.map((refusal) => listed(refusal, placeOf))],
    {
      faults: sharedAddresses.map((each) => sharedAddress({ ...each, index: placeOf(each.index) })),
      total: sharedAddresses.length,
    },
    samples,
    rest,
  );
};

const listed = (refusal: Preview['refusals'][number], placeOf: (index: number) => number): Listed => {
  switch (refusal.outcome) {
    case 'recipients-not-allowed':
      return {
        faults: refusal.recipients.map((each) => notAllowed({ ...each, index: placeOf(each.index) })),
        total: refusal.total,
      };
    case 'unknown-scenario':
      return { faults: [unknownScenario()], total: 1 };
    case 'template-changed':
      return { faults: [templateChanged()], total: 1 };
    case 'template-too-large':
      return { faults: [templateTooLarge()], total: 1 };
    case 'invalid-template':
      return { faults: refusal.faults.map(ofTemplate), total: refusal.faults.length };
    case 'cannot-render': {
      const faults = refusal.faults.map((fault) => ofRecipient({ ...fault, index: placeOf(fault.index) }));
      return { faults, total: refusal.total };
    }
    case 'too-costly':
      return { faults: [tooCostly()], total: 1 };
    case 'too-large':
      return { faults: [tooLarge(refusal.limit)], total: 1 };
  }
};
