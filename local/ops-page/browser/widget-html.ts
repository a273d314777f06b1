/** The HTML as CloudWatch shows it: nothing in it can run. */
export const harmless = (html: string): DocumentFragment => {
  const template = document.createElement('template');
  template.innerHTML = html;
  for (const element of template.content.querySelectorAll('script, iframe, use')) element.remove();
  for (const element of template.content.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      if (name.startsWith('on') || /^\s*javascript:/i.test(value)) element.removeAttribute(name);
    }
  }
  return template.content;
};

const isField = (element: Element): element is HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement =>
  element instanceof HTMLInputElement || element instanceof HTMLSelectElement || element instanceof HTMLTextAreaElement;

const namedFields = (root: ParentNode) => [...root.querySelectorAll('[name]')].filter(isField);

/** What is filled in, by the fields' names. */
export const fieldsOf = (root: ParentNode): Record<string, string> =>
  Object.fromEntries(namedFields(root).map(({ name, value }) => [name, value]));

const isTyped = (field: Element): field is HTMLInputElement =>
  field instanceof HTMLInputElement && field.value !== field.defaultValue;

/** Changes what is in an element, but not what a person has typed there, nor where the cursor stands. */
export const keepTyped = (root: HTMLElement, change: () => void): void => {
  const typed = new Map(namedFields(root).flatMap((field) => (isTyped(field) ? [[field.name, field.value]] : [])));
  const focused = document.activeElement;
  const place = focused instanceof HTMLInputElement && root.contains(focused) ? focused : undefined;
  const [name, start, end] = [place?.name, place?.selectionStart ?? null, place?.selectionEnd ?? null];
  change();
  for (const field of namedFields(root)) {
    const text = typed.get(field.name);
    if (text !== undefined) field.value = text;
    if (field.name !== name || !(field instanceof HTMLInputElement)) continue;
    field.focus();
    field.setSelectionRange(start, end);
  }
};

/** The action that a click on the element sets off: the one right behind it. */
export const actionOf = (element: Element): Element | undefined => {
  const next = element.nextElementSibling;
  if (next?.localName !== 'cwdb-action') return undefined;
  return (next.getAttribute('event') ?? 'click') === 'click' ? next : undefined;
};

/** What the Enter key presses: the element itself if it has an action, and from a field the first button behind its form. */
export const buttonOf = (element: HTMLElement, root: ParentNode): HTMLElement | undefined => {
  if (actionOf(element)) return element;
  const form = element instanceof HTMLInputElement ? element.form : null;
  if (form === null) return undefined;
  const isBehind = (other: Node) => (form.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
  const button = [...root.querySelectorAll('cwdb-action')].find(isBehind)?.previousElementSibling;
  return button instanceof HTMLElement ? button : undefined;
};

/** Lets the keyboard reach what can be clicked. */
export const makeReachable = (root: ParentNode): void => {
  for (const action of root.querySelectorAll('cwdb-action')) {
    const element = action.previousElementSibling;
    if (!(element instanceof HTMLElement) || element.matches('a[href], button, input, select')) continue;
    element.tabIndex = 0;
    element.setAttribute('role', 'button');
  }
};
