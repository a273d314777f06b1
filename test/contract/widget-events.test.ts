import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { parseWidgetEvent } from '../../lambda/contracts/widget/widget-event.ts';

interface Event {
  readonly widgetContext: object;
}

/** Written after the pages of CloudWatch's manual on custom widgets, with fields of ours in forms and clicks. */
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded/widget-events.json'), 'utf8')) as {
  readonly first: Event;
  readonly describe: object;
  readonly typed: object;
  readonly clicked: object;
};

const { widgetContext } = recorded.first;
const withForm = { widgetContext: { ...widgetContext, forms: { all: recorded.typed } } };
const dispatchId = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';

describe('an event of CloudWatch', () => {
  it('that shows the dashboard asks for the overview', () => {
    expect(parseWidgetEvent(recorded.first)).toEqual({ query: { show: 'overview' }, theme: 'light' });
  });

  it('that describes the widget asks for its documentation', () => {
    expect(parseWidgetEvent(recorded.describe).query).toEqual({ show: 'documentation' });
    expect(parseWidgetEvent({ ...recorded.describe, ...recorded.first }).query).toEqual({ show: 'documentation' });
  });

  it('that follows a click with a filled form asks for what was typed', () => {
    expect(parseWidgetEvent(withForm).query).toEqual({ show: 'story', dispatchId, applyIds: ['a-1'] });
  });

  it('that follows a click with words of its own asks for those', () => {
    expect(parseWidgetEvent({ ...recorded.clicked, ...withForm }).query).toEqual({ show: 'story', dispatchId, applyIds: [] });
  });

  it('of a widget that was made with parameters has them at the top, and asks for those at first', () => {
    const params = recorded.typed;

    expect(parseWidgetEvent({ ...params, widgetContext: { ...widgetContext, params } }).query).toEqual({
      show: 'story',
      dispatchId,
      applyIds: ['a-1'],
    });
  });
});
