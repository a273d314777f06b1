import * as z from 'zod';

import type { Addressee } from '../domain/content.ts';
import { type DispatchRequest, REQUEST_LIMITS } from '../domain/dispatch-request.ts';
import type { NormaliseAddress } from '../domain/email-address.ts';
import type { Fault } from './problem.ts';
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
const Envelope = z.strictObject({
  scenarioId: Id,
  recruitId: Id,
  recipients: z
    .array(z.unknown())
    .min(1, 'no-recipients' satisfies RequestRule)
    .max(REQUEST_LIMITS.recipients, 'too-many-recipients' satisfies RequestRule),
  subject: headerText(REQUEST_LIMITS.subjectBytes, 'subject-length').nullish(),
  variables: variables(REQUEST_LIMITS.sharedVariablesBytes, 'shared-variables-size'),
  isTest: z.boolean().nullish(),
  unsubscribe: z.strictObject({ url: headerText(REQUEST_LIMITS.unsubscribeUrlBytes, 'unsubscribe-length').nullish() }).nullish(),
});

const recipientSchema = (normalise: NormaliseAddress) =>
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
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly total: number };

const Recipients = z.object({ recipients: z.array(z.unknown()).max(REQUEST_LIMITS.recipients) });
const WithApplyId = z.object({ applyId: Id });

/** Makes the parser of a request's body. It finds every fault at once. */
export const createRequestParser = (normalise: NormaliseAddress): ((body: unknown) => ParsedRequest) => {
  const Recipient = recipientSchema(normalise);

  const parseRecipients = (rows: readonly unknown[], faults: FaultList): Addressee[] => {
    const seen = new Set<string>();
    return rows.flatMap((row, index) => {
      const path = ['recipients', index];
      const parsed = Recipient.safeParse(row, { error: toRule });
      const applyId = parsed.success ? parsed.data.applyId : WithApplyId.safeParse(row).data?.applyId;
      if (!parsed.success) faults.addIssues(parsed.error.issues, path, applyId);
      if (applyId !== undefined && seen.size === seen.add(applyId).size)
        faults.add([...path, 'applyId'], 'duplicate-apply-id', applyId);
      return parsed.success ? [parsed.data] : [];
    });
  };

  return (body) => {
    const faults = new FaultList();
    const envelope = Envelope.safeParse(body, { error: toRule });
    if (!envelope.success) faults.addIssues(envelope.error.issues, []);
    const recipients = parseRecipients(Recipients.safeParse(body).data?.recipients ?? [], faults);
    if (!envelope.success || faults.total > 0) return { ok: false, faults: faults.listed, total: faults.total };

    const { scenarioId, recruitId, subject, variables, isTest, unsubscribe } = envelope.data;
    return {
      ok: true,
      request: {
        scenarioId,
        recruitId,
        recipients,
        variables,
        isTest: isTest ?? false,
        // Absent, null and empty are the same.
        ...(subject && { subject }),
        ...(unsubscribe?.url && { unsubscribeUrl: unsubscribe.url }),
      },
    };
  };
};
