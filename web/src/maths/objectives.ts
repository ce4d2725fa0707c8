/** Set objectives: the definition of each, which scores any list of sets. */

import { DEGENERATE, isCorrect, type Samples } from "./samples";
import type { Sets } from "./sets";

/** The score of every set. */
export type Objective = (samples: Samples, sets: Sets) => Float64Array;

type Score = (members: Uint8Array, from: number, until: number) => number;

function each(sets: Sets, score: Score): Float64Array {
  const scores = new Float64Array(sets.count);
  for (let s = 0; s < sets.count; s++) scores[s] = score(sets.members, s * sets.size, (s + 1) * sets.size);
  return scores;
}

/** f(S) = (1/K) Σ_{i∈S} rᵢ. */
export const meanReward: Objective = ({ rewards }, sets) =>
  each(sets, (members, from, until) => {
    let total = 0;
    for (let m = from; m < until; m++) total += rewards[members[m]!]!;
    return total / sets.size;
  });

/** f(S) = max_{i∈S} rᵢ: max@K. */
const maxReward: Objective = ({ rewards }, sets) =>
  each(sets, (members, from, until) => {
    let best = -Infinity;
    for (let m = from; m < until; m++) best = Math.max(best, rewards[members[m]!]!);
    return best;
  });

/** f(S) = 1{some member is correct}: pass@K. */
const anyCorrect: Objective = (samples, sets) =>
  maxReward({ ...samples, rewards: samples.rewards.map((reward) => (isCorrect(reward) ? 1 : 0)) }, sets);

/** f(S) = the number of strategies that succeed in S. */
const distinctCorrect: Objective = ({ rewards, strategies }, sets) =>
  each(sets, distinct(strategies.map((strategy, i) => (isCorrect(rewards[i]!) ? strategy : DEGENERATE))));

/** f(S) = (number of strategies in S) / K: the diversity of Poly-EPO. */
export const distinctShare: Objective = ({ strategies }, sets) =>
  each(sets, distinct(strategies)).map((count) => count / sets.size);

/** f(S) = mean reward of S × (number of strategies in S) / K: Poly-EPO. */
export const polychromic: Objective = (samples, sets) => {
  const diversity = distinctShare(samples, sets);
  return meanReward(samples, sets).map((mean, s) => mean * diversity[s]!);
};

/** f(S) = the mean reward of the answers that most members give, ties shared. */
export const majority: Objective = ({ rewards, answers }, sets) => {
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

/** The number of different strategies of a set; labels are below 32. */
const distinct =
  (strategies: readonly number[]): Score =>
  (members, from, until) => {
    let seen = 0;
    let count = 0;
    for (let m = from; m < until; m++) {
      const strategy = strategies[members[m]!]!;
      if (strategy === DEGENERATE || seen & (1 << strategy)) continue;
      seen |= 1 << strategy;
      count++;
    }
    return count;
  };
