import { type Instant, toIso } from '../../domain/shared/instant.ts';
import { type Html, html, type HtmlValue, json } from './html.ts';

/** What a page knows of where it is shown. */
export interface Place {
  /** The function's own address: what a click calls. */
  readonly endpoint: string;
  readonly theme: 'light' | 'dark';
  /** What the form holds. */
  readonly given?: { readonly dispatchId: string; readonly applyId: string };
  /** What the page shows: `overview`, or the ids of a story with a space between. It comes back with the form. */
  readonly shown?: string;
}

/** Colours only where they say something; all else is CloudWatch's own. */
const STYLE = html`<style>
  .mail-dispatch h3 {
    margin: 12px 0 4px;
  }
  .mail-dispatch p {
    margin: 4px 0;
  }
  .mail-dispatch table {
    border-collapse: collapse;
    margin: 4px 0;
  }
  .mail-dispatch th,
  .mail-dispatch td {
    border-bottom: 1px solid rgba(128, 128, 128, 0.4);
    padding: 3px 10px 3px 0;
    text-align: left;
    vertical-align: top;
  }
  .mail-dispatch time {
    white-space: nowrap;
  }
  .mail-dispatch code {
    overflow-wrap: anywhere;
  }
  .mail-dispatch .look-up {
    margin: 4px 0;
  }
  .mail-dispatch .look-up input {
    max-width: 100%;
  }
  .mail-dispatch.light .bad {
    color: #a3200a;
    font-weight: bold;
  }
  .mail-dispatch.dark .bad {
    color: #ff9d8a;
    font-weight: bold;
  }
</style>`;

/** A whole answer. */
export const page = ({ theme }: Place, ...content: readonly HtmlValue[]): Html =>
  html`${STYLE}
    <div class="mail-dispatch ${theme}">${content}</div>`;

/** A button that calls the function with these words; an action belongs to the element right before it. */
const button = (endpoint: string, label: string, words: Readonly<Record<string, string>>, kind = 'btn'): Html =>
  html`<a class="${kind}">${label}</a><cwdb-action action="call" endpoint="${endpoint}">${json(words)}</cwdb-action>`;

/** Leads to the story of a dispatch, or of one of its recipients. */
export const detailsButton = (
  { endpoint }: Place,
  label: string,
  ids: { readonly dispatchId: string; readonly applyId?: string },
): Html => button(endpoint, label, { show: 'story', ...ids });

export const backButton = ({ endpoint }: Place): Html =>
  html`<p>${button(endpoint, 'Back to the overview', { show: 'overview' })}</p>`;

/** The form that asks for a story; CloudWatch sends its fields along with every call. */
export const lookUpForm = ({ endpoint, given, shown }: Place): Html =>
  html`<h3>Look one up</h3>
    <form class="look-up">
      <input type="hidden" name="shown" value="${shown}" />
      <p>
        <label
          >Dispatch
          <input name="dispatchId" size="56" maxlength="100" placeholder="its id, 52 characters" value="${given?.dispatchId}"
        /></label>
      </p>
      <p>
        <label
          >Recipient
          <input name="applyId" size="40" maxlength="200" placeholder="its applyId, or nothing" value="${given?.applyId}"
        /></label>
      </p>
    </form>
    <p>${button(endpoint, 'Look up', { show: 'typed' }, 'btn btn-primary')}</p>`;

export const time = (at: Instant): Html => html`<time>${toIso(at)}</time>`;

/** A section of the runbook, by the anchor of its heading, as alarms name it. */
export const runbook = (section: string): Html => html`<code>docs/runbook.md#${section}</code>`;

export const sentence = (...parts: readonly HtmlValue[]): Html => html`<p>${parts}</p>`;

/** A sentence that somebody should see first. */
export const warning = (...parts: readonly HtmlValue[]): Html => html`<p class="bad">${parts}</p>`;

/** A table with a row for each of them. */
export const table = (heads: readonly string[], rows: readonly (readonly HtmlValue[])[]): Html =>
  html`<table>
    <tr>
      ${heads.map((head) => html`<th>${head}</th>`)}
    </tr>
    ${rows.map(
      (row) =>
        html`<tr>
          ${row.map((cell) => html`<td>${cell}</td>`)}
        </tr> `,
    )}
  </table>`;
