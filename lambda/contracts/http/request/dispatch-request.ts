import * as z from 'zod';

import type { RecipientInput } from '../../../domain/dispatch/content.ts';
import { type DispatchRequest, REQUEST_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';
import type { NormaliseAddress } from '../../../domain/recipient/email-address.ts';
import type { Fault } from '../problem.ts';
import { breaks, FaultList, headerText, toRule } from './request-faults.ts';
import type { RequestRule } from './request-rules.ts';
import { parseVariables } from './variables.ts';

/** The ids 1 and "1" are the same. A number beyond the safe integers was already rounded by the parser. */
const Id = z
  .union([z.string(), z.number()])
  .transform((id, ctx) => {
    if (typeof id === 'number' && !Number.isSafeInteger(id)) breaks(ctx, 'id-number');
    return String(id);
  })
  .pipe(headerText(REQUEST_LIMITS.idBytes, 'id-length').refine((id) => id !== '', 'id-length' satisfies RequestRule));

const variables = (mostBytes: number, tooLarge: RequestRule) =>
  z
    .unknown()
    .optional()
    .transform((value, ctx) => {
      const parsed = parseVariables(value, mostBytes, tooLarge);
      if (parsed.ok) return parsed.variables;
      for (const { rule, name } of parsed.broken) breaks(ctx, rule, name === undefined ? [] : [name]);
      return z.NEVER;
    });

/** All of a request but its recipients, which are parsed one by one: there may be 50,000 with a fault each. */
export const Envelope = z.strictObject({
  scenarioId: Id,
  recruitId: Id,
  recipients: z
    .array(z.unknown())
    .min(1, 'no-recipients' satisfies RequestRule)
    .max(REQUEST_LIMITS.recipients, 'too-many-recipients' satisfies RequestRule),
  subject: headerText(REQUEST_LIMITS.subjectBytes, 'subject-length').nullish(),
  variables: variables(REQUEST_LIMITS.sharedVariablesBytes, 'shared-variables-size'),
  templateVersion: headerText(REQUEST_LIMITS.templateVersionBytes, 'template-version-length')
    .nullish()
    .describe('The version that a preview answered; if the template has changed since, the answer is `template-changed`'),
  isTest: z.boolean().nullish(),
  allowRepeat: z.boolean().nullish(),
  unsubscribe: z.strictObject({ url: headerText(REQUEST_LIMITS.unsubscribeUrlBytes, 'unsubscribe-length').nullish() }).nullish(),
});

/** One recipient of a request. */
export const recipientSchema = (normalise: NormaliseAddress) =>
  z.strictObject({
    applyId: Id,
    email: z.string().transform((text, ctx) => {
      const verdict = normalise(text);
      if (verdict.ok) return verdict.address;
      breaks(ctx, verdict.fault);
      return z.NEVER;
    }),
    variables: variables(REQUEST_LIMITS.ownVariablesBytes, 'own-variables-size'),
  });

export type ParsedRequest =
  | { readonly ok: true; readonly request: DispatchRequest }
  | {
      readonly ok: false;
      readonly faults: readonly Fault[];
      readonly total: number;
      /** What is left of the request without the recipients at fault; absent when its other fields are. */
      readonly sound?: SoundPart;
    };

/** The part of a request that has no fault of form. */
export interface SoundPart {
  readonly request: DispatchRequest;
  /** Where each of its recipients stands in the body. */
  readonly places: readonly number[];
}

interface Placed {
  readonly recipientInput: RecipientInput;
  readonly place: number;
}

const Recipients = z.object({ recipients: z.array(z.unknown()).max(REQUEST_LIMITS.recipients) });
const WithApplyId = z.object({ applyId: Id });

/** Makes the parser of a request's body. It finds every fault at once. */
export const createRequestParser = (normalise: NormaliseAddress): ((body: unknown) => ParsedRequest) => {
  const Recipient = recipientSchema(normalise);

  const parseRecipients = (rows: readonly unknown[], faults: FaultList): Placed[] => {
    const seen = new Set<string>();
    return rows.flatMap((row, index) => {
      const path = ['recipients', index];
      const parsed = Recipient.safeParse(row, { error: toRule });
      const applyId = parsed.success ? parsed.data.applyId : WithApplyId.safeParse(row).data?.applyId;
      if (!parsed.success) faults.addIssues(parsed.error.issues, path, applyId);
      if (applyId !== undefined && seen.size === seen.add(applyId).size)
        faults.add([...path, 'applyId'], 'duplicate-apply-id', applyId);
      return parsed.success ? [{ recipientInput: parsed.data, place: index }] : [];
    });
  };

  return (body) => {
    const faults = new FaultList();
    const envelope = Envelope.safeParse(body, { error: toRule });
    if (!envelope.success) faults.addIssues(envelope.error.issues, []);
    const placed = parseRecipients(Recipients.safeParse(body).data?.recipients ?? [], faults);
    const { listed, total } = faults;
    if (!envelope.success) return { ok: false, faults: listed, total };

    const request = toRequest(
      envelope.data,
      placed.map(({ recipientInput }) => recipientInput),
    );
    if (total === 0) return { ok: true, request };
    return { ok: false, faults: listed, total, sound: { request, places: placed.map(({ place }) => place) } };
  };
};

const toRequest = (envelope: z.output<typeof Envelope>, recipients: readonly RecipientInput[]): DispatchRequest => {
  const { scenarioId, recruitId, subject, variables, templateVersion, isTest, allowRepeat, unsubscribe } = envelope;
  return {
    scenarioId,
    recruitId,
    recipients,
    variables,
    isTest: isTest ?? false,
    allowRepeat: allowRepeat ?? false,
    // Absent, null and empty are the same.
    ...(subject && { subject }),
    ...(templateVersion && { templateVersion }),
    ...(unsubscribe?.url && { unsubscribeUrl: unsubscribe.url }),
  };
};
