import { Stack, Validations } from 'aws-cdk-lib';
import { Grant, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IConfigurationSet } from 'aws-cdk-lib/aws-ses';

import { EVERYBODY, type SenderSettings } from '../config/sender-settings.ts';
import type { ServiceFunction } from './service-function.ts';

const sesArn = (stack: Stack, resource: string, resourceName: string): string =>
  stack.formatArn({ service: 'ses', resource, resourceName });

/** `a.b.example` and `b.example`; a top-level domain is nobody's identity. */
const withParents = (domain: string): string[] => {
  const labels = domain.split('.');
  return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'));
};

/** AWS's mailbox simulator: nobody reads what is sent there. */
const SIMULATOR = 'simulator.amazonses.com';

/** What may have been verified so that a recipient can be mailed from the sandbox. */
const identitiesOf = (allowed: string): string[] => {
  const domain = allowed.slice(allowed.lastIndexOf('@') + 1);
  return allowed.includes('@')
    ? [allowed, ...withParents(domain)]
    : [`*@${domain}`, domain, ...withParents(domain.replace('*.', ''))];
};

/** Some of the recipients, and the condition on SES's key that holds for them alone. */
interface RecipientGroup {
  readonly recipients: readonly string[];
  readonly conditions: Record<string, unknown>;
}

/** Addresses are compared without regard to case and domains by pattern, which are two operators: so there are two groups. */
const groupRecipients = (allowed: readonly string[]): RecipientGroup[] => {
  if (allowed.includes(EVERYBODY)) return [{ recipients: [], conditions: {} }];
  const [addresses, domains] = [true, false].map((isAddress) => allowed.filter((entry) => entry.includes('@') === isAddress));
  const group = (recipients: readonly string[], operator: string, patterns: readonly string[]): RecipientGroup => ({
    recipients,
    // Without a recipient the comparison of all of them holds, too.
    conditions: { Null: { 'ses:Recipients': 'false' }, [`ForAllValues:${operator}`]: { 'ses:Recipients': patterns } },
  });
  const patterns = [...(domains ?? []), SIMULATOR].map((domain) => `*@${domain}`);
  return [
    group(domains ?? [], 'StringLike', patterns),
    ...(addresses?.length ? [group(addresses, 'StringEqualsIgnoreCase', addresses)] : []),
  ];
};

/** May send as the addresses of the stage, to whom it may mail, through this configuration set, and nothing else. */
export const grantSendMail = (grantee: ServiceFunction, senders: SenderSettings, configurationSet: IConfigurationSet): void => {
  const stack = Stack.of(grantee);
  const from = [senders.fromAddress, ...senders.formerFromAddresses];
  for (const { recipients, conditions } of groupRecipients(senders.allowedRecipients)) {
    const identities = new Set([
      // Any of these may be what was verified: the address, its domain, or a domain above that.
      ...from.flatMap(({ address, domain }) => [address, ...withParents(domain)]),
      // In the sandbox SES asks for the right to use the identities of recipients, too.
      `*@${SIMULATOR}`,
      ...(senders.sesSandbox ? recipients.flatMap(identitiesOf) : []),
    ]);
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({
        actions: ['ses:SendEmail'],
        resources: [
          ...[...identities].map((identity) => sesArn(stack, 'identity', identity)),
          sesArn(stack, 'configuration-set', configurationSet.configurationSetName),
        ],
        conditions: {
          StringEqualsIgnoreCase: { 'ses:FromAddress': [...new Set(from.map(({ address }) => address))] },
          ...conditions,
        },
      }),
    );
    acknowledgeWildcards(grantee, [...identities]);
  }
};

const acknowledgeWildcards = (grantee: ServiceFunction, identities: readonly string[]): void => {
  for (const identity of identities.filter((each) => each.includes('*')))
    Validations.of(grantee).acknowledge({
      id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/${identity}]`,
      reason: 'These are recipients: the condition on the From address decides who mails are from.',
    });
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
