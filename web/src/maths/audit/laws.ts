/** What an estimator keeps to, and what it pays: the laws of `setrl.theory.audit.laws` that a formula can break. */

import { sum } from "../samples";
import { short } from "./compare";
import { creditOf, type Paid } from "./paid";
import { type Facts, ofLaw, words } from "./said";
import type { Credit } from "./setting";

export interface Law {
  /** The name for `setrl audit --require`. */
  readonly name: string;
  readonly holds: boolean;
  /** A sentence about the estimator, with the group that shows it. */
  readonly says: string;
}

export const laws = (paid: Paid): Law[] => LAWS.map((law) => law(paid));

const law = (name: string, holds: boolean, facts: Facts = {}, variant = holds ? "" : "not "): Law => ({
  name,
  holds,
  says: ofLaw(variant + name, facts),
});

/** The number of the largest value; the first of those that differ by rounding only. */
function argmax(values: readonly number[]): number {
  const most = Math.max(...values);
  return values.findIndex((value) => value >= most - 1e-9 * Math.abs(most));
}

const isZero = (values: readonly number[], { rounding }: Paid, times = 4): boolean =>
  values.every((value) => Math.abs(value) <= times * rounding);

const members = ({ setting }: Paid, s: number): number[] =>
  setting.groups.counts[s]!.flatMap((count, kind) => new Array<number>(count).fill(kind));

function show(paid: Paid, s: number): string {
  const { rewards, labels } = paid.setting.kinds;
  const kinds = members(paid, s);
  const of = (values: readonly number[]): string => kinds.map((kind) => values[kind]).join(", ");
  const facts = { rewards: of(rewards), labels: of(labels) };
  return words(paid.formula.readsLabels ? "rewards and labels" : "rewards", facts);
}

function paidTo(paid: Paid, s: number): string {
  const values = members(paid, s).map((kind) => paid.credit[s]![kind]!);
  const largest = Math.max(...values.map(Math.abs));
  const digits = largest === 0 ? 3 : Math.max(3, 2 - Math.floor(Math.log10(largest)));
  return `(${values.map((value) => short(Number(value.toFixed(digits)), 6)).join(", ")})`;
}

function finite(paid: Paid): Law {
  const which = paid.lost === null ? "" : `, such as ${show(paid, paid.lost)}`;
  return law("finite", paid.lost === null, { which });
}

function zeroSum(paid: Paid): Law {
  const { groups, size } = paid.setting;
  const sums = groups.counts.map((group, s) => sum(group.map((count, kind) => count * paid.credit[s]![kind]!)));
  const s = argmax(sums.map(Math.abs));
  return law("zero-sum", isZero(sums, paid, 4 * size), { group: show(paid, s), sum: short(sums[s]!) });
}

const silent = (name: string, reward: number, what: string) =>
  function (paid: Paid): Law {
    const { kinds, groups } = paid.setting;
    const alike = (group: readonly number[]) => group.every((count, kind) => !count || kinds.rewards[kind] === reward);
    const most = groups.counts.map((group, s) => (alike(group) ? Math.max(...paid.credit[s]!.map(Math.abs)) : 0));
    const s = argmax(most);
    return law(name, isZero(most, paid), { all: words(what), group: show(paid, s), paid: paidTo(paid, s) });
  };

function noPayForWrong(paid: Paid): Law {
  const { kinds, groups } = paid.setting;
  const wrong = groups.counts.flatMap((group, s) =>
    group.flatMap((count, kind) =>
      count && kinds.rewards[kind] === 0 ? [{ s, kind, value: paid.credit[s]![kind]! }] : [],
    ),
  );
  const name = "no-pay-for-wrong";
  const most = wrong[argmax(wrong.map(({ value }) => value))]!;
  if (most.value <= 4 * paid.rounding) return law(name, true, { sample: words("wrong") });
  const label = kinds.labels[most.kind];
  const alike = sum(groups.counts[most.s]!.filter((_, kind) => kinds.labels[kind] === label));
  const isNew = paid.formula.readsLabels && alike === 1;
  const sample = isNew ? words("new", { sample: words("wrong") }) : words("wrong");
  const shown = { group: show(paid, most.s), paid: paidTo(paid, most.s) };
  return law(name, false, { sample, most: short(most.value), ...shown });
}

// A floor in a divisor shows only if rewards are far smaller than the audited ones.
const SCALES: readonly (readonly [string, number])[] = [
  ["3", 3],
  ["1/3", 1 / 3],
  ["1,000", 1e3],
  ["1/1,000", 1e-3],
];
const SHIFTS: readonly (readonly [string, number])[] = [
  ["1", 1],
  ["−1", -1],
  ["1,000", 1e3],
];
const SAME = 1e-2; // of the largest advantage: what 1e-6 in a divisor may change in small rewards

/** Whether it pays so many times as much, if the rewards of all samples are changed. */
function after({ formula, setting, credit }: Paid, change: (reward: number) => number, times: number, close: number) {
  const again: Credit = creditOf(formula, setting, setting.kinds.rewards.map(change));
  return again.every((row, s) =>
    row.every((value, kind) => Math.abs((Number.isFinite(value) ? value : 0) - times * credit[s]![kind]!) <= close),
  );
}

const inARow = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : (names[0] ?? "");

const NEAR = [3, 1 / 3]; // scales at which an estimator of any scale pays the same, or in proportion

function anyScale(paid: Paid): Law {
  const scaled = (times: number, by: number, close: number) => after(paid, (reward) => times * reward, by, close);
  const same = NEAR.every((times) => scaled(times, 1, SAME * paid.scale));
  const linear = NEAR.every((times) => scaled(times, times, 12 * paid.rounding));
  return law("any-scale", same || linear);
}

function scaleFree(paid: Paid): Law {
  const name = "scale-free";
  const at = SCALES.findIndex(([, times]) => !after(paid, (reward) => times * reward, 1, SAME * paid.scale));
  const [text, times] = SCALES[Math.max(at, 0)]!;
  const kept = inARow(SCALES.slice(0, at < 0 ? SCALES.length : at).map(([one]) => one));
  const linear = after(paid, (reward) => times * reward, times, 12 * paid.rounding);
  const variant = at === 0 ? (linear ? "linear " : "other ") : at > 0 ? "not " : "";
  return law(name, at < 0, { kept, number: text }, variant);
}

function shiftFree(paid: Paid): Law {
  const at = SHIFTS.findIndex(([, shift]) => !after(paid, (reward) => reward + shift, 1, 12 * paid.rounding));
  const kept = inARow(SHIFTS.slice(0, at < 0 ? SHIFTS.length : at).map(([one]) => one));
  const number = SHIFTS[Math.max(at, 0)]![0];
  return law("shift-free", at < 0, { kept, number }, at === 0 ? "other " : at > 0 ? "not " : "");
}

/** Whether the other samples keep finite advantages if one reward is NaN. */
function missingRewards({ formula, setting: { size } }: Paid): Law {
  const places = Array.from({ length: size }, (_, at) => at);
  const rewards = places.map((at) => (at ? at % 2 : NaN));
  const values = formula.of({ rewards, labels: places.map((at) => at % 2), counts: places.map(() => 1) });
  return law("survives-missing", values.slice(1).every(Number.isFinite));
}

const LAWS: readonly ((paid: Paid) => Law)[] = [
  finite,
  zeroSum,
  silent("silent-if-all-wrong", 0, "all wrong"),
  silent("silent-if-all-right", 1, "all right"),
  noPayForWrong,
  anyScale,
  scaleFree,
  shiftFree,
  missingRewards,
];
