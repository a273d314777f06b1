import { S3Client } from '@aws-sdk/client-s3';

/**
 * The client of the service's buckets. By path, so that an address works wherever the bucket is served from; checksums
 * only where S3 asks for them, since a signed address cannot carry one. By default the SDK waits for an answer for ever.
 * @param requestTimeoutMs how long one try may take
 * @param maxAttempts tries of one call
 */
export const createS3Client = (requestTimeoutMs: number, maxAttempts = 3): S3Client =>
  new S3Client({
    forcePathStyle: true,
    maxAttempts,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 1_000, requestTimeout: requestTimeoutMs, throwOnRequestTimeout: true },
  });
