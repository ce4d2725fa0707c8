/** What a formula pays in every group: the table from which the rest of an audit is computed. */

import { type Formula, FormulaError, type Kinds } from "../formula";
import { type Credit, type Setting, setting } from "./setting";

const STRATEGIES = 3; // labels, if a formula reads them
const TOLERANCE = 1e-9; // the rounding of an advantage, relative to the largest
const [SMALLEST, LARGEST] = [1e-100, 1e100]; // of the largest advantage: it is squared

export interface Paid {
  readonly formula: Formula;
  readonly setting: Setting;
  /** The advantage of each kind in each group; 0 where a group has none, or it is undefined. */
  readonly credit: Credit;
  /** The first group in which it is NaN or infinite; null if there is none. */
  readonly lost: number | null;
  /** The largest |advantage|; 1 if all are 0. */
  readonly scale: number;
  /** How large a number may be that is 0 but for rounding. */
  readonly rounding: number;
}

/**
 * The advantages in every group of `size` samples.
 *
 * Throws a `FormulaError` if they are too large, or too small, to compute with.
 */
export function pay(formula: Formula, size: number): Paid {
  const one = setting(size, formula.readsLabels ? STRATEGIES : 1);
  const given = creditOf(formula, one, one.kinds.rewards);
  const lost = given.findIndex((row) => !row.every(Number.isFinite));
  const credit = given.map((row) => row.map((value) => (Number.isFinite(value) ? value : 0)));
  const scale =
    credit.reduce((most, row) => row.reduce((more, value) => Math.max(more, Math.abs(value)), most), 0) || 1;
  if (scale > LARGEST || scale < SMALLEST)
    throw new FormulaError(
      `The largest advantage is ${scale.toExponential(0)}: it must be from ${SMALLEST} to ${LARGEST.toExponential(0)}.`,
    );
  return { formula, setting: one, credit, lost: lost < 0 ? null : lost, scale, rounding: TOLERANCE * scale };
}

/** The same if the kinds have other rewards; NaN where the formula is undefined. */
export function creditOf(formula: Formula, { kinds, groups }: Setting, rewards: readonly number[]): Float64Array[] {
  return groups.counts.map((group) => {
    const here = group.flatMap((count, kind) => (count > 0 ? [kind] : []));
    const of = (values: readonly number[]): number[] => here.map((kind) => values[kind]!);
    const members: Kinds = { rewards: of(rewards), labels: of(kinds.labels), counts: of(group) };
    const paid = formula.of(members);
    const row = new Float64Array(group.length);
    here.forEach((kind, at) => {
      row[kind] = paid[at]!;
    });
    return row;
  });
}
