import { type ILogGroup, QueryDefinition, QueryString } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** What a person puts in place of these before the query is run. */
const DISPATCH_ID = 'DISPATCH_ID';
const RECIPIENT_HASH = 'RECIPIENT_HASH';

const STORY = ['@timestamp', 'service', 'function_name', 'level', 'message', 'signal', 'round', 'attempt', 'code', 'detail'];

export interface SavedQueriesProps {
  readonly logs: readonly ILogGroup[];
  /** Put before the names under which the console lists them. */
  readonly folder: string;
}

/** Questions to the logs that come up again and again, ready in the console. */
export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { logs, folder }: SavedQueriesProps) {
    super(scope, id);
    const save = (queryId: string, name: string, query: ConstructorParameters<typeof QueryString>[0]): void => {
      new QueryDefinition(this, queryId, {
        queryDefinitionName: `${folder}/${name}`,
        queryString: new QueryString(query),
        logGroups: [...logs],
      });
    };
    save('DispatchDetails', 'Story of a dispatch', {
      fields: [...STORY, 'recipient'],
      filterStatements: [`dispatchId = "${DISPATCH_ID}"`],
      sort: '@timestamp asc',
      limit: 10_000,
    });
    save('RecipientDetails', 'Story of a recipient', {
      fields: STORY,
      filterStatements: [`dispatchId = "${DISPATCH_ID}"`, `recipient = "${RECIPIENT_HASH}"`],
      sort: '@timestamp asc',
      limit: 1_000,
    });
    save('ErrorsByCode', 'Errors by code', {
      filterStatements: ['level in ["WARN", "ERROR"]'],
      statsStatements: ['count(*) as times, min(@timestamp) as first, max(@timestamp) as last by signal, code, error, message'],
      sort: 'times desc',
      limit: 100,
    });
  }
}
