import { type Answer, type Api, UnexpectedAnswer } from './api.ts';
import type { Cleanup } from './cleanup.ts';
import { Accepted, DispatchNow, type Recipient, Recipients, Sending } from './views.ts';

/** Names the template of the checks, after the stage's prefix. */
export const SCENARIO = 'verify-deployment';

/** Addresses of the mailbox simulator of SES. */
export type Mailbox = 'success' | 'bounce' | 'complaint';

/** A request that the API takes. */
export interface DispatchRequest {
  readonly key: string;
  readonly body: object;
}

const FINAL = ['SENT', 'FAILED', 'UNKNOWN', 'CANCELLED'];

/** Recipients whose outcome is known. */
export const finalOf = ({ counts }: Pick<DispatchNow, 'counts'>): number =>
  FINAL.reduce((sum, status) => sum + (counts[status] ?? 0), 0);

const MOST_READ = 200;

/** The dispatches of one run: all are tests, and all recipients are addresses of the simulator. */
export const createDispatches = (api: Api, cleanup: Cleanup, runId: string) => {
  /** Cancels what is not finished; a finished dispatch answers 409. */
  const cancelLater = (id: string) => {
    cleanup.add({
      what: `the dispatch ${id}`,
      byHand: `POST /dispatches/${id}/cancel`,
      undo: async () => {
        const answer = await api.askOnce('POST', `/dispatches/${id}/cancel`, {});
        if (![202, 404, 409].includes(answer.status)) throw new UnexpectedAnswer('POST cancel', answer);
      },
    });
  };
  const remember = (answer: Answer): Answer => {
    const id = Accepted.safeParse(answer.body).data?.id;
    if (answer.status === 202 && id !== undefined) cancelLater(id);
    return answer;
  };
  const post = async ({ key, body }: DispatchRequest): Promise<Answer> =>
    remember(await api.json('POST', '/dispatches', body, { headers: { 'idempotency-key': key } }));
  /** The id of an answer that must be a 202; throws UnexpectedAnswer. */
  const idOf = (answer: Answer): string => {
    const accepted = Accepted.safeParse(answer.body);
    if (answer.status !== 202 || !accepted.success) throw new UnexpectedAnswer('POST /dispatches', answer);
    return accepted.data.id;
  };
  return {
    /** A request of so many recipients, under a key that no other request has. */
    request: (name: string, mailboxes: readonly Mailbox[]): DispatchRequest => ({
      key: `verify-${runId}-${name}`,
      body: {
        scenarioId: SCENARIO,
        recruitId: `verify-${runId}`,
        isTest: true,
        variables: { run: runId },
        recipients: mailboxes.map((mailbox, i) => ({
          applyId: `${name}-${i}`,
          email: `${mailbox}+${runId}-${name}-${i}@simulator.amazonses.com`,
          variables: { name: mailbox },
        })),
      },
    }),
    post,
    /** Posts a body as it is; the dispatch is cancelled at the end as every other. */
    postRaw: async (key: string, body: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>): Promise<Answer> =>
      remember(await api.ask('POST', '/dispatches', { body, headers: { ...headers, 'idempotency-key': key } })),
    /** Posts a request that must be accepted. @returns its id */
    accepted: async (request: DispatchRequest): Promise<string> => idOf(await post(request)),
    idOf,
    now: (id: string): Promise<DispatchNow> => api.read(`/dispatches/${id}`, DispatchNow),
    recipients: async (id: string): Promise<readonly Recipient[]> =>
      (await api.read(`/dispatches/${id}/recipients?limit=${MOST_READ}`, Recipients)).recipients,
    sending: (): Promise<Sending> => api.read('/sending', Sending, { as: 'operator' }),
  };
};

/** The dispatches of one run. */
export type Dispatches = ReturnType<typeof createDispatches>;
