import { RemovalPolicy } from 'aws-cdk-lib';

/**
 * What happens to a resource when its stack is deleted or no longer contains it. Kept data stays, except after a creation that
 * failed: CloudFormation then deletes what it just created, so that the creation can be repeated.
 */
export const removalPolicyOf = (retainData: boolean): RemovalPolicy =>
  retainData ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
