/**
 * Set objectives: what K samples are worth together.
 *
 * `score` is the definition, for any list of sets. `means` is the closed form over all sets, in O(N)
 * to O(N·C), so that a page may show groups of any size; majority votes have none here.
 */

import { type Chances, chances } from "./chances";
import { around, centred, type SetMeans } from "./means";
import { clusterSizes, DEGENERATE, isCorrect, mean, type Samples, sum } from "./samples";
import { choose, type Sets } from "./sets";

export interface Objective {
  readonly score: (samples: Samples, sets: Sets) => Float64Array;
  readonly means?: (samples: Samples, k: number) => SetMeans;
}

/** The score of every set, from a function of its members. */
function each(
  sets: Sets,
  score: (members: Uint8Array, from: number, until: number) => number,
): Float64Array {
  const scores = new Float64Array(sets.count);
  for (let s = 0; s < sets.count; s++)
    scores[s] = score(sets.members, s * sets.size, (s + 1) * sets.size);
  return scores;
}

/** f(S) = (1/K) Σ_{i∈S} rᵢ. */
export const meanReward: Objective = {
  score: ({ rewards }, sets) =>
    each(sets, (members, from, until) => {
      let total = 0;
      for (let m = from; m < until; m++) total += rewards[members[m]!]!;
      return total / sets.size;
    }),
  means: ({ rewards }, k) => {
    const n = rewards.length;
    const gaps = centred(rewards);
    const spread = sum(gaps.map((gap) => gap * gap)) / Math.max(n - 1, 1);
    const contrast = gaps.map((gap) => (gap * n) / (Math.max(n - 1, 1) * k));
    const variance = (spread / k) * (1 - k / n);
    return around(mean(rewards), contrast, k, choose(n, k), largest(contrast), variance);
  },
};

/** f(S) = max_{i∈S} rᵢ: max@K. */
export const maxReward: Objective = {
  score: ({ rewards }, sets) =>
    each(sets, (members, from, until) => {
      let best = -Infinity;
      for (let m = from; m < until; m++) best = Math.max(best, rewards[members[m]!]!);
      return best;
    }),
  means: ({ rewards }, k) => hitSum(rewards.length, k, thresholds(rewards), Math.min(...rewards)),
};

/** f(S) = 1{some member is correct}: pass@K. */
export const anyCorrect: Objective = {
  score: ({ rewards }, sets) => maxReward.score(indicators(rewards), sets),
  means: ({ rewards }, k) => {
    const means = maxReward.means!(indicators(rewards), k);
    return { ...means, variance: means.mean * (1 - means.mean) };
  },
};

/** f(S) = the number of strategies that succeed in S. */
export const distinctCorrect: Objective = {
  score: (samples, sets) => {
    const clusters = clustersOfCorrect(samples);
    return each(sets, (members, from, until) => countDistinct(clusters, members, from, until));
  },
  means: (samples, k) => {
    const clusters = clustersOfCorrect(samples);
    const groups = [...clusterSizes(clusters).keys()].map((cluster) => ({
      worth: 1,
      holds: clusters.map((own) => own === cluster),
    }));
    return hitSum(clusters.length, k, groups, 0);
  },
};

/** f(S) = mean reward of S × (number of strategies in S) / K: Poly-EPO. */
export const polychromic: Objective = {
  score: ({ rewards, clusters }, sets) => {
    const size = sets.size;
    return each(sets, (members, from, until) => {
      let total = 0;
      for (let m = from; m < until; m++) total += rewards[members[m]!]!;
      return (total / size) * (countDistinct(clusters, members, from, until) / size);
    });
  },
  means: polychromicMeans,
};

/** f(S) = (number of strategies in S) / K: the diversity of Poly-EPO. */
export const distinctShare: Objective = {
  score: ({ clusters }, sets) =>
    each(sets, (members, from, until) => countDistinct(clusters, members, from, until) / sets.size),
  means: ({ clusters }, k) => {
    const groups = [...clusterSizes(clusters).keys()].map((cluster) => ({
      worth: 1 / k,
      holds: clusters.map((own) => own === cluster),
    }));
    return hitSum(clusters.length, k, groups, 0);
  },
};

/** f(S) = the mean reward of the answers that most members give, ties shared. */
export const majority: Objective = {
  score: ({ rewards, answers }, sets) => {
    // Answers as places in arrays: a page asks for thousands of sets at every click.
    const names = [...new Set(answers)];
    const places = Int32Array.from(answers, (answer) => names.indexOf(answer));
    const counts = new Int32Array(names.length);
    const totals = new Float64Array(names.length);
    return each(sets, (members, from, until) => {
      let most = 0;
      for (let m = from; m < until; m++) {
        const i = members[m]!;
        most = Math.max(most, ++counts[places[i]!]!);
        totals[places[i]!]! += rewards[i]!;
      }
      let total = 0;
      let winners = 0;
      for (let m = from; m < until; m++) {
        const place = places[members[m]!]!;
        if (counts[place] === most) {
          total += totals[place]!;
          winners += most;
        }
        counts[place] = 0; // counted once, and ready for the next set
        totals[place] = 0;
      }
      return total / winners;
    });
  },
};

