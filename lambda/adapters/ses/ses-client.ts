import { SESv2Client } from '@aws-sdk/client-sesv2';

/**
 * The SES client of the sender. SES has no idempotency key, so a retry inside the SDK would be a second mail: one try,
 * and whether to try again is decided by the recipient's state. `requestTimeout` alone only logs a warning.
 */
export const createSesClient = (timeoutSeconds: number): SESv2Client =>
  new SESv2Client({
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: Math.min(3_000, timeoutSeconds * 500),
      requestTimeout: timeoutSeconds * 1000,
      throwOnRequestTimeout: true,
    },
  });

/** The SES client of the API, which only reads, so it may ask again. The gateway waits 30 s in all: no call may take long. */
export const createSesReadClient = (): SESv2Client =>
  new SESv2Client({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  });
