/**
 * What an advantage formula optimises, exact on every group: `setrl.audit` for formulas.
 *
 * `tests/lab` runs the copied Python code of some formulas and compares every number with it.
 */

import type { Formula } from "../formula";
import { sum } from "../samples";
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

/** Mean updates towards right samples, over success rates: of the formula, and of the nearest objective. */
export function along({ paid: { setting, credit }, nearest }: Audit) {
  const right = setting.kinds.rewards;
  // Each strategy is used twice as often as the next one, so that they do not count as one.
  const skewed = setting.kinds.labels.map((label) => 2 ** -label);
  const half = sum(skewed) / 2;
  const rates = Array.from({ length: 97 }, (_, at) => 0.01 + (0.98 * at) / 96);
  const policies = rates.map((rate) =>
    right.map((reward, kind) => ((reward ? rate : 1 - rate) * skewed[kind]!) / half),
  );
  const towards = (field: Field): number[] => field.map((row) => sum(row.filter((_, kind) => right[kind] === 1)));
  const own = towards(setting.field(credit, policies));
  const others = (nearest?.parts ?? []).map((one) => towards(setting.gradient(one, policies)));
  return rates.map((success, p) => ({
    success,
    own: own[p]!,
    nearest: sum(others.map((values, part) => nearest!.factors[part]! * values[p]!)),
  }));
}
