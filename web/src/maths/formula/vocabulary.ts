/** The words of a formula: names and functions, each with what it means. */

import { choose } from "../sets";
import { isCorrect, sum } from "../samples";

/** The kinds of samples in a group, and how many samples there are of each. */
export interface Kinds {
  readonly rewards: readonly number[];
  readonly labels: readonly number[];
  readonly counts: readonly number[];
}

/** A number for each kind of sample; a number of the whole group stands there for all kinds. */
export type Value = readonly number[];
export type Rule = (group: Kinds) => Value;

const weighted = (values: Value, { counts }: Kinds): number[] => values.map((value, i) => value * counts[i]!);
const samples = ({ counts }: Kinds): number => sum(counts);
export const all = (group: Kinds, value: number): number[] => group.counts.map(() => value);

/** How many samples of its own strategy, of those that count. */
const alike =
  (counts: (reward: number) => boolean): Rule =>
  (group) =>
    group.labels.map((own) => sum(group.counts.filter((_, i) => group.labels[i] === own && counts(group.rewards[i]!))));

export const EPSILON = 1e-6;

/** Name → what it means, and its value. */
export const NAMES: Readonly<Record<string, readonly [string, Rule]>> = {
  r: ["the reward of the sample, 0 or 1", ({ rewards }) => rewards],
  N: ["the number of samples in the group", (group) => all(group, samples(group))],
  size: ["the number of samples with the sample's strategy", alike(() => true)],
  m: ["the number of right samples with the sample's strategy", alike(isCorrect)],
  eps: ["0.000001, for a divisor that may be 0", (group) => all(group, EPSILON)],
};
/** The names that read strategies. */
export const OF_LABELS = ["size", "m"];

interface Known {
  readonly says: string;
  /** The fewest and the most arguments. */
  readonly takes: readonly [number, number];
  readonly of: (group: Kinds, ...values: Value[]) => Value;
}

const mean = (group: Kinds, x: Value): number => sum(weighted(x, group)) / samples(group);

const deviation =
  (less: number): Known["of"] =>
  (group, x) => {
    const centre = mean(group, x!);
    const squares = x!.map((value) => (value - centre) ** 2);
    return all(group, Math.sqrt(sum(weighted(squares, group)) / (samples(group) - less)));
  };

/** Over the group for one value; sample by sample for several. */
const extreme =
  (of: (...values: number[]) => number): Known["of"] =>
  (group, ...values) =>
    values.length === 1 ? all(group, of(...values[0]!)) : values[0]!.map((_, i) => of(...values.map((x) => x[i]!)));

const each =
  (of: (...values: number[]) => number): Known["of"] =>
  (_, ...values) =>
    values[0]!.map((_, i) => of(...values.map((x) => x[i]!)));

/** The k-th largest; NaN counts as larger than every number, as when NumPy sorts. */
function nth(group: Kinds, x: Value, k: Value): number[] {
  const sorted = x
    .flatMap((value, i) => new Array<number>(group.counts[i]!).fill(value))
    .sort((a, b) => (Number.isNaN(a) ? -1 : Number.isNaN(b) ? 1 : b - a));
  return k.map((place) => sorted[Math.trunc(place) - 1] ?? NaN);
}

/** Function → what it means, and what it computes. `where` is a part of the grammar. */
export const FUNCTIONS: Readonly<Record<string, Known>> = {
  mean: { says: "mean over the group", takes: [1, 1], of: (group, x) => all(group, mean(group, x!)) },
  sum: { says: "sum over the group", takes: [1, 1], of: (group, x) => all(group, sum(weighted(x!, group))) },
  std: { says: "standard deviation over the group, divided by N − 1", takes: [1, 1], of: deviation(1) },
  pstd: { says: "standard deviation over the group, divided by N", takes: [1, 1], of: deviation(0) },
  max: { says: "max(x): largest of the group; max(x, y): the larger one", takes: [1, 9], of: extreme(Math.max) },
  min: { says: "min(x): smallest of the group; min(x, y): the smaller one", takes: [1, 9], of: extreme(Math.min) },
  nth: { says: "nth(x, k): the k-th largest of the group", takes: [2, 2], of: (group, x, k) => nth(group, x!, k!) },
  centred: {
    says: "x minus its mean over the group",
    takes: [1, 1],
    of: (group, x) => {
      const centre = mean(group, x!);
      return x!.map((value) => value - centre);
    },
  },
  choose: { says: "choose(n, k): how many sets of k there are of n", takes: [2, 2], of: each(combinations) },
  abs: { says: "|x|", takes: [1, 1], of: each(Math.abs) },
  sqrt: { says: "√x", takes: [1, 1], of: each(Math.sqrt) },
  exp: { says: "eˣ", takes: [1, 1], of: each(Math.exp) },
  log: { says: "natural logarithm", takes: [1, 1], of: each(Math.log) },
};
export const WHERE = "where(condition, x, y): x where the condition holds, such as r == max(r), else y";

/** Sets of k out of n; 0 where there are none, and infinite where no number is as large. */
function combinations(n: number, k: number): number {
  if (!(n >= k && k >= 0)) return 0;
  const [all, some] = [Math.trunc(n), Math.trunc(Math.min(k, n - k))];
  return some > MOST ? Infinity : choose(all, some);
}

const MOST = 1100; // 2 ** 1100 is no number, and C(n, k) ≥ 2ᵏ for n ≥ 2k
