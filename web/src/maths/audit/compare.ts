/** Which objective's gradient an estimator follows, as `setrl.theory.audit.compare` finds it. */

import { sum } from "../samples";
import type { Known } from "./known";
import type { Paid } from "./paid";
import { type Credit, type Field, flat, type Setting } from "./setting";

const CLOSE = 1e-5; // a distance below which a match is worth confirming
const ROUNDED = 1e-6; // of a factor: how near to a fraction it is, to be written as one
/** The largest denominators of fractions, and how near to one a factor must be. */
const FRACTIONS = [
  [12, 1e-5],
  [64, ROUNDED],
] as const;
const LARGEST_NUMERATOR = 256; // of such a fraction: near a large number some fraction always is
const LARGE = 1e6; // a factor that is never written as a fraction
export const FLOOR = 1e-4; // what a small number that is added to a divisor may change

/** A combination of objectives, and how far an estimator is from its gradient. */
export interface Match {
  readonly parts: readonly Known[];
  readonly factors: readonly number[];
  /** ‖F − Σ factor·∇J‖ / ‖F‖ over the policies; 0 if exact. */
  readonly off: number;
  readonly isExact: boolean;
}

/** Whether F = Σ factor·∇J, but for rounding and small numbers that are added to a divisor. */
export const holds = (match: Match): boolean => match.off <= FLOOR;

type Row = ArrayLike<number>;

const dot = (one: Row, other: Row): number => {
  let total = 0;
  for (let at = 0; at < one.length; at++) total += one[at]! * other[at]!;
  return total;
};
const norm = (row: Row): number => Math.sqrt(dot(row, row));

/** The objective, or the sum of two, that F is exactly; else the nearest. Null if F is 0. */
export function nearest(paid: Paid, values: Field): Match | null {
  const { setting } = paid;
  const own = contrast(setting, (m, kind) => paid.credit[setting.others.joined[m]![kind]!]![kind]!);
  if (largest(own) <= 4 * paid.rounding) return null;
  const target = flat(values);
  const length = norm(target);
  const along = setting.gradients.map((row) => dot(row, target) / norm(row) / length);
  const rounded = along.map((cosine) => Math.round(1e9 * Math.abs(cosine)));
  const best = match(paid, values, own, [rounded.indexOf(Math.max(...rounded))]);
  return holds(best) ? best : (pair(paid, values, own, along) ?? best);
}

/** The first sum of two objectives whose gradient F is, with fractions as factors. */
function pair(paid: Paid, values: Field, own: Credit, along: readonly number[]): Match | null {
  const cosines = cosinesOf(paid.setting);
  for (let left = 0; left < along.length; left++)
    for (let right = left + 1; right < along.length; right++) {
      const [a, b, c] = [along[left]!, along[right]!, cosines[left]![right]!];
      const apart = Math.max(1 - c * c, 0);
      if (apart <= 1e-6 || (a * a + b * b - 2 * a * b * c) / apart <= 1 - FLOOR ** 2) continue;
      const found = match(paid, values, own, [left, right]);
      if (holds(found) && found.factors.every(fraction)) return found;
    }
  return null;
}

const known = new WeakMap<Setting, number[][]>();

function cosinesOf(setting: Setting): number[][] {
  const found = known.get(setting);
  if (found) return found;
  const lengths = setting.gradients.map(norm);
  const cosines = setting.gradients.map((one, left) =>
    setting.gradients.map((other, right) => (left < right ? dot(one, other) / lengths[left]! / lengths[right]! : 0)),
  );
  known.set(setting, cosines);
  return cosines;
}

function match(paid: Paid, values: Field, own: Credit, chosen: readonly number[]): Match {
  const { setting } = paid;
  const target = flat(values);
  const rows = chosen.map((at) => setting.gradients[at]!);
  const factors = leastSquares(rows, target);
  const wanted = target.map((_, at) => sum(rows.map((row, part) => factors[part]! * row[at]!)));
  const parts = chosen.map((at) => setting.objectives[at]!);
  const off = norm(target.map((value, at) => value - wanted[at]!)) / norm(target);
  const exact = off < CLOSE && isExact(paid, own, parts, factors);
  return { parts, factors, off: exact ? 0 : off, isExact: exact };
}

/** Compare the advantages with all N − 1 others, which decides it for every policy. */
function isExact(
  { setting, rounding }: Paid,
  own: Credit,
  parts: readonly Known[],
  factors: readonly number[],
): boolean {
  const scores = parts.map((one) => one.at(setting.size));
  const wanted = contrast(setting, (m, kind) => {
    const group = setting.others.joined[m]![kind]!;
    return sum(factors.map((factor, part) => factor * scores[part]![group]!));
  });
  const apart = own.map((row, m) => row.map((value, kind) => value - wanted[m]![kind]!));
  return largest(apart) <= 100 * rounding;
}

