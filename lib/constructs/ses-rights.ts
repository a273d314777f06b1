import { Stack, Validations } from 'aws-cdk-lib';
import { Grant, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConfigurationSet } from 'aws-cdk-lib/aws-ses';

import { parseMailbox } from '../mailbox.ts';
import type { ServiceFunction } from './service-function.ts';

const sesArn = (stack: Stack, resource: string, resourceName: string): string =>
  stack.formatArn({ service: 'ses', resource, resourceName });

/** `a.b.example` and `b.example`; a top-level domain is nobody's identity. */
const withParents = (domain: string): string[] => {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
};

/** May send as this address, through this configuration set, and nothing else. */
export const grantSendMail = (sender: ServiceFunction, fromAddress: string, configurationSet: IConfigurationSet): void => {
  const mailbox = parseMailbox(fromAddress);
  if (mailbox === undefined)
    throw new Error(`'fromAddress' must be name@host or Name <name@host>, got ${JSON.stringify(fromAddress)}`);
  const stack = Stack.of(sender);
  sender.grantPrincipal.addToPrincipalPolicy(
    new PolicyStatement({
      actions: ['ses:SendEmail'],
      resources: [
        // Any of these may be what was verified: the address, its domain, or a domain above that.
        ...[mailbox.address, ...withParents(mailbox.domain)].map((identity) => sesArn(stack, 'identity', identity)),
        sesArn(stack, 'configuration-set', configurationSet.configurationSetName),
      ],
      conditions: { StringEqualsIgnoreCase: { 'ses:FromAddress': mailbox.address } },
    }),
  );
};

/** May ask what the account is allowed to send. */
export const grantReadQuota = (grantee: ServiceFunction): Grant => {
  Validations.of(grantee).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'ses:GetAccount is about the account as a whole and knows no narrower resource.',
  });
  return Grant.addToPrincipal({ grantee, actions: ['ses:GetAccount'], resourceArns: ['*'] });
};

/** May read the templates of our scenarios. */
export const grantReadTemplates = (grantee: ServiceFunction, prefix: string): Grant =>
  Grant.addToPrincipal({
    grantee,
    actions: ['ses:GetEmailTemplate'],
    resourceArns: [sesArn(Stack.of(grantee), 'template', `${prefix}*`)],
  });
