import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';

import type { Place } from '../../adapters/html/frame.ts';
import { type Html, render } from '../../adapters/html/html.ts';
import { overviewPage } from '../../adapters/html/overview-page.ts';
import { refusalPage, storyPage } from '../../adapters/html/story-page.ts';
import { Unavailable } from '../../application/ports/accept-ports.ts';
import type { ShowOverview } from '../../application/queries/show-overview.ts';
import type { TellStory } from '../../application/queries/tell-story.ts';
import { parseWidgetEvent, type WidgetWish } from '../../contracts/widget/widget-event.ts';
import { describeError } from '../../observability/describe-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { DOCUMENTATION } from './documentation.ts';

export interface ShowOperationsHandlerDeps {
  readonly showOverview: ShowOverview;
  readonly tellStory: TellStory;
  readonly telemetry: Telemetry;
}

/** What CloudWatch shows: HTML, or Markdown. */
export type WidgetAnswer = string | { readonly markdown: string };

type Wish = Exclude<WidgetWish, { show: 'documentation' }>;

const REFUSALS: Readonly<Record<Extract<WidgetWish, { show: 'refusal' }>['of'], string>> = {
  dispatchId: 'This is not the id of a dispatch: such an id has 52 characters, letters from a to z and digits from 2 to 7.',
  applyId: 'This is not an applyId: such an id has 1 to 128 bytes and no control characters.',
  'no-dispatchId': 'Give the id of the dispatch as well: an applyId names a recipient within its dispatch.',
};

/** What the form holds, and what comes back with it. */
const formOf = (wish: Wish): Pick<Place, 'given' | 'shown'> => {
  switch (wish.show) {
    case 'overview':
      return { shown: 'overview' };
    case 'refusal':
      return { given: wish.given };
    case 'story': {
      const { dispatchId, applyIds } = wish;
      const [applyId = ''] = applyIds;
      return { given: { dispatchId, applyId }, shown: `${dispatchId} ${applyId}` };
    }
  }
};

/** A widget's event in, what it shows out. Reads only, and answers whatever happens. */
export const createHandler = ({ showOverview, tellStory, telemetry }: ShowOperationsHandlerDeps) => {
  const { logger, metrics, count } = telemetry;

  const show = async (wish: Wish, place: Place): Promise<Html> => {
    switch (wish.show) {
      case 'overview':
        return overviewPage(place, await showOverview());
      case 'refusal':
        return refusalPage(place, REFUSALS[wish.of]);
      case 'story': {
        const story = await tellStory(wish);
        if (story === 'not-found') return refusalPage(place, 'There is no dispatch with that id.');
        return storyPage(place, story);
      }
    }
  };

  return middy(async (event: unknown, { invokedFunctionArn, awsRequestId }: Context): Promise<WidgetAnswer> => {
    const { wish, theme } = parseWidgetEvent(event);
    if (wish.show === 'documentation') return { markdown: DOCUMENTATION };
    const place = { endpoint: invokedFunctionArn, theme, ...formOf(wish) };
    try {
      return render(await show(wish, place));
    } catch (error) {
      logger.error('showing failed', describeError(error));
      count('ShowFailed');
      const what = error instanceof Unavailable ? 'The table gave no answer: try again.' : 'This could not be shown.';
      return render(refusalPage(place, `${what} The function’s log has more under the request id ${awsRequestId}.`));
    }
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
