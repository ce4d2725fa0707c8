/**
 * Where a polychromic advantage comes from (Set RL, Eq. 15), over all sets or the listed ones:
 *
 *     A = { E[R|y]·E[D|y] − E R·E D }  +  { Cov(R, D | y) − Cov(R, D) }
 *
 * R is the mean reward of a set and D the share of different strategies in it.
 */

import { setMeans } from "./credit";
import type { SetMeans } from "./means";
import { distinctShare, meanReward, polychromic } from "./objectives";
import type { Samples } from "./samples";
import type { Sets } from "./sets";

export interface Decomposition {
  /** E[R|y], E[D|y] and Cov(R, D | y) of each sample's sets. */
  readonly rewardWith: readonly number[];
  readonly diversityWith: readonly number[];
  readonly covarianceWith: readonly number[];
  /** E R, E D and Cov(R, D) over all sets. */
  readonly reward: number;
  readonly diversity: number;
  readonly covariance: number;
  /** The three terms of A: better sets, more varied sets, both at once. */
  readonly rewardPart: readonly number[];
  readonly diversityPart: readonly number[];
  readonly covariancePart: readonly number[];
}

export function decompose(samples: Samples, k: number, drawn: Sets | null = null): Decomposition {
  const [first, second, joint] = [meanReward, distinctShare, polychromic].map((objective) =>
    setMeans(objective, samples, k, drawn),
  ) as [SetMeans, SetMeans, SetMeans];
  const covarianceWith = joint.with.map((value, i) => value - first.with[i]! * second.with[i]!);
  const covariance = joint.mean - first.mean * second.mean;
  return {
    rewardWith: first.with,
    diversityWith: second.with,
    covarianceWith,
    reward: first.mean,
    diversity: second.mean,
    covariance,
    rewardPart: first.with.map((value, i) => (value - first.mean) * second.with[i]!),
    diversityPart: second.with.map((value) => first.mean * (value - second.mean)),
    covariancePart: covarianceWith.map((value) => value - covariance),
  };
}
