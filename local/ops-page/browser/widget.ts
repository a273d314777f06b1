import { actionOf, buttonOf, fieldsOf, harmless, keepTyped, makeReachable } from './widget-html.ts';

/** What is sent along when the function is called. */
interface Call {
  readonly endpoint?: string;
  /** The content of the action that was clicked; nothing when the page only brings itself up to date. */
  readonly payload: unknown;
}

/** What went wrong, in words. A browser that reaches nobody fails with a TypeError: the stack was stopped. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error && !(error instanceof TypeError) ? error.message : 'The local stack does not answer.';

/** Fails with the stack's own words. */
const post = async (call: Call, forms: Readonly<Record<string, string>>): Promise<string> => {
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ ...call, forms, theme });
  const response = await fetch('/ops/widget', { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
};

/** Shows the widget, and does what CloudWatch does about the actions in it. */
export const showWidget = (widget: HTMLElement, say: (text: string) => void) => {
  let html = '';
  let clicks = 0;
  let waiting = 0;

  const show = async (call: Call, change: (fill: () => void) => void): Promise<void> => {
    const mine = clicks;
    const text = await post(call, fieldsOf(widget));
    // Somebody has clicked meanwhile.
    if (mine !== clicks || text === html) return;
    html = text;
    change(() => {
      widget.replaceChildren(harmless(text));
      makeReachable(widget);
    });
  };
  const enqueueTasks = async (action: Element): Promise<void> => {
    clicks += 1;
    waiting += 1;
    html = '';
    say('');
    try {
      const text = action.textContent.trim();
      const payload: unknown = text === '' ? {} : JSON.parse(text);
      await show({ endpoint: action.getAttribute('endpoint') ?? '', payload }, (fill) => {
        fill();
      });
    } catch (error) {
      say(`That could not be shown: ${reasonOf(error)}`);
    } finally {
      waiting -= 1;
    }
  };

  widget.addEventListener('click', (event) => {
    for (let at = event.target instanceof Element ? event.target : null; at && at !== widget; at = at.parentElement) {
      const action = actionOf(at);
      if (action === undefined) continue;
      event.preventDefault();
      void enqueueTasks(action);
      return;
    }
  });
  widget.addEventListener('keydown', ({ key, target }) => {
    if (key === 'Enter' && target instanceof HTMLElement) buttonOf(target, widget)?.click();
  });
  widget.addEventListener('submit', (event) => {
    event.preventDefault();
  });
  return {
    refresh: async (): Promise<void> => {
      if (waiting > 0) return;
      await show({ payload: {} }, (fill) => {
        keepTyped(widget, fill);
      });
    },
  };
};
