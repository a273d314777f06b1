import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Dashboard } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

import type { StageSettings } from '../config/stages.ts';
import { AlarmRegistry } from '../constructs/alarm-registry.ts';
import { AlarmTopics } from '../constructs/alarm-topics.ts';
import type { DispatchTable } from '../constructs/dispatch-table.ts';
import { addAccountAlarms } from '../monitoring/account-alarms.ts';
import { ServiceDashboard } from '../monitoring/dashboard.ts';
import { addMailAlarms } from '../monitoring/mail-alarms.ts';
import type { MonitoredResources } from '../monitoring/monitored-resources.ts';
import { addApiAlarms, addFunctionAlarms, addTableAlarms } from '../monitoring/platform-alarms.ts';
import { addQueueAlarms } from '../monitoring/queue-alarms.ts';
import { SavedQueries } from '../monitoring/saved-queries.ts';

export interface WatchStackProps extends StackProps {
  readonly stage: StageSettings;
  readonly table: DispatchTable;
  readonly monitored: MonitoredResources;
}

/** What people see and are told: alarms and whom they tell, the dashboard, saved queries. Mails go out without it. */
export class WatchStack extends Stack {
  readonly dashboard: Dashboard;

  constructor(scope: Construct, id: string, { stage, table, monitored, ...props }: WatchStackProps) {
    super(scope, id, props);

    // Physical names carry the stage: two of them fit into one account.
    const name = `mail-dispatch-${stage.name}`;
    const alarmTopics = new AlarmTopics(this, 'Notices', { email: stage.alarmEmail });
    const alarms = new AlarmRegistry(this, 'Alarms', alarmTopics);
    addMailAlarms(alarms, stage);
    addQueueAlarms(alarms, monitored, stage.lateSeconds);
    addFunctionAlarms(alarms, monitored);
    addTableAlarms(alarms, table);
    addApiAlarms(alarms, monitored);
    if (stage.accountAlarms) addAccountAlarms(alarms, stage);
    alarms.pageForAny('Page', {
      name: `${name}-page`,
      impact: 'Something is wrong that cannot wait until the morning.',
      runbook: 'page',
    });

    this.dashboard = new ServiceDashboard(this, 'Overview', { name, stage, monitored, alarms: alarms.all }).dashboard;
    new SavedQueries(this, 'Queries', {
      logs: monitored.functions.map(({ logs }) => logs),
      folder: name,
    });

    new CfnOutput(this, 'NoticesTopicArn', { value: alarmTopics.all.topicArn });
    new CfnOutput(this, 'PagesTopicArn', { value: alarmTopics.pages.topicArn });
    new CfnOutput(this, 'DashboardName', { value: this.dashboard.dashboardName });
    // Whoever looks at the dashboard must be allowed to invoke it.
    new CfnOutput(this, 'WidgetFunctionArn', { value: monitored.widget.lambda.functionArn });
  }
}
