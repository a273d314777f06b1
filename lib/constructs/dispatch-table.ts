import { AttributeType, Billing, ProjectionType, StreamViewType, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';

import { removalPolicyOf } from './removal.ts';

/** A table that was restored from this one, or from one before it. No stack owns it. */
export interface RestoredTableProps {
  /** ARN of its stream, which names the table too. */
  readonly streamArn: string;
  readonly id: string;
}

/** What is asked of a table, be it owned or imported. */
interface TableInUse {
  readonly tableName: string;
  readonly tableArn: string;
  readonly tableStreamArn?: string | undefined;
  readonly tableId?: string | undefined;
}

export interface DispatchTableProps {
  /** Whether the data outlives a mistaken delete. */
  readonly retainData: boolean;

  /** Whether DynamoDB refuses to delete the table at all. */
  readonly deletionProtection: boolean;

  /**
   * Units per second that it takes at once. It is paid once, and cannot be lowered.
   *
   * @default - what a new table takes
   */
  readonly warm?: { readonly reads: number; readonly writes: number } | undefined;

  /**
   * The table to use in place of this stack's own, after a restore.
   *
   * @default - this stack's own
   */
  readonly restored?: RestoredTableProps | undefined;
}

/** Days for which a deleted or overwritten item or object can be brought back; the longest that DynamoDB offers. */
export const RECOVERY_DAYS = 35;

/** Index of the dispatches of one admin by time. */
export const BY_ADMIN_INDEX = 'by-admin';

/** Index of the dispatches that are not finished. */
export const OPEN_INDEX = 'open';

const text = (name: string) => ({ name, type: AttributeType.STRING });

/** The one table, and for each of its users the rights that it needs and no other. */
export class DispatchTable extends Construct {
  /** The table in use. */
  readonly table: TableInUse;
  /** The table that this stack owns, in use or not. */
  readonly own: TableV2;

  constructor(scope: Construct, id: string, { retainData, deletionProtection, warm, restored }: DispatchTableProps) {
    super(scope, id);
    this.own = new TableV2(this, 'Table', {
      partitionKey: text('pk'),
      sortKey: text('sk'),
      billing: Billing.onDemand(),
      ...(warm && { warmThroughput: { readUnitsPerSecond: warm.reads, writeUnitsPerSecond: warm.writes } }),
      dynamoStream: StreamViewType.NEW_AND_OLD_IMAGES,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: RECOVERY_DAYS },
      timeToLiveAttribute: 'expiresAt',
      // Only dispatch items have these keys: an index over recipients would double the price of every send.
      globalSecondaryIndexes: [
        {
          indexName: BY_ADMIN_INDEX,
          partitionKey: text('adminKey'),
          sortKey: text('createdKey'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
        {
          indexName: OPEN_INDEX,
          partitionKey: text('openKey'),
          sortKey: text('createdKey'),
          projectionType: ProjectionType.KEYS_ONLY,
        },
      ],
      deletionProtection,
      removalPolicy: removalPolicyOf(retainData),
    });
    this.table = restored === undefined ? this.own : this.#import(restored);
  }

  #import({ streamArn, id }: RestoredTableProps): TableInUse {
    const [tableArn = streamArn] = streamArn.split('/stream/');
    return TableV2.fromTableAttributes(this, 'Restored', { tableArn, tableStreamArn: streamArn, tableId: id });
  }

  /** Stays with this table: one that is restored from it has another. */
  get tableId(): string {
    const id = this.table.tableId;
    if (id === undefined) throw new Error(`${this.node.path} has no id`);
    return id;
  }

  /** May look a dispatch up and store a new one, keep copies of templates, and book reads of SES. */
  grantAccept(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem');
  }

  /** May read dispatches and their recipients. */
  grantRead(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:Query');
  }

  /** May find dispatches, by their admin or because somebody should look at them. */
  grantList(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [BY_ADMIN_INDEX, OPEN_INDEX].map((index) => `${this.table.tableArn}/index/${index}`),
    });
  }

  /** May read dispatches and their recipients, and find those that somebody should look at. */
  grantShow(grantee: IGrantable): Grant {
    return this.grantRead(grantee).combine(this.#onOpenIndex(grantee));
  }

  /** May change a dispatch as a whole together with a new task, and single recipients of it, after a look at them. */
  grantOperate(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:UpdateItem');
  }

  /** May pause and resume all sending. */
  grantPause(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:UpdateItem');
  }

  /** May turn a batch into recipients, and go through those of a dispatch to cancel or reopen them. */
  grantRunTasks(grantee: IGrantable): Grant {
    const changes = ['PartiQLInsert', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'].map((action) => `dynamodb:${action}`);
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:Query', ...changes);
  }

  /** May claim recipients, record what became of them, and reopen, pause or stop what the answers ask for. */
  grantSend(grantee: IGrantable): Grant {
    const changes = ['PartiQLUpdate', 'UpdateItem', 'ConditionCheckItem'].map((action) => `dynamodb:${action}`);
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:Query', ...changes);
  }

  /** May record at recipients what SES tells of their mails, and how far that has come. */
  grantFeedback(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:UpdateItem');
  }

  /** May walk the ledger of unclear attempts, and record at recipients what they come to. */
  grantResolve(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem');
  }

  /** May look for dispatches that are stuck, and mark or complete them. */
  grantSweep(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:Query'],
      resourceArns: [this.table.tableArn, `${this.table.tableArn}/index/${OPEN_INDEX}`],
    }).combine(this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:UpdateItem'));
  }

  /** May add to the counts of dispatches, count their rows anew, and complete or stop them. */
  grantProgress(grantee: IGrantable): Grant {
    return this.#onItems(grantee, 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:UpdateItem');
  }

  /** May follow the stream; an event source asks for the list of streams too, which knows no narrower resource. */
  grantFollow(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
      resourceArns: [this.streamArn],
    }).combine(Grant.addToPrincipal({ grantee, actions: ['dynamodb:ListStreams'], resourceArns: ['*'] }));
  }

  #onOpenIndex(grantee: IGrantable): Grant {
    const resourceArns = [`${this.table.tableArn}/index/${OPEN_INDEX}`];
    return Grant.addToPrincipal({ grantee, actions: ['dynamodb:Query'], resourceArns });
  }

  /** Address of the stream. */
  get streamArn(): string {
    const arn = this.table.tableStreamArn;
    if (arn === undefined) throw new Error(`${this.node.path} has no stream`);
    return arn;
  }

  #onItems(grantee: IGrantable, ...actions: string[]): Grant {
    return Grant.addToPrincipal({ grantee, actions, resourceArns: [this.table.tableArn] });
  }
}
