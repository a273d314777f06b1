import { SESv2Client } from '@aws-sdk/client-sesv2';

import type { KeptSockets } from './kept-sockets.ts';

/**
 * The SES client of the sender. SES has no idempotency key, so a retry inside the SDK would be a second mail: one try,
 * and whether to try again is decided by the recipient's state. `requestTimeout` alone only logs a warning.
 */
export const createSesClient = (timeoutSeconds: number, sockets?: KeptSockets): SESv2Client =>
  new SESv2Client({
    maxAttempts: 1,
    requestHandler: {
      ...(sockets !== undefined && { httpAgent: sockets.httpAgent, httpsAgent: sockets.httpsAgent }),
      connectionTimeout: Math.min(3_000, timeoutSeconds * 500),
      requestTimeout: timeoutSeconds * 1000,
      throwOnRequestTimeout: true,
    },
  });

/** The SES client of functions that only read. One try, since a repetition would take a slot of the budget that another caller booked. */
export const createSesReadClient = (): SESv2Client =>
  new SESv2Client({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  });
