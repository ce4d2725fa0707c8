/** How noisy the update is, beside an unbiased estimator of the same gradient: `setrl.theory.audit.variance`. */

import { sum } from "../samples";
import type { Match } from "./compare";
import type { Paid } from "./paid";
import { type Credit, expected, type Setting } from "./setting";

export interface Variance {
  /** Tr Cov of Σᵢ Aᵢ·∇log π(yᵢ), for each policy. */
  readonly values: readonly number[];
  /** The unbiased credit beside it, and of which objective; null for no objective, or a sum. */
  readonly beside: { readonly credit: string; readonly of: string; readonly values: readonly number[] } | null;
  /** The mean variance ÷ the mean variance beside it; NaN without one. */
  readonly ratio: number;
}

export function variance({ setting, credit }: Paid, match: Match | null): Variance {
  const values = ofUpdate(setting, credit);
  const one = match?.parts.length === 1 ? match.parts[0]! : null;
  if (!match || !one) return { values, beside: null, ratio: NaN };
  const scale = (match.factors[0]! * one.size) / setting.size; // its factor is N/K
  const [name, rival] = unbiased(setting, one);
  const others = ofUpdate(
    setting,
    rival.map((row) => row.map((value) => scale * value)),
  );
  return { values, beside: { credit: name, of: one.label, values: others }, ratio: sum(values) / sum(others) };
}

/** u − v; for sets of all samples u − w, or u where there is no w. */
function unbiased({ layers, size, groups }: Setting, one: Match["parts"][number]): readonly [string, Credit] {
  const [all, rest] = [one.at(size), restOf(layers[size - 1]!.joined, groups.counts)];
  const of = (value: (s: number, m: number) => number): Credit =>
    groups.counts.map((group, s) => Float64Array.from(group, (count, kind) => (count ? value(s, rest[s]![kind]!) : 0)));
  if (one.size < size) {
    const without = one.at(size - 1);
    return ["u − v", of((s, m) => ((all[s]! - without[m]!) * size) / one.size)];
  }
  const smaller = one.smaller(size - 1);
  return smaller ? ["u − w", of((s, m) => all[s]! - smaller[m]!)] : ["u", of((s) => all[s]!)];
}

/** Which group of N − 1 remains without a sample of a kind. */
function restOf(joined: readonly (readonly number[])[], groups: readonly (readonly number[])[]): number[][] {
  const rest = groups.map((group) => group.map(() => -1));
  joined.forEach((row, m) => row.forEach((s, kind) => (rest[s]![kind] = m)));
  return rest;
}

/** Tr Cov of Σᵢ Aᵢ(1{yᵢ} − π). */
function ofUpdate(setting: Setting, credit: Credit): number[] {
  const { policies, groups } = setting;
  const mean = setting.field(credit, policies);
  const width = setting.kinds.rewards.length;
  const rows = groups.counts.flatMap((group, s) => {
    const totals = group.map((count, kind) => count * credit[s]![kind]!);
    const whole = sum(totals);
    return [sum(totals.map((value) => value * value)), whole * whole, ...totals.map((value) => value * whole)];
  });
  const moments = Float64Array.from(rows);
  return setting.ofGroups(policies).map((chance, p) => {
    const policy = policies[p]!;
    const [squares, whole, ...along] = expected(moments, chance, width + 2);
    const length = sum(policy.map((share) => share * share));
    const square = squares! + length * whole! - 2 * sum(policy.map((share, kind) => share * along[kind]!));
    return Math.max(square - sum(mean[p]!.map((value) => value * value)), 0);
  });
}
