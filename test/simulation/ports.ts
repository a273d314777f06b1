import type { ControlChecks } from './control-checks.ts';
import type { Dice } from './dice.ts';
import type { Ledger } from './ledger.ts';
import type { Plan } from './plan.ts';
import type { Sabotage } from './sabotage.ts';
import type { Scheduler } from './scheduler.ts';
import type { Table } from './table.ts';
import type { TableAccess } from './table-access.ts';

/** What the ports in memory work with. */
export interface PortDeps {
  readonly scheduler: Scheduler;
  readonly dice: Dice;
  readonly plan: Plan;
  readonly ledger: Ledger;
  readonly checks: ControlChecks;
  readonly table: Table;
  readonly access: TableAccess;
  readonly sabotage: Sabotage | undefined;
  /** How far SES’s clock is from the true time. */
  readonly sesSkewMs: number;
}
