import { Stack } from 'aws-cdk-lib';
import { Grant, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConfigurationSet } from 'aws-cdk-lib/aws-ses';

import { parseMailbox } from '../mailbox.ts';
import type { ServiceFunction } from './service-function.ts';

const sesArn = (stack: Stack, resource: string, resourceName: string): string =>
  stack.formatArn({ service: 'ses', resource, resourceName });

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
        // Either may be what was verified: the address, or its whole domain.
        sesArn(stack, 'identity', mailbox.domain),
        sesArn(stack, 'identity', mailbox.address),
        sesArn(stack, 'configuration-set', configurationSet.configurationSetName),
      ],
      conditions: { StringEqualsIgnoreCase: { 'ses:FromAddress': mailbox.address } },
    }),
  );
};

/** May ask what the account is allowed to send. */
export const grantReadQuota = (grantee: ServiceFunction): Grant =>
  Grant.addToPrincipal({ grantee, actions: ['ses:GetAccount'], resourceArns: ['*'] });

/** May read the templates of our scenarios. */
export const grantReadTemplates = (grantee: ServiceFunction, prefix: string): Grant =>
  Grant.addToPrincipal({
    grantee,
    actions: ['ses:GetEmailTemplate'],
    resourceArns: [sesArn(Stack.of(grantee), 'template', `${prefix}*`)],
  });
