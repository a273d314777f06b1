import * as z from 'zod';

import type { Dispatch } from '../../../domain/dispatch/dispatch.ts';
import { DispatchView, toDispatchView } from './dispatch-view.ts';

/** A dispatch whose state was changed, with the number of the task that carries it out. */
export const CommandView = DispatchView.extend({ task: z.int().positive() });

export const toCommandView = (dispatch: Dispatch, task: number): z.output<typeof CommandView> => ({
  ...toDispatchView(dispatch),
  task,
});