/** A number of each kind beside N − 1 others, minus the mean over the kinds. */
function contrast({ others }: Setting, of: (m: number, kind: number) => number): Float64Array[] {
  return others.counts.map((group, m) => {
    const values = Float64Array.from(group, (_, kind) => of(m, kind));
    const mean = sum([...values]) / values.length;
    return values.map((value) => value - mean);
  });
}

const largest = (rows: Credit): number =>
  rows.reduce((most, row) => row.reduce((more, value) => Math.max(more, Math.abs(value)), most), 0);

/** The factors of one or two rows. */
function leastSquares(rows: readonly Row[], target: Row): number[] {
  const [one, other] = [rows[0]!, rows[1]];
  const own = dot(one, target) / dot(one, one);
  if (!other) return [own];
  const shared = dot(one, other) / dot(one, one);
  const rest = Float64Array.from(other, (value, at) => value - shared * one[at]!);
  const second = dot(rest, target) / dot(rest, rest);
  return [own - shared * second, second];
}

/** The fraction that a number is, but for rounding, as its two parts; null if it is none. */
function fraction(number: number): readonly [number, number] | null {
  for (const [most, apart] of FRACTIONS) {
    let [above, below] = [Math.round(number), 1];
    for (let one = 2; one <= most; one++) {
      const other = Math.round(number * one);
      if (Math.abs(other / one - number) < Math.abs(above / below - number)) [above, below] = [other, one];
    }
    const isShort = below === 1 || Math.abs(above) <= LARGEST_NUMERATOR;
    if (above && isShort && Math.abs(above / below - number) <= apart * Math.abs(number)) return [above, below];
  }
  return null;
}

/** By which share of its length the gradient changes if its factors are as written. */
export function rounded({ factors }: Match): number {
  const apart = factors.map((number) => {
    const [above, below] = fraction(number) ?? [number, 1];
    return Math.abs(above / below / number - 1);
  });
  const most = Math.max(...apart);
  return most > ROUNDED ? most : 0;
}

/** A factor: as a fraction or with three digits and "…"; rounded, if it is so far off. */
export function factor(number: number, off = 0): string {
  if (off || !number) return short(number, Math.max(3, 1 - Math.floor(Math.log10(off || 1))));
  const near = Math.abs(number) < LARGE ? fraction(number) : null;
  if (near) return near[1] === 1 ? `${near[0]}` : `${near[0]}/${near[1]}`;
  const isShort = Math.abs(+short(number) - number) <= ROUNDED * Math.abs(number);
  return isShort ? short(number) : `${begun(number)}…`;
}

/** The first three digits of a number, or all before the point. */
function begun(number: number): string {
  const [head, exponent] = number.toExponential(16).split("e") as [string, string];
  const [power, sign] = [+exponent, number < 0 ? "-" : ""];
  const isLong = power < -4 || power > 5;
  const digits = head.replace(/[-.]/g, "").slice(0, isLong ? 3 : Math.max(3, power + 1));
  if (isLong) return `${sign}${digits[0]}.${digits.slice(1)}e${power > 0 ? "+" : ""}${power}`;
  const all = power < 0 ? "0".repeat(-power) + digits : digits;
  const whole = Math.max(power + 1, 1);
  return sign + all.slice(0, whole) + (all.length > whole ? `.${all.slice(whole)}` : "");
}

/** A number with some digits, as Python's format :.3g writes it. */
export function short(number: number, digits = 3): string {
  if (number === 0) return "0";
  const [head, power] = number.toExponential(digits - 1).split("e") as [string, string];
  if (+power < -4 || +power >= digits) return `${+head}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  return String(Number(number.toPrecision(digits)));
}

/** Such as "2·∇pass@4" or "1/2·∇pass@1 + 1/2·∇polychromic@2". */
export function written(match: Match): string {
  const { parts, factors, off } = match;
  const terms = parts.map(({ label }, at) => [factors[at]!, label] as const);
  terms.sort(([a], [b]) => Number(a < 0) - Number(b < 0));
  return terms
    .map(([number, label]) => `${times(number, holds(match) ? 0 : off)}∇${label}`)
    .join(" + ")
    .replaceAll("+ −", "− ");
}

function times(number: number, off: number): string {
  const text = factor(number, off).replaceAll("-", "−");
  return text === "1" ? "" : text === "−1" ? "−" : `${text}·`;
}
