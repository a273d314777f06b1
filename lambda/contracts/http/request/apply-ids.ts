import * as z from 'zod';

import { REQUEST_LIMITS } from '../../../domain/dispatch/dispatch-request.ts';
import { headerText } from './request-faults.ts';
import type { RequestRule } from './request-rules.ts';

/** So many recipients are changed at once; more of them are a matter of the whole dispatch. */
const CHANGED_AT_ONCE = 100;

/** A list of recipients in the body of a request. */
export const someApplyIds = () =>
  z
    .array(headerText(REQUEST_LIMITS.idBytes, 'id-length').refine((id) => id !== '', 'id-length' satisfies RequestRule))
    .min(1, 'no-apply-ids' satisfies RequestRule)
    .max(CHANGED_AT_ONCE, 'too-many-apply-ids' satisfies RequestRule);
