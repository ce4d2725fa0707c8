/**
 * What an advantage formula optimises, exact on every group: `setrl.audit` for formulas.
 *
 * `tests/lab` runs the copied Python code of some formulas and compares every number with it.
 */

import type { Formula } from "../formula";
import { type Match, nearest } from "./compare";
import { hasCurl } from "./curl";
import { type Law, laws } from "./laws";
import { type Survivors, survivors } from "./leads";
import { type Paid, pay } from "./paid";
import type { Field } from "./setting";
import { type Variance, variance } from "./variance";

export { factor, holds, type Match, written } from "./compare";
export type { Law } from "./laws";
export { SUCCESS, type Survivors, TIMES } from "./leads";
export { sentences } from "./text";

export interface Audit {
  readonly paid: Paid;
  /** The mean update, for the policies of the setting. */
  readonly gradient: Field;
  /** The objective whose gradient is nearest; null if the mean update is 0. */
  readonly nearest: Match | null;
  /** Whether no objective at all has this gradient. */
  readonly curl: boolean;
  readonly variance: Variance;
  readonly laws: readonly Law[];
  readonly survivors: Survivors;
}

/** The audit of a formula, in groups of `size` samples that are right or wrong. */
export function audit(formula: Formula, size: number): Audit {
  const paid = pay(formula, size);
  const gradient = paid.setting.field(paid.credit, paid.setting.policies);
  const match = nearest(paid, gradient);
  return {
    paid,
    gradient,
    nearest: match,
    curl: hasCurl(paid),
    variance: variance(paid, match),
    laws: laws(paid),
    survivors: survivors(paid),
  };
}
