import { EventBridgeClient } from '@aws-sdk/client-eventbridge';

/** The bus's client. One try, since failed entries are sent again anyway. By default the SDK waits for an answer for ever. */
export const createEventBridgeClient = (): EventBridgeClient =>
  new EventBridgeClient({
    maxAttempts: 1,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  });
