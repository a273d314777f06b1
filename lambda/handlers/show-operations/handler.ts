import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { logMetrics } from '@aws-lambda-powertools/metrics/middleware';
import middy from '@middy/core';
import type { Context } from 'aws-lambda';

import { detailsPage, refusalPage } from '../../adapters/html/details-page.ts';
import type { Place } from '../../adapters/html/frame.ts';
import { type Html, render } from '../../adapters/html/html.ts';
import { overviewPage } from '../../adapters/html/overview-page.ts';
import { Unavailable } from '../../application/ports/errors.ts';
import type { ReadDetails } from '../../application/queries/read-details.ts';
import type { ShowOverview } from '../../application/queries/show-overview.ts';
import { parseWidgetEvent, type WidgetQuery } from '../../contracts/widget/widget-event.ts';
import { redactError } from '../../observability/redact-error.ts';
import type { Telemetry } from '../../observability/telemetry.ts';
import { DOCUMENTATION } from './documentation.ts';

export interface ShowOperationsHandlerDeps {
  readonly showOverview: ShowOverview;
  readonly readDetails: ReadDetails;
  readonly telemetry: Telemetry;
}

/** What CloudWatch shows: HTML, or Markdown. */
export type WidgetAnswer = string | { readonly markdown: string };

type Query = Exclude<WidgetQuery, { show: 'documentation' }>;

const REFUSALS: Readonly<Record<Extract<WidgetQuery, { show: 'refusal' }>['of'], string>> = {
  dispatchId: 'This is not the id of a dispatch: such an id has 52 characters, letters from a to z and digits from 2 to 7.',
  applyId: 'This is not an applyId: such an id has 1 to 128 bytes and no control characters.',
  'no-dispatchId': 'Give the id of the dispatch as well: an applyId names a recipient within its dispatch.',
};

/** What the form holds, and what comes back with it. */
const formOf = (query: Query): Pick<Place, 'given' | 'shown'> => {
  switch (query.show) {
    case 'overview':
      return { shown: 'overview' };
    case 'refusal':
      return { given: query.given };
    case 'story': {
      const { dispatchId, applyIds } = query;
      const [applyId = ''] = applyIds;
      return { given: { dispatchId, applyId }, shown: `${dispatchId} ${applyId}` };
    }
  }
};

/** A widget's event in, what it shows out. Reads only, and answers whatever happens. */
export const createHandler = ({ showOverview, readDetails, telemetry }: ShowOperationsHandlerDeps) => {
  const { logger, metrics, count } = telemetry;

  const show = async (query: Query, place: Place): Promise<Html> => {
    switch (query.show) {
      case 'overview':
        return overviewPage(place, await showOverview());
      case 'refusal':
        return refusalPage(place, REFUSALS[query.of]);
      case 'story': {
        const details = await readDetails(query);
        if (details === 'not-found') return refusalPage(place, 'There is no dispatch with that id.');
        return detailsPage(place, details);
      }
    }
  };

  return middy(async (event: unknown, { invokedFunctionArn, awsRequestId }: Context): Promise<WidgetAnswer> => {
    const { query, theme } = parseWidgetEvent(event);
    if (query.show === 'documentation') return { markdown: DOCUMENTATION };
    const place = { endpoint: invokedFunctionArn, theme, ...formOf(query) };
    try {
      return render(await show(query, place));
    } catch (error) {
      logger.error('showing failed', redactError(error));
      count('ShowFailed');
      const what = error instanceof Unavailable ? 'The table gave no answer: try again.' : 'This could not be shown.';
      return render(refusalPage(place, `${what} The function’s log has more under the request id ${awsRequestId}.`));
    }
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(logMetrics(metrics));
};
