import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';

import { toWidgetEvent } from '../../../local/ops-page/widget.ts';
import type { WidgetAnswer } from '../target.ts';

const Failure = z.looseObject({ errorType: z.string().default('Error') });

/** Invokes the function of the dashboard widget as CloudWatch does. */
export const askWidget = async (client: LambdaClient, FunctionName: string): Promise<WidgetAnswer> => {
  const event = toWidgetEvent({ payload: {}, forms: {}, theme: 'light' }, new Date());
  const { FunctionError, Payload } = await client.send(new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }));
  const content: unknown = JSON.parse(Payload?.transformToString() ?? 'null');
  if (FunctionError !== undefined) {
    return { ok: false, reason: `the function failed with ${Failure.safeParse(content).data?.errorType ?? FunctionError}` };
  }
  const html = z.string().safeParse(content);
  return html.success ? { ok: true, html: html.data } : { ok: false, reason: 'the function answered something else than HTML' };
};
