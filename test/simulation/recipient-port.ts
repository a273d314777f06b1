import { asClaimed, isOurs } from '../../lambda/adapters/dynamo/recipient/recipient-repository.ts';
import type {
  ClaimResult,
  RecipientRepository,
  RecipientWrite,
  StoredRecipient,
  WriteResult,
} from '../../lambda/application/ports/recipients.ts';
import type { Lease, RecipientKey } from '../../lambda/domain/recipient/recipient.ts';
import type { Instant } from '../../lambda/domain/shared/instant.ts';
import type { PortDeps } from './ports.ts';
import { patchRow, reopenRow } from './row-transactions.ts';
import type { Process } from './scheduler.ts';
import { valueOr } from './table-access.ts';

interface ClaimRequest {
  readonly key: RecipientKey;
  readonly lease: Lease;
}

/** How one statement of a batch ended. */
type Statement = StoredRecipient | 'condition-failed' | 'unanswered';

/** The recipients in the table, under the conditions of the real repository. */
export const createRecipientPort = (deps: PortDeps, process: () => Process): RecipientRepository => {
  const { scheduler, dice, plan, table, access } = deps;

  /** One statement of a batch may be throttled until the repository gives up. */
  const alone = (statement: () => Statement): Statement =>
    scheduler.now() < plan.calmAt && dice.chance(plan.rates.unanswered / 2) ? 'unanswered' : statement();

  const find = async (key: RecipientKey): Promise<StoredRecipient | undefined | 'unavailable'> =>
    valueOr(await access.ask(process(), `find ${key.applyId}`, () => table.row(key)), 'unavailable');

  return {
    find,

    async claimAll(claims, now) {
      const effect = () => claims.map((request) => alone(() => claim(deps, request, now, process())));
      const answer = await access.ask(process(), `claim ${claims.map(({ key }) => key.applyId).join(' ')}`, effect);
      const results = valueOr(
        answer,
        claims.map((): Statement => 'unanswered'),
      );
      const evaluated = await Promise.all(
        claims.map((request, i) => checkClaim(deps, find, request, results[i] ?? 'unanswered')),
      );
      for (const [i, { lease }] of claims.entries()) {
        const isOver = lease.until <= scheduler.now() + process().host.skewMs;
        const isOpen = evaluated[i]?.outcome === 'unavailable' || (evaluated[i]?.outcome === 'refused' && isOver);
        if (isOpen) cutOff(deps, lease.token, process(), true);
      }
      return evaluated;
    },

    async writeAll(writes) {
      const effect = () => writes.map((each) => alone(() => write(deps, each, process())));
      const what = writes.map(({ key, next }) => `${key.applyId} ${next.status}`).join(', ');
      // Until it is known to be written.
      for (const { token } of writes) cutOff(deps, token, process(), true);
      const answer = await access.ask(process(), `write ${what}`, effect);
      const results = valueOr(
        answer,
        writes.map((): Statement => 'unanswered'),
      );
      const evaluated = await Promise.all(writes.map((each, i) => checkWrite(deps, find, each, results[i] ?? 'unanswered')));
      for (const [i, each] of writes.entries()) {
        if (evaluated[i] === 'conflict') checkLost(deps, each, process());
        cutOff(deps, each.token, process(), evaluated[i] === 'unavailable');
      }
      return evaluated;
    },

    reopen: (key, from, next, dispatch) => reopenRow(deps, process(), key, from, next, dispatch),

    async cancel(key, now) {
      const effect = (): WriteResult => {
        const row = table.row(key);
        if (row?.recipient.status !== 'PENDING') return 'conflict';
        const { round, attemptCount } = row.recipient;
        table.change(row, { recipient: { status: 'CANCELLED', round, attemptCount, cancelledAt: now } }, 'cancel', process());
        return 'written';
      };
      return valueOr(await access.ask(process(), `cancel ${key.applyId}`, effect), 'unavailable');
    },

    applyPatch: (key, change) => patchRow(deps, process(), key, change),
  };
};

/** Whether it is open, from now on, what the worker's own claim came to. */
const cutOff = ({ ledger }: PortDeps, token: string, by: Process, isCutOff: boolean): void => {
  const claim = ledger.claims.get(token);
  if (claim?.by === by) claim.isCutOff = isCutOff;
};

const claim = ({ table, sabotage }: PortDeps, { key, lease }: ClaimRequest, now: Instant, by: Process): Statement => {
  const row = table.row(key);
  if (row === undefined) return 'condition-failed';
  const { recipient } = row;
  const isGranted = sabotage === 'claim-unconditional' || (recipient.status === 'PENDING' && recipient.nextAttemptAt <= now);
  if (!isGranted) return 'condition-failed';
  const { round, attemptCount } = recipient;
  const n = attemptCount + 1;
  return table.change(
    row,
    {
      recipient: { status: 'PROCESSING', round, attemptCount: n, lease },
      attempts: [...row.attempts, { round, n, lease: lease.token, startedAt: now }],
    },
    'claim',
    by,
  );
};

type Find = (key: RecipientKey) => Promise<StoredRecipient | undefined | 'unavailable'>;

const checkClaim = async (
  { sabotage }: PortDeps,
  find: Find,
  { key, lease }: ClaimRequest,
  result: Statement,
): Promise<ClaimResult> => {
  const found = typeof result === 'string' ? await find(key) : result;
  if (found === 'unavailable') return { outcome: 'unavailable' };
  const isRecognised = typeof result !== 'string' || sabotage !== 'own-claim-unrecognised';
  if (isRecognised && found?.recipient.status === 'PROCESSING' && found.recipient.lease.token === lease.token)
    return asClaimed(found, lease);
  return result === 'unanswered' ? { outcome: 'unavailable' } : { outcome: 'refused', found };
};

const write = ({ table, sabotage }: PortDeps, { key, token, next, attempts }: RecipientWrite, by: Process): Statement => {
  const row = table.row(key);
  if (row === undefined) return 'condition-failed';
  const { recipient } = row;
  const isGranted = sabotage === 'write-unfenced' || (recipient.status === 'PROCESSING' && recipient.lease.token === token);
  return isGranted ? table.change(row, { recipient: next, attempts }, 'write', by) : 'condition-failed';
};

const checkWrite = async ({ sabotage }: PortDeps, find: Find, own: RecipientWrite, result: Statement): Promise<WriteResult> => {
  if (result === 'unanswered') return 'unavailable';
  if (result !== 'condition-failed') return 'written';
  const read = await find(own.key);
  if (read === 'unavailable') return 'unavailable';
  const isRecognised = sabotage !== 'own-write-unrecognised';
  if (read !== undefined && isRecognised && isOurs(read, own)) return 'written';
  return 'conflict';
};

/** An answer of SES that its own caller has recorded must not count as another's. */
const checkLost = ({ ledger }: PortDeps, { token, attempts }: RecipientWrite, by: Process): void => {
  const outcome = attempts.find(({ lease }) => lease === token)?.outcome;
  const claim = ledger.claims.get(token);
  const isAnswer = outcome !== 'unsent' && outcome !== 'unclear';
  if (isAnswer && claim?.by === by && claim.outcome === outcome)
    ledger.violate(`${token}: its own record of ${outcome ?? ''} was disowned`);
};
