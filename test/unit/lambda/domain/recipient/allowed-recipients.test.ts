import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { createIsAllowedRecipient } from '../../../../../lambda/domain/recipient/allowed-recipients.ts';

describe('a stage may mail', () => {
  const isAllowed = createIsAllowedRecipient(['kim@example.com', 'team.example', '*.sub.example', 'xn--bcher-kva.example']);

  it.each([
    ['an address of the list', 'kim@example.com'],
    ['that address in other letters', 'KIM@Example.com'],
    ['any address of a domain', 'anybody+label@team.example'],
    ['a sub-domain of a wildcard', 'a@b.sub.example'],
    ['a sub-domain of that', 'a@c.b.sub.example'],
    ['an international domain as it is stored', 'a@xn--bcher-kva.example'],
    ['a quoted local part at an allowed domain', '"a@b"@team.example'],
    ['the simulator', 'success@simulator.amazonses.com'],
    ['the simulator with a label', 'bounce+1@simulator.amazonses.com'],
  ])('%s', (_name, address) => {
    expect(isAllowed(address)).toBe(true);
  });

  it.each([
    ['another address of the same domain', 'lee@example.com'],
    ['a label after an allowed name', 'kim+1@example.com'],
    ['a sub-domain of an allowed domain', 'a@x.team.example'],
    ['the domain of a wildcard itself', 'a@sub.example'],
    ['a domain that only ends alike', 'a@notteam.example'],
    ['a domain that only ends like a wildcard', 'a@xsub.example'],
    ['a domain that only begins alike', 'a@team.example.org'],
    ['an allowed domain within the local part', '"a@team.example"@other.example'],
    ['a sub-domain of the simulator', 'a@x.simulator.amazonses.com'],
  ])('not %s', (_name, address) => {
    expect(isAllowed(address)).toBe(false);
  });

  it('the simulator alone when nobody is named', () => {
    const none = createIsAllowedRecipient([]);

    expect(none('success@simulator.amazonses.com')).toBe(true);
    expect(none('kim@example.com')).toBe(false);
  });

  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/);
  const domain = fc.tuple(label, label).map((labels) => labels.join('.'));

  it('everybody by *, whoever else is named', () => {
    fc.assert(
      fc.property(label, domain, fc.array(domain), (local, host, others) => {
        expect(createIsAllowedRecipient([...others, '*'])(`${local}@${host}`)).toBe(true);
      }),
    );
  });

  it('exactly those whose domain is named, for any list of domains', () => {
    fc.assert(
      fc.property(label, domain, fc.array(domain), (local, host, domains) => {
        expect(createIsAllowedRecipient(domains)(`${local}@${host}`)).toBe(domains.includes(host));
      }),
    );
  });
});
