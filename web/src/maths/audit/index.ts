/**
 * What an advantage formula optimises, exact on every group: `setrl.theory.audit` for formulas.
 *
 * `tests/lab` runs the copied Python code of some formulas and compares every number with it.
 */

import { type Formula, FormulaError } from "../formula";
import { sum } from "../samples";
import { type Match, nearest } from "./compare";
import { type Curl, curl } from "./curl";
import type { Policy } from "./groups";
import { type Law, laws } from "./laws";
import { type Survivors, survivors } from "./leads";
import { type Paid, pay } from "./paid";
import type { Field, Setting } from "./setting";
import { type Variance, variance } from "./variance";

export { factor, holds, type Match, written } from "./compare";
export type { Law } from "./laws";
export { SUCCESS, type Survivors, TIMES } from "./leads";
export { sentences, share, WARNING } from "./text";

export interface Audit {
  readonly paid: Paid;
  /** The mean update, for the policies of the setting. */
  readonly gradient: Field;
  /** The objective whose gradient is nearest; null if the mean update is 0. */
  readonly nearest: Match | null;
  /** Why no objective at all has this gradient; null if one has. */
  readonly curl: Curl | null;
  /** Success rate → how many times as hard as the nearest gradient it pushes. */
  readonly strength: ReadonlyMap<number, number>;
  /** What it is nearest to in groups of N − 1 and N + 1, computed when it is asked for. */
  readonly otherSizes: () => ReadonlyMap<number, Match>;
  readonly variance: Variance;
  readonly laws: readonly Law[];
  readonly survivors: Survivors;
}

/** The audit of a formula, in groups of `size` samples that are right or wrong. */
export function audit(formula: Formula, size: number): Audit {
  const paid = pay(formula, size);
  const gradient = paid.setting.field(paid.credit, paid.setting.policies);
  const match = nearest(paid, gradient);
  let others: Map<number, Match> | null = null;
  return {
    paid,
    gradient,
    nearest: match,
    curl: curl(paid),
    strength: strength(paid, match),
    otherSizes: () => (others ??= otherSizes(formula, size)),
    variance: variance(paid, match),
    laws: laws(paid),
    survivors: survivors(paid),
  };
}

const RATES = [0.1, 0.5, 0.9];

/** F along κ∇J ÷ the length of κ∇J; right samples are of equal shares, and so are wrong ones. */
function strength({ setting, credit }: Paid, match: Match | null): Map<number, number> {
  const { rewards } = setting.kinds;
  const policies = RATES.map((rate) => rewards.map((reward) => ((reward ? rate : 1 - rate) * 2) / rewards.length));
  const wanted = combined(setting, match, policies);
  return new Map(
    setting.field(credit, policies).map((row, p) => {
      const near = wanted[p]!;
      return [RATES[p]!, sum(row.map((value, a) => value * near[a]!)) / sum(near.map((value) => value * value))];
    }),
  );
}

function otherSizes(formula: Formula, size: number): Map<number, Match> {
  const sizes = [size - 1, size + 1].filter((other) => other >= 2);
  return new Map(
    sizes.flatMap((other): [number, Match][] => {
      const match = nearestIn(formula, other);
      return match ? [[other, match]] : [];
    }),
  );
}

/** What a formula is nearest to in groups of another size; null if it cannot be audited there. */
function nearestIn(formula: Formula, size: number): Match | null {
  try {
    const paid = pay(formula, size);
    return nearest(paid, paid.setting.field(paid.credit, paid.setting.policies));
  } catch (error) {
    if (error instanceof FormulaError) return null;
    throw error;
  }
}

/** Σ factor·∇J of a match. */
function combined(setting: Setting, match: Match | null, policies: readonly Policy[]): Field {
  const parts = (match?.parts ?? []).map((one) => setting.gradient(one, policies));
  return policies.map((policy, p) =>
    policy.map((_, a) => sum(parts.map((values, part) => match!.factors[part]! * values[p]![a]!))),
  );
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
  const others = towards(combined(setting, nearest, policies));
  return rates.map((success, p) => ({
    success,
    own: own[p]!,
    nearest: others[p]!,
  }));
}
