import { widgetsOf } from './read-metrics.ts';
import { stacksOf } from './stage-templates.ts';

// Prints the widgets of the dashboards of stages with the metrics that they read: node test/infra/print-dashboards.ts prod dev
const GIVEN = { issuer: 'https://issuer.example.org/', fromAddress: 'Hiring <jobs@mail.example.org>' };

for (const stage of process.argv.slice(2)) {
  for (const { title, metrics } of widgetsOf(stacksOf(stage, GIVEN))) {
    process.stdout.write(`${title}\n`);
    for (const { identity } of metrics) process.stdout.write(`  ${identity}\n`);
  }
}
