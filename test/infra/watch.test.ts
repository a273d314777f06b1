import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';
import { describe, expect, it } from 'vitest';

import { all, plain, ROOT, synthesize } from './synthesized.ts';

const { dispatch, watch } = synthesize();

const HANDLERS = join(ROOT, 'lambda/handlers');
const sources = readdirSync(HANDLERS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ts.createSourceFile(file, readFileSync(join(HANDLERS, file), 'utf8'), ts.ScriptTarget.Latest, true));

/**
 * Names that a handler can give to a metric: what it counts or adds by name, and what stands in a list of names, which are
 * written like types while signals are not.
 */
const emitted = (): Set<string> => {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /(^|\.)(count|addMetric)$/.test(node.expression.getText())) {
      const collect = (part: ts.Node): void => {
        if (ts.isStringLiteral(part)) names.add(part.text);
        ts.forEachChild(part, collect);
      };
      if (node.arguments[0] !== undefined) collect(node.arguments[0]);
    }
    if (ts.isVariableDeclaration(node) && /METRIC|^REFUSED$/.test(node.name.getText())) {
      const collect = (part: ts.Node): void => {
        if (ts.isPropertyAssignment(part) && ts.isStringLiteral(part.initializer)) names.add(part.initializer.text);
        ts.forEachChild(part, collect);
      };
      if (node.initializer !== undefined) collect(node.initializer);
    }
    ts.forEachChild(node, visit);
  };
  for (const source of sources) visit(source);
  return names;
};

const [dashboard] = all(watch, 'AWS::CloudWatch::Dashboard');
const body = plain(dashboard?.Properties['DashboardBody']);

const shown = [...body.matchAll(/\["MailDispatch","(\w+)","service","mail-dispatch"/g)].map(([, name = '']) => name);
const alarmed = all(watch, 'AWS::CloudWatch::Alarm')
  .filter(({ Properties }) => Properties['Namespace'] === 'MailDispatch')
  .map(({ Properties }) => String(Properties['MetricName']));

describe('every metric of ours', () => {
  const names = emitted();

  it.each([...new Set(alarmed)])('%s, on which an alarm hangs, is one that a function writes', (name) => {
    expect(names).toContain(name);
  });

  it.each([...new Set(shown)])('%s, which the dashboard shows, is one that a function writes', (name) => {
    expect(names).toContain(name);
  });
});

describe('the dashboard', () => {
  it('is one that CloudWatch can read', () => {
    expect(JSON.parse(body)).toMatchObject({
      widgets: expect.arrayContaining([expect.objectContaining({ type: 'metric' })]) as unknown,
    });
  });

  it.each([
    ['backlog and age', ['ApproximateNumberOfMessagesVisible', 'ApproximateAgeOfOldestMessage', 'OldestPendingSeconds']],
    ['outcomes a minute', ['MailSent', 'MailFailed', 'AttemptsExhausted']],
    ['the time from accept to sent', ['AcceptToSentSeconds', '"stat":"p50"', '"stat":"p95"', '"stat":"p99"']],
    ['lost answers', ['OutcomeUnclear', 'OutcomeConfirmed', 'UnclearResent', 'UnclearWaiting', 'OutcomeUnknown']],
    ['ends of dispatches, and who is told of them', ['DispatchCompleted', 'DispatchStopped', 'NewsPublished', 'NewsFailed']],
    ['quota and reputation', ['QuotaUsedShare', 'Reputation.BounceRate', 'Reputation.ComplaintRate']],
    ['what the widget could not show', ['ShowFailed']],
    ['the API', ['"5xx"', '"4xx"', '"Latency"', '"Count"']],
  ])('shows %s', (_, words) => {
    for (const word of words) expect(body).toContain(word);
  });

  it('shows operations by a function that may only read, anew at each refresh', () => {
    const widgets = (JSON.parse(body) as { widgets: { type: string; properties: Record<string, unknown> }[] }).widgets;
    const [widget, ...others] = widgets.filter(({ type }) => type === 'custom');

    expect(others).toEqual([]);
    expect(widget?.properties).toMatchObject({
      endpoint: expect.stringMatching(/ShowOperations/) as unknown,
      updateOn: { refresh: true, resize: false, timeRange: false },
    });
  });

  it('shows every alarm', () => {
    const widget = /"type":"alarm".*?"alarms":\[(.*?)\]/.exec(body)?.[1] ?? '';
    expect(widget.split(',')).toHaveLength(all(watch, 'AWS::CloudWatch::Alarm').length);
  });
});

describe('the saved queries', () => {
  const queries = all(watch, 'AWS::Logs::QueryDefinition').map(({ Properties }) => Properties);
  const text = (name: string) => String(queries.find((each) => each['Name'] === `mail-dispatch-prod/${name}`)?.['QueryString']);

  it('tell the story of a dispatch, of a recipient, and errors by code', () => {
    expect(text('Story of a dispatch')).toMatch(
      /fields @timestamp.*\n\| filter dispatchId = "DISPATCH_ID"\n\| sort @timestamp asc/,
    );
    expect(text('Story of a recipient')).toMatch(/filter dispatchId = "DISPATCH_ID"\n\| filter recipient = "RECIPIENT_HASH"/);
    expect(text('Errors by code')).toMatch(
      /filter level in \["WARN", "ERROR"\]\n\| stats count\(\*\) as times.* by signal, code, error/,
    );
  });

  it('look into the logs of every function', () => {
    const functions = all(dispatch, 'AWS::Lambda::Function').length;
    for (const { LogGroupNames } of queries) expect(LogGroupNames).toHaveLength(functions);
  });
});
