/**
 * List prices of us-east-1 in dollars, first tier, without free tier and discounts. Those of Lambda were compared with public
 * pages on 2026-11-30; the others are from memory of the public list. Look them up before you rely on them:
 * https://aws.amazon.com/lambda/pricing/, /dynamodb/pricing/on-demand/, /sqs/pricing/, /sns/pricing/, /ses/pricing/
 */
export const PRICES = {
  /** Functions on arm64. */
  lambdaGigabyteSecond: 0.0000133334,
  lambdaRequest: 0.2 / 1e6,
  dynamoDbWriteUnit: 0.625 / 1e6,
  dynamoDbReadUnit: 0.125 / 1e6,
  sqsRequest: 0.4 / 1e6,
  snsPublish: 0.5 / 1e6,
  sesMail: 100 / 1e6,
} as const;
