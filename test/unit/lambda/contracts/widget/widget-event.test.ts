import { describe, expect, it } from 'vitest';

import { parseWidgetEvent } from '../../../../../lambda/contracts/widget/widget-event.ts';

const ID = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';
const OTHER = ID.replace('abc', 'cba');

const context = (all: unknown = {}, params: unknown = {}, theme: unknown = 'light') => ({
  widgetContext: { dashboardName: 'Mail', theme, forms: { all }, params },
});
const queryOf = (event: unknown) => parseWidgetEvent(event).query;
const details = (dispatchId: string, ...applyIds: string[]) => ({ show: 'story', dispatchId, applyIds });

describe('what a widget’s event asks for', () => {
  it.each<[string, unknown, unknown]>([
    ['is the overview at first', context(), { show: 'overview' }],
    ['is the overview when the form is empty', context({ dispatchId: '', applyId: '  ' }), { show: 'overview' }],
    ['is the documentation', { describe: true, ...context() }, { show: 'documentation' }],
    ['is the documentation, without any context', { describe: true }, { show: 'documentation' }],
    ['is a dispatch that was typed', context({ dispatchId: ` ${ID}\n` }), details(ID)],
    ['is a dispatch and a recipient that were typed', context({ dispatchId: ID, applyId: '지원-1' }), details(ID, '지원-1')],
    ['is a recipient whose id may end with a space', context({ dispatchId: ID, applyId: 'a ' }), details(ID, 'a ', 'a')],
    ['is a recipient, without the line break that came with it', context({ dispatchId: ID, applyId: 'a\n' }), details(ID, 'a')],
    ['is a recipient whose id is a number', { dispatchId: ID, applyId: 17, ...context() }, details(ID, '17')],
    ['is what was clicked, whatever is typed', { dispatchId: ID, ...context({ dispatchId: OTHER, applyId: 'a' }) }, details(ID)],
    ['is the way back, whatever is typed', { show: 'overview', ...context({ dispatchId: OTHER }) }, { show: 'overview' }],
    ['is what was typed, rather than the widget’s own', context({ dispatchId: ID }, { dispatchId: OTHER }), details(ID)],
    ['is the widget’s own, when nothing is typed', context({}, { dispatchId: ID, applyId: 'a' }), details(ID, 'a')],
    ['is the overview, when nothing else can be understood', null, { show: 'overview' }],
    ['is the overview of a context without forms', { widgetContext: {} }, { show: 'overview' }],
    [
      'is the overview when forms and parameters are none',
      { widgetContext: { forms: 7, params: 'x', theme: 1 } },
      { show: 'overview' },
    ],
  ])('%s', (_, event, query) => {
    expect(queryOf(event)).toEqual(query);
  });

  it.each<[string, unknown, string]>([
    ['too short', { dispatchId: ID.slice(1) }, 'dispatchId'],
    ['too long', { dispatchId: `${ID}a` }, 'dispatchId'],
    ['of other characters', { dispatchId: ID.toUpperCase() }, 'dispatchId'],
    ['a tag', { dispatchId: '<img src=x onerror=alert(1)>' }, 'dispatchId'],
    ['no text', { dispatchId: { a: 1 } }, 'dispatchId'],
    ['of a recipient that is too long', { dispatchId: ID, applyId: '가'.repeat(43) }, 'applyId'],
    ['of a recipient with a control character', { dispatchId: ID, applyId: 'a\u0000b' }, 'applyId'],
    ['of a recipient with half of a pair', { dispatchId: ID, applyId: 'a\ud800' }, 'applyId'],
    ['of a recipient alone', { applyId: 'a-1' }, 'no-dispatchId'],
  ])('is refused for an id that is %s', (_, ids, of) => {
    expect(queryOf(context(ids))).toMatchObject({ show: 'refusal', of });
    expect(queryOf({ ...(ids as object), ...context() })).toMatchObject({ show: 'refusal', of });
  });

  it('is refused together with what was given, no longer than a field is', () => {
    expect(queryOf(context({ dispatchId: ` ${'x'.repeat(300)}`, applyId: '<img>' }))).toEqual({
      show: 'refusal',
      of: 'dispatchId',
      given: { dispatchId: 'x'.repeat(200), applyId: '<img>' },
    });
  });

  describe('of a widget that was made with parameters, which come at the top as well', () => {
    const params = { dispatchId: ID, applyId: 'a' };
    const event = (all: unknown, clicked: object = {}) => ({ ...params, ...clicked, ...context(all, params) });

    it.each<[string, unknown, unknown]>([
      ['those, at first', event({}), details(ID, 'a')],
      ['what was typed, when the form’s button was clicked', event({ dispatchId: OTHER }, { show: 'typed' }), details(OTHER)],
      ['what was typed, when only the form comes along', event({ dispatchId: OTHER }), details(OTHER)],
      ['the overview, when an empty form was sent', event({ shown: `${ID} a` }, { show: 'typed' }), { show: 'overview' }],
      [
        'the whole dispatch, when that was clicked',
        { show: 'story', dispatchId: ID, ...context(params, { dispatchId: ID }) },
        details(ID),
      ],
      ['another dispatch that was clicked, whatever is shown', { dispatchId: OTHER, ...context({}, params) }, details(OTHER)],
    ])('is %s', (_, given, query) => {
      expect(queryOf(given)).toEqual(query);
    });
  });

  describe('when the dashboard brings itself up to date', () => {
    const typed = { dispatchId: 'half an i', applyId: 'x' };

    it.each<[string, string, unknown]>([
      ['the overview', 'overview', { show: 'overview' }],
      ['a dispatch', `${OTHER} `, details(OTHER)],
      ['a recipient whose id has spaces', `${OTHER} a b`, details(OTHER, 'a b')],
    ])('is %s once more, whatever is half typed', (_, shown, query) => {
      const params = { dispatchId: ID };

      expect(queryOf(context({ ...typed, shown }))).toEqual(query);
      expect(queryOf({ ...params, ...context({ ...typed, shown }, params) })).toEqual(query);
    });
  });

  it('comes with the dashboard’s colours', () => {
    expect(parseWidgetEvent(context({}, {}, 'dark')).theme).toBe('dark');
    expect(parseWidgetEvent(context({}, {}, 'pink')).theme).toBe('light');
    expect(parseWidgetEvent({}).theme).toBe('light');
  });
});
