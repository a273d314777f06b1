import { Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

/** Where other systems hear of dispatches that completed, were stopped or need attention, by rules of their own. */
export class DispatchEventBus extends Construct {
  readonly name: string;

  readonly #bus: EventBus;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    // A bus must have a name, and one made up from the path would be the same in every stage of an account.
    this.#bus = new EventBus(this, 'Bus', { eventBusName: Stack.of(this).stackName });
    this.name = this.#bus.eventBusName;
  }

  /** May put events on the bus. */
  grantPublish(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({ grantee, actions: ['events:PutEvents'], resourceArns: [this.#bus.eventBusArn] });
  }
}
