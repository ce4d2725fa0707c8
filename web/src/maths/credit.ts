/** Objective × set size × baseline × reduction × scale × estimator → the advantage of each sample. */

import { meansOf, type SetMeans } from "./means";
import { type Objective, OBJECTIVES, type ObjectiveName } from "./objectives";
import { deviation, type Samples } from "./samples";
import { allSets, type Sets } from "./sets";

export const BASELINES = ["all_sets", "leave_one_out", "smaller_sets", "none"] as const;
export const REDUCTIONS = ["mean", "sum"] as const;
export const SCALES = ["none", "group_std", "score_std"] as const;

export type Baseline = (typeof BASELINES)[number];
export type Reduction = (typeof REDUCTIONS)[number];
export type Scale = (typeof SCALES)[number];

/** Added to a standard deviation before it divides, as GRPO's trainers do. */
export const STD_FLOOR = 1e-4;

export interface Method {
  readonly objective: ObjectiveName;
  readonly setSize: number;
  readonly baseline: Baseline;
  readonly reduction: Reduction;
  readonly scale: Scale;
}

/** The sets that are scored, of K and of K − 1 members; null where every set counts. */
export interface Drawn {
  readonly sets: Sets;
  readonly smaller: Sets | null;
}

/** What was computed of a group: the page asks for the same means in several places. */
const known = new WeakMap<Samples, Map<Objective, Map<number, SetMeans>>>();

/** Mean scores over all sets of K, or over the listed ones. */
export function setMeans(objective: Objective, samples: Samples, k: number, drawn: Sets | null): SetMeans {
  const n = samples.rewards.length;
  if (drawn) return meansOf(objective(samples, drawn), drawn, n, false);
  const ofGroup = known.get(samples) ?? new Map<Objective, Map<number, SetMeans>>();
  const ofObjective = ofGroup.get(objective) ?? new Map<number, SetMeans>();
  const sets = allSets(n, k);
  const means = ofObjective.get(k) ?? meansOf(objective(samples, sets), sets, n, true);
  known.set(samples, ofGroup.set(objective, ofObjective.set(k, means)));
  return means;
}

/** The advantages of a method, as `setrl.set_advantages` computes them. */
export function advantages(samples: Samples, method: Method, drawn: Drawn | null = null): number[] {
  const objective = OBJECTIVES[method.objective];
  const means = setMeans(objective, samples, method.setSize, drawn?.sets ?? null);
  const values = differences(samples, method, means, drawn).map((value) =>
    !means.exact && Number.isNaN(value) ? 0 : value,
  );
  const divisor = scaleOf(values, means, method.scale);
  return values.map((value, i) => (value * (method.reduction === "sum" ? means.holding[i]! : 1)) / divisor);
}

/** u less the baseline. */
function differences(samples: Samples, method: Method, means: SetMeans, drawn: Drawn | null): number[] {
  switch (method.baseline) {
    case "all_sets":
      return means.contrast.map((value, i) => value * (1 - means.holding[i]! / means.count));
    case "leave_one_out":
      return [...means.contrast];
    case "smaller_sets": {
      const w = withoutSmaller(samples, method, drawn);
      return means.with.map((u, i) => u - w[i]!);
    }
    case "none":
      return [...means.with];
  }
}

/** w: the mean score of the sets of K − 1 other samples; an empty set is worth 0. */
function withoutSmaller(samples: Samples, method: Method, drawn: Drawn | null): number[] {
  if (method.setSize === 1) return samples.rewards.map(() => 0);
  const objective = OBJECTIVES[method.objective];
  const smaller = setMeans(objective, samples, method.setSize - 1, drawn?.smaller ?? null);
  return smaller.with.map((u, i) => u - smaller.contrast[i]!);
}

function scaleOf(values: readonly number[], means: SetMeans, scale: Scale): number {
  if (scale === "none") return 1;
  if (scale === "group_std") return deviation(values) + STD_FLOOR;
  return Math.sqrt(means.variance) + STD_FLOOR;
}
