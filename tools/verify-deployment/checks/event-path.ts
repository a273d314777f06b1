import { type Check, failed, passed } from '../check.ts';
import type { EventDestination, EventSubscription } from '../target.ts';
import type { World } from '../world.ts';

type Problem = 'no-destination' | 'disabled' | 'types-missing' | 'not-subscribed' | 'not-raw';

const WANTED = ['SEND', 'DELIVERY', 'BOUNCE', 'COMPLAINT', 'REJECT', 'RENDERING_FAILURE', 'DELIVERY_DELAY'];

interface Path {
  /** Undefined: the target cannot say. */
  readonly destinations: readonly EventDestination[] | undefined;
  readonly subscription: EventSubscription | undefined;
}

/** Follows events from the configuration set to the queue. */
export const judgePath = ({ destinations, subscription }: Path) => {
  if (destinations !== undefined) {
    const enabled = destinations.filter((each) => each.enabled);
    if (destinations.length === 0) return failed('no-destination', 'the configuration set has no event destination of SNS');
    if (enabled.length === 0) return failed('disabled', 'the event destination of the configuration set is disabled');
    const missing = WANTED.filter((type) => !enabled.some(({ types }) => types.includes(type)));
    if (missing.length > 0) return failed('types-missing', `no destination publishes ${missing.join(', ')}`);
  }
  if (subscription === undefined)
    return failed('not-subscribed', 'the feedback queue is not subscribed to the topic of the events');
  if (!subscription.raw) return failed('not-raw', 'the subscription wraps each event in an envelope of SNS');
  return passed(destinations === undefined ? 'subscribed, raw' : 'destination enabled, all types; subscribed, raw');
};

const readPath = async ({ target }: World): Promise<Path> => ({
  destinations: target.destinations.has ? await target.destinations.value() : undefined,
  subscription: await target.subscription(),
});

/** SES's events have a way to the feedback queue. */
export const eventPath: Check<Problem> = {
  id: 'event-path',
  name: 'Path of SES events',
  advice: {
    'no-destination':
      'Deploy again; if the destination was removed by hand, delete and restore it with the stack. Until then no delivery, bounce or complaint is recorded.',
    disabled:
      'Enable it: aws sesv2 update-configuration-set-event-destination --configuration-set-name <output ConfigurationSetName> --event-destination-name <name> --event-destination Enabled=true,... Until then no delivery, bounce or complaint is recorded.',
    'types-missing': 'The destination was changed by hand. Deploy again, or add the types in the SES console.',
    'not-subscribed':
      'The subscription of the feedback queue was removed. Deploy again, or subscribe the queue to the topic with raw message delivery.',
    'not-raw':
      'Switch raw delivery on: aws sns set-subscription-attributes --subscription-arn <ARN> --attribute-name RawMessageDelivery --attribute-value true. Events are applied all the same, and the alarm "Raw delivery off" reports it (docs/runbook.md).',
  },
  run: async (world) => judgePath(await readPath(world)),
};
