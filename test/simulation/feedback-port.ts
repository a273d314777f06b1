import type { FeedbackRepository } from '../../lambda/application/ports/control.ts';
import { MOST_UNAPPLIED } from '../../lambda/domain/sending/watermark.ts';
import type { PortDeps } from './ports.ts';
import type { Process } from './scheduler.ts';
import { valueOr } from './table-access.ts';

/** How far SES's events have been applied. */
export const createFeedbackPort = (deps: PortDeps, process: () => Process): FeedbackRepository => {
  const { table, access, ledger, checks, sabotage } = deps;
  const { feedback } = table;
  /** An update that failed for want of an answer changed nothing, as far as its caller knows. */
  const update = async (what: string, effect: () => boolean): Promise<boolean> =>
    valueOr(await access.ask(process(), what, effect), false);

  return {
    async read() {
      const effect = () => {
        ledger.unappliedSeen.set(process(), new Set(ledger.unapplied));
        ledger.behindSeen.set(process(), feedback.behindAt);
        const unapplied = [...feedback.unapplied].map(([lease, sentAt]) => ({ lease, sentAt }));
        const watermark = sabotage === 'silence-always-believed' ? Infinity : feedback.watermark;
        const behindAt = sabotage === 'behind-ignored' ? undefined : feedback.behindAt;
        return { unapplied, ...(watermark !== undefined && { watermark }), ...(behindAt !== undefined && { behindAt }) };
      };
      return valueOr(await access.ask(process(), 'read feedback', effect), 'unavailable');
    },

    async addUnapplied(events) {
      const isKept = await update(`unapplied ${events.map(({ lease }) => lease ?? '').join(' ')}`, () => {
        if (feedback.unapplied.size + events.length > MOST_UNAPPLIED) return false;
        for (const { lease, sentAt } of events) {
          if (lease === undefined) continue;
          ledger.unapplied.add(lease);
          if (sabotage !== 'unapplied-forgotten') feedback.unapplied.set(lease, sentAt);
        }
        return true;
      });
      return isKept || sabotage === 'watermark-before-unapplied';
    },

    async removeUnapplied(leases) {
      await update(`applied ${leases.join(' ')}`, () => {
        for (const lease of leases) {
          feedback.unapplied.delete(lease);
          ledger.unapplied.delete(lease);
        }
        return true;
      });
    },

    recordBehind: async (at) =>
      (await update(`behind ${new Date(at).toISOString()}`, () => {
        if (sabotage !== 'behind-not-recorded') feedback.behindAt = Math.max(feedback.behindAt ?? 0, at);
        return true;
      })) || sabotage === 'behind-not-recorded',

    async moveWatermark(to) {
      await update(`watermark ${new Date(to).toISOString()}`, () => {
        if (feedback.watermark !== undefined && feedback.watermark >= to) return false;
        feedback.watermark = to;
        checks.watermarkMoved(to, process());
        return true;
      });
    },
  };
};
