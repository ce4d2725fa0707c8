/**
 * The objectives with which an estimator is compared: those of `setrl.theory.audit.known`, at every K ≤ N.
 *
 * Rewards are 0 or 1, so max@K is pass@K: of objectives with equal scores only the first one counts.
 */

import { sum } from "../samples";
import { type Layer, lifted, type Table } from "./groups";

/** An objective with a set size. */
export interface Known {
  /** How it is written, such as "pass@4". */
  readonly label: string;
  readonly size: number;
  /** U: the mean score of its sets in every group of n ≥ K samples. */
  readonly at: (n: number) => Float64Array;
  /** w: the mean score of the sets of K − 1 in every group of n; null for sums over several sizes. */
  readonly smaller: (n: number) => Float64Array | null;
}

/** A set by what counts: its size, how many are right, and of each strategy all and the right ones. */
interface Members {
  readonly size: number;
  readonly right: number;
  readonly strategies: number;
  readonly ofEach: readonly { readonly all: number; readonly right: number }[];
}

type Score = (members: Members) => number;

const pass: Score = ({ right }) => Number(right > 0);
const median: Score = ({ right, size }) => (2 * right === size ? 0.5 : Number(2 * right > size));
const spread: Score = ({ right, size }) => (2 * right * (size - right)) / Math.max(size * (size - 1), 1);

/** Name → score of a set, in the order in which they are compared. */
const OF_REWARDS: Readonly<Record<string, Score>> = {
  pass,
  "mean reward": ({ right, size }) => right / size,
  min: ({ right, size }) => Number(right === size),
};
const OF_LABELS: Readonly<Record<string, Score>> = {
  distinct_correct: ({ ofEach }) => ofEach.filter(({ right }) => right > 0).length,
  polychromic: ({ right, size, strategies }) => ((right / size) * strategies) / size,
  differ: ({ strategies }) => Number(strategies > 1),
  distinct: ({ strategies }) => strategies,
  distinct_share: ({ strategies, size }) => strategies / size,
  extra_share: ({ strategies, size }) => Math.max(strategies - 1, 0) / Math.max(size - 1, 1),
};
const RAREST: Score = ({ ofEach }) => Math.max(0, ...ofEach.filter(({ right }) => right > 0).map(({ all }) => 1 / all));
const MIXED: Score = ({ strategies, size }) => (strategies > 1 ? strategies : 0) / size;
const CONCAVE = [0, 0.25, 0.5, 0.75]; // α of the concave counts that are tried

/** Σ_c Σ_{j ≤ m_c} j^(α−1), where strategy c has m_c right samples. */
const concave =
  (alpha: number): Score =>
  ({ ofEach }) =>
    sum(ofEach.map(({ right }) => sum(Array.from({ length: right }, (_, j) => (j + 1) ** (alpha - 1)))));

const scores = (withLabels: boolean): Readonly<Record<string, Score>> => ({
  ...OF_REWARDS,
  ...(withLabels ? OF_LABELS : {}),
  gini_mean_difference: spread,
  median,
  ...(withLabels ? { mixed_share: MIXED, rarest_correct: RAREST } : {}),
});

/** All objectives with different scores, and more than one score, for groups of `n` samples. */
export function known(kinds: Table, layers: readonly Layer[], n: number): Known[] {
  const withLabels = new Set(kinds.labels).size > 1;
  const every = Array.from({ length: n }, (_, at) => at + 1);
  const found = Object.entries(scores(withLabels)).flatMap(([name, score]) =>
    name === "mean reward"
      ? [ofSets(name, score, 1, kinds, layers)]
      : every.map((size) => ofSets(`${name}@${size}`, score, size, kinds, layers)),
  );
  const passes = found.slice(0, n);
  const logs = every.slice(1).map((largest) => logLikelihood(passes.slice(0, largest)));
  const ofCounts = CONCAVE.map((alpha) => ofSets(`concave_counts(α=${alpha})@${n}`, concave(alpha), n, kinds, layers));
  const all = [...found, ...logs, ...(withLabels ? ofCounts : [])];
  return different(
    all.filter(({ size, at }) => varies(at(size))),
    n,
  );
}

/** The first of those that give all groups the same scores. */
function different(all: readonly Known[], n: number): Known[] {
  const seen = new Set<string>();
  return all.filter(({ at }) => {
    const rounded = Array.from(at(n), (score) => Math.round(1e9 * score)).join();
    return !seen.has(rounded) && seen.add(rounded);
  });
}

const varies = (values: Float64Array): boolean => values.some((value) => value !== values[0]);

function ofSets(label: string, score: Score, size: number, kinds: Table, layers: readonly Layer[]): Known {
  const means = (k: number) => {
    const found = new Map<number, Float64Array>();
    const of = (n: number): Float64Array => {
      const layer = layers[n]!;
      const result =
        found.get(n) ??
        (n === k
          ? Float64Array.from(layer.counts, (group) => score(membersOf(kinds, group, n)))
          : lifted(of(n - 1), layers[n - 1]!, layer));
      found.set(n, result);
      return result;
    };
    return of;
  };
  const below = size > 1 ? means(size - 1) : (n: number) => new Float64Array(layers[n]!.counts.length);
  return { label, size, at: means(size), smaller: below };
}

function membersOf({ rewards, labels }: Table, group: readonly number[], size: number): Members {
  const ofEach = [...new Set(labels)].map((label) => {
    const all = sum(group.filter((_, kind) => labels[kind] === label));
    return { all, right: sum(group.filter((_, kind) => labels[kind] === label && rewards[kind] === 1)) };
  });
  const right = sum(ofEach.map((one) => one.right));
  return { size, right, strategies: ofEach.filter(({ all }) => all > 0).length, ofEach };
}

/** Σ pass@k/k for k ≤ T: the log-likelihood of success, cut off at order T, as MaxRL. */
function logLikelihood(passes: readonly Known[]): Known {
  const at = (n: number): Float64Array => {
    const parts = passes.map((one) => one.at(n));
    return parts[0]!.map((_, s) => sum(parts.map((values, k) => values[s]! / (k + 1))));
  };
  const largest = passes.length;
  return { label: `(Σ pass@k/k for k ≤ ${largest})`, size: largest, at, smaller: () => null };
}
