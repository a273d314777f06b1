import { html, render } from '../../lambda/adapters/html/html.ts';
import { maskAddress, maskAddresses } from '../../lambda/domain/recipient/masking.ts';
import { type SendCall, TAKEN } from '../fake-ses/call-log.ts';
import type { Backlog, OpsState } from './state.ts';

const queueRow = ({ name, visible, delayed, inFlight, dead }: Backlog) =>
  html`<tr class="${dead > 0 ? 'wrong' : ''}">
    <th scope="row">${name}</th>
    <td>${visible}</td>
    <td>${delayed}</td>
    <td>${inFlight}</td>
    <td>${dead}</td>
    <td>${dead > 0 ? html`<button id="redrive-${name}" data-queue="${name}" data-dead="${dead}">Move back</button>` : ''}</td>
  </tr>`;

const describeOrder = (order: object): string =>
  Object.entries(order)
    .map(([name, value]: [string, unknown]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

/** What is wrong with the emulated SES, on purpose. */
const faultsOf = ({ account, faults, events }: OpsState['fakeSes']) => {
  const lines = [
    ...(account.SendingEnabled ? [] : ['The account may not send.']),
    ...faults.map(({ fault, ...order }) => `Calls meet ${fault}: ${describeOrder(order)}`),
    ...events.map((rule) => `Events of mails: ${describeOrder(rule)}`),
  ];
  if (lines.length === 0) return html`<p>No faults are ordered at the SES gate.</p>`;
  return html`<p>Ordered at the SES gate; DELETE /_gate/faults and /_gate/events there ends it:</p>
    <ul class="wrong">
      ${lines.map((line) => html`<li>${maskAddresses(line)}</li>`)}
    </ul>`;
};

const callRow = ({ at, recipient, outcome, messageId }: SendCall) =>
  html`<tr class="${outcome === TAKEN ? '' : 'wrong'}">
    <td>${at}</td>
    <td>${maskAddress(recipient)}</td>
    <td>${outcome}</td>
    <td>${messageId ?? ''}</td>
  </tr>`;

const heads = (...names: readonly string[]) =>
  html`<tr>
    ${names.map((name) => html`<th scope="col">${name}</th>`)}
  </tr>`;

/** Everything around the widget that changes; all values in it are escaped. */
export const stateHtml = ({ queues, fakeSes }: OpsState): string =>
  render(
    html`<section>
        <h2>The SES gate</h2>
        ${faultsOf(fakeSes)}
      </section>
      <section>
        <h2>Queues</h2>
        <table id="queues">
          <thead>
            ${heads('queue', 'waiting', 'delayed', 'in work', 'dead letters', '')}
          </thead>
          <tbody>
            ${queues.map(queueRow)}
          </tbody>
        </table>
      </section>
      <section>
        <h2>Newest calls to SES</h2>
        ${
          fakeSes.calls.length === 0
            ? html`<p>None yet.</p>`
            : html`<table id="calls">
                <thead>
                  ${heads('at', 'to', 'outcome', 'message id')}
                </thead>
                <tbody>
                  ${fakeSes.calls.map(callRow)}
                </tbody>
              </table>`
        }
      </section>`,
  );
