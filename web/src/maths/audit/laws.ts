/** What an estimator keeps to, and what it pays: the laws of `setrl.theory.audit.laws` that a formula can break. */

import { sum } from "../samples";
import { short } from "./compare";
import { creditOf, type Paid } from "./paid";
import type { Credit } from "./setting";

export interface Law {
  /** The name for `setrl audit --require`. */
  readonly name: string;
  readonly holds: boolean;
  /** A sentence about the estimator, with the group that shows it. */
  readonly says: string;
}

export const laws = (paid: Paid): Law[] => LAWS.map((law) => law(paid));

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
  const text = `rewards (${kinds.map((kind) => rewards[kind]).join(", ")})`;
  return paid.formula.readsLabels ? `${text}, labels (${kinds.map((kind) => labels[kind]).join(", ")})` : text;
}

function paidTo(paid: Paid, s: number): string {
  const values = members(paid, s).map((kind) => paid.credit[s]![kind]!);
  const largest = Math.max(...values.map(Math.abs));
  const digits = largest === 0 ? 3 : Math.max(3, 2 - Math.floor(Math.log10(largest)));
  return `(${values.map((value) => short(Number(value.toFixed(digits)), 6)).join(", ")})`;
}

function finite(paid: Paid): Law {
  if (paid.lost === null) return { name: "finite", holds: true, says: "returns finite numbers in every group" };
  const says = `returns NaN or infinite numbers in some groups, such as ${show(paid, paid.lost)}; they count as 0 below`;
  return { name: "finite", holds: false, says };
}

function zeroSum(paid: Paid): Law {
  const { groups, size } = paid.setting;
  const sums = groups.counts.map((group, s) => sum(group.map((count, kind) => count * paid.credit[s]![kind]!)));
  if (isZero(sums, paid, 4 * size)) return { name: "zero-sum", holds: true, says: "sums to 0 in every group" };
  const s = argmax(sums.map(Math.abs));
  return { name: "zero-sum", holds: false, says: `is not centred: ${show(paid, s)} sum to ${short(sums[s]!)}` };
}

const silent = (name: string, reward: number, what: string) =>
  function (paid: Paid): Law {
    const { kinds, groups } = paid.setting;
    const alike = (group: readonly number[]) => group.every((count, kind) => !count || kinds.rewards[kind] === reward);
    const most = groups.counts.map((group, s) => (alike(group) ? Math.max(...paid.credit[s]!.map(Math.abs)) : 0));
    if (isZero(most, paid)) return { name, holds: true, says: `pays nothing in groups that are ${what}` };
    const s = argmax(most);
    return { name, holds: false, says: `pays in groups that are ${what}: ${show(paid, s)} get ${paidTo(paid, s)}` };
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
  if (most.value <= 4 * paid.rounding) return { name, holds: true, says: "pays no wrong sample more than 0" };
  const label = kinds.labels[most.kind];
  const alike = sum(groups.counts[most.s]!.filter((_, kind) => kinds.labels[kind] === label));
  const what = paid.formula.readsLabels && alike === 1 ? "wrong sample whose strategy is new" : "wrong sample";
  const got = `${show(paid, most.s)} get ${paidTo(paid, most.s)}`;
  return { name, holds: false, says: `pays a ${what} ${short(most.value)}: ${got}` };
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
  names.length > 1 ? `${names.slice(0, -1).join(", ")} or ${names.at(-1)}` : names[0]!;

function scaleFree(paid: Paid): Law {
  const name = "scale-free";
  const same = (times: readonly string[]) => `pays the same if all rewards are multiplied by ${inARow(times)}`;
  const at = SCALES.findIndex(([, times]) => !after(paid, (reward) => times * reward, 1, SAME * paid.scale));
  const written = SCALES.map(([text]) => text);
  if (at < 0) return { name, holds: true, says: same(written) };
  if (at > 0) return { name, holds: false, says: `${same(written.slice(0, at))}, but not by ${written[at]}` };
  const [text, times] = SCALES[0]!;
  const linear = after(paid, (reward) => times * reward, times, 12 * paid.rounding);
  const how = linear ? `pays ${text} times as much` : "changes in its own way";
  return { name, holds: false, says: `${how} if all rewards are multiplied by ${text}` };
}

function shiftFree(paid: Paid): Law {
  const name = "shift-free";
  const same = (shifts: readonly string[]) => `pays the same if ${inARow(shifts)} is added to all rewards`;
  const at = SHIFTS.findIndex(([, shift]) => !after(paid, (reward) => reward + shift, 1, 12 * paid.rounding));
  const written = SHIFTS.map(([text]) => text);
  if (at < 0) return { name, holds: true, says: same(written) };
  const says =
    at > 0
      ? `${same(written.slice(0, at))}, but not if ${written[at]} is`
      : `pays otherwise if ${written[0]} is added to all rewards`;
  return { name, holds: false, says };
}

/** Whether the other samples keep finite advantages if one reward is NaN. */
function missingRewards({ formula, setting: { size } }: Paid): Law {
  const places = Array.from({ length: size }, (_, at) => at);
  const rewards = places.map((at) => (at ? at % 2 : NaN));
  const values = formula.of({ rewards, labels: places.map((at) => at % 2), counts: places.map(() => 1) });
  const name = "survives-missing";
  if (values.slice(1).every(Number.isFinite))
    return { name, holds: true, says: "leaves the other samples finite advantages if a reward is NaN" };
  return { name, holds: false, says: "gives the whole group NaN if one reward is NaN" };
}

const LAWS: readonly ((paid: Paid) => Law)[] = [
  finite,
  zeroSum,
  silent("silent-if-all-wrong", 0, "all wrong"),
  silent("silent-if-all-right", 1, "all right"),
  noPayForWrong,
  scaleFree,
  shiftFree,
  missingRewards,
];
