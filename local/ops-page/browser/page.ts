// Runs in the browser: keeps the page up to date, and moves dead letters back.
import { reasonOf, showWidget } from './widget.ts';

const REFRESH_MS = 4_000;

const find = <T extends HTMLElement>(id: string, type: new () => T): T => {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
  return found;
};

const state = find('state', HTMLElement);
const said = find('said', HTMLElement);
const lost = find('lost', HTMLElement);

const say = (text: string): void => {
  said.textContent = text;
};
const widget = showWidget(find('widget', HTMLElement), say);

let stateHtml = '';
let isPressed = false;

const refreshState = async (): Promise<void> => {
  const response = await fetch('/ops/state');
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  if (text === stateHtml) return;
  stateHtml = text;
  const focused = document.activeElement?.id ?? '';
  // Made by this machine's own stack, which has escaped every value in it.
  state.innerHTML = text;
  document.getElementById(focused)?.focus();
};

/** While somebody clicks, or marks an id to copy it, nothing is replaced. */
const isInUse = (): boolean => isPressed || getSelection()?.isCollapsed === false;

const refresh = async (): Promise<void> => {
  if (isInUse() || document.hidden) return;
  try {
    await Promise.all([refreshState(), widget.refresh()]);
    document.body.classList.remove('lost');
  } catch (error) {
    lost.textContent = `${reasonOf(error)} This page goes on asking.`;
    document.body.classList.add('lost');
  }
};

const redrive = async ({ dataset: { queue = '', dead = '' } }: HTMLElement): Promise<void> => {
  const what = dead === '1' ? 'one dead letter' : `${dead} dead letters`;
  if (!confirm(`Move ${what} of ${queue} back to the queue? What made them fail should have been put right.`)) return;
  const headers = { 'content-type': 'application/json' };
  try {
    const response = await fetch('/ops/redrive', { method: 'POST', headers, body: JSON.stringify({ queue }) });
    say(await response.text());
  } catch (error) {
    say(`Nothing was moved, as far as is known: ${reasonOf(error)}`);
  }
  await refresh();
};

document.addEventListener('pointerdown', () => {
  isPressed = true;
});
for (const end of ['pointerup', 'pointercancel']) {
  document.addEventListener(end, () => {
    isPressed = false;
  });
}
state.addEventListener('click', ({ target }) => {
  if (target instanceof HTMLElement && target.dataset['queue'] !== undefined) void redrive(target);
});

const keepRefreshing = async (): Promise<void> => {
  await refresh();
  setTimeout(() => void keepRefreshing(), REFRESH_MS);
};
void keepRefreshing();
