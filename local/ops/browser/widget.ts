import { actionOf, buttonOf, fieldsOf, harmless, keepTyped, makeReachable } from './widget-html.ts';

/** A call of the widget's function; it is repeated to keep the page up to date. */
interface Call {
  readonly endpoint?: string;
  readonly payload: unknown;
  readonly forms: Readonly<Record<string, string>>;
}

const post = async (call: Call): Promise<string> => {
  const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/ops/widget', { method: 'POST', headers, body: JSON.stringify({ ...call, theme }) });
  if (response.ok) return response.text();
  const reason = document.createElement('p');
  reason.textContent = await response.text();
  return reason.outerHTML;
};

/** Shows the widget, and does what CloudWatch does about its actions. */
export const showWidget = (widget: HTMLElement, popup: HTMLDialogElement) => {
  let shown: Call = { payload: {}, forms: {} };
  let html = '';
  let asked = 0;

  const fill = (root: HTMLElement, text: string) => {
    root.replaceChildren(harmless(text));
    makeReachable(root);
  };
  const show = async (call: Call): Promise<void> => {
    asked += 1;
    const mine = asked;
    const isRepeat = call === shown;
    const text = await post(call);
    // A newer click was faster.
    if (mine !== asked) return;
    shown = call;
    if (isRepeat && text === html) return;
    html = text;
    if (isRepeat) {
      keepTyped(widget, () => {
        fill(widget, text);
      });
    } else fill(widget, text);
  };
  const carryOut = async (action: Element): Promise<void> => {
    const confirmation = action.getAttribute('confirmation');
    if (confirmation !== null && !confirm(confirmation)) return;
    const isPopup = action.getAttribute('display') === 'popup';
    const content = action.innerHTML;
    if (action.getAttribute('action') !== 'call') {
      fill(isPopup ? popup : widget, content);
      if (isPopup) popup.showModal();
      return;
    }
    const endpoint = action.getAttribute('endpoint') ?? '';
    const text = action.textContent.trim();
    const payload: unknown = text === '' ? {} : JSON.parse(text);
    const call = { endpoint, payload, forms: fieldsOf(widget) };
    if (!isPopup) {
      await show(call);
      return;
    }
    fill(popup, await post(call));
    popup.showModal();
  };

  const onClick = (event: Event) => {
    for (
      let at = event.target instanceof Element ? event.target : null;
      at && at !== event.currentTarget;
      at = at.parentElement
    ) {
      const action = actionOf(at);
      if (action === undefined) continue;
      event.preventDefault();
      void carryOut(action);
      return;
    }
  };
  for (const root of [widget, popup]) {
    root.addEventListener('click', onClick);
    root.addEventListener('keydown', ({ key, target }) => {
      if (key === 'Enter' && target instanceof HTMLElement) buttonOf(target, root)?.click();
    });
    root.addEventListener('submit', (event) => {
      event.preventDefault();
    });
  }
  return {
    refresh: () => show(shown),
  };
};