/** Name → objective, as Python's registry calls them. */
export const OBJECTIVES = {
  polychromic,
  any_correct: anyCorrect,
  max: maxReward,
  majority,
  mean: meanReward,
  distinct_correct: distinctCorrect,
} as const;

export type ObjectiveName = keyof typeof OBJECTIVES;

interface Group {
  readonly worth: number;
  readonly holds: readonly boolean[];
}

/** base + Σ_g worth_g · 1{S holds a member of g}, in closed form. */
function hitSum(n: number, k: number, groups: readonly Group[], base: number): SetMeans {
  const table = chances(n, k);
  const contrast = new Array<number>(n).fill(0);
  let average = base;
  let size = 0;
  for (const { worth, holds } of groups) {
    const members = holds.filter(Boolean).length;
    average += worth * hit(table, members, n, k);
    holds.forEach((held, i) => {
      contrast[i]! += worth * hitContrast(table, held, members, n, k);
    });
    size += worth;
  }
  return around(average, contrast, k, choose(n, k), size, null);
}

/** The chance that a set holds one of m samples, added up from positive steps. */
function hit(table: Chances, m: number, n: number, k: number): number {
  if (m > n - k) return 1;
  let total = 0;
  for (let l = 0; l < m; l++) total += (table.missedWith[l]! * k) / n;
  return total;
}

/** u − v of 1{S holds one of m samples}, for a sample that is one of them or not. */
function hitContrast(table: Chances, held: boolean, m: number, n: number, k: number): number {
  return held ? table.missedWithout[m - 1]! : (-m * table.missedWith[m]!) / (n - k);
}

/** A maximum is its smallest value plus a step at each larger one. */
function thresholds(rewards: readonly number[]): Group[] {
  const levels = [...new Set(rewards)].sort((a, b) => a - b);
  return levels.slice(1).map((level, at) => ({
    worth: level - levels[at]!,
    holds: rewards.map((reward) => reward >= level),
  }));
}

/**
 * f = (C·R(S) − Σ_c R(S)·1{S misses c}) / K², R(S) the sum of the rewards: a set that misses c has
 * the rewards of samples outside c alone, so each cluster is one closed form.
 */
function polychromicMeans({ rewards, clusters }: Samples, k: number): SetMeans {
  const n = rewards.length;
  const table = chances(n, k);
  const sizes = clusterSizes(clusters);
  const total = sum(rewards);
  let average = sizes.size * k * (total / n);
  const contrast = centred(rewards).map((gap) => (sizes.size * gap * n) / Math.max(n - 1, 1));
  let size = largest(contrast);
  for (const [cluster, m] of sizes) {
    const outside = sum(rewards.filter((_, i) => clusters[i] !== cluster));
    average -= (outside * k * table.missedWith[m]!) / n;
    for (let i = 0; i < n; i++)
      contrast[i]! -= missedContrast(table, clusters[i] === cluster, rewards[i]!, outside, m, n, k);
    size += Math.abs(outside);
  }
  const scaled = contrast.map((value) => value / (k * k));
  return around(average / (k * k), scaled, k, choose(n, k), size / (k * k), null);
}

/** u − v of R(S)·1{S misses a cluster of m samples}; `outside` is the reward of all others. */
function missedContrast(
  table: Chances,
  inside: boolean,
  reward: number,
  outside: number,
  m: number,
  n: number,
  k: number,
): number {
  if (inside) return m < n ? (-outside * table.missedWithout[m - 1]! * k) / (n - m) : 0;
  const missed = table.missedWith[m]!;
  if (n - 1 === m) return reward * missed;
  return reward * missed + ((outside - reward) / (n - 1 - m)) * missed * ((k * m) / (n - k) - 1);
}

/** The number of different strategies of a set; labels are below 32. */
function countDistinct(
  clusters: readonly number[],
  members: Uint8Array,
  from: number,
  until: number,
): number {
  let seen = 0;
  let count = 0;
  for (let m = from; m < until; m++) {
    const cluster = clusters[members[m]!]!;
    if (cluster === DEGENERATE || seen & (1 << cluster)) continue;
    seen |= 1 << cluster;
    count++;
  }
  return count;
}

function clustersOfCorrect({ rewards, clusters }: Samples): number[] {
  return clusters.map((cluster, i) => (isCorrect(rewards[i]!) ? cluster : DEGENERATE));
}

function indicators(rewards: readonly number[]): Samples {
  return { rewards: rewards.map((reward) => (isCorrect(reward) ? 1 : 0)), clusters: [], answers: [] };
}

const largest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
