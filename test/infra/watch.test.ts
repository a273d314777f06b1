import { describe, expect, it } from 'vitest';

import { all, plain, synthesize } from './synthesized.ts';

const { dispatch, watch } = synthesize();

const [dashboard] = all(watch, 'AWS::CloudWatch::Dashboard');
const body = plain(dashboard?.Properties['DashboardBody']);

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
    [
      'ends of dispatches, and who is told of them',
      ['DispatchCompleted', 'DispatchStopped', 'EventsPublished', 'EventPublishFailed'],
    ],
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
