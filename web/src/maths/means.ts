/** Mean scores of the sets of a prompt, by whether they hold a sample. */

import { mean } from "./samples";
import type { Sets } from "./sets";

export interface SetMeans {
  /** u: the mean score of the sets that hold each sample. */
  readonly with: readonly number[];
  /** u − v, where v is the mean score of the sets that do not hold it; NaN at K = N. */
  readonly contrast: readonly number[];
  /** U: the mean score of all sets. */
  readonly mean: number;
  /** How many of the sets hold each sample. */
  readonly holding: readonly number[];
  /** How many sets there are. */
  readonly count: number;
  /** The variance of the scores. */
  readonly variance: number;
  /** Whether every set counted. */
  readonly exact: boolean;
}

const EPSILON = Number.EPSILON;

/** Means from the scores of listed sets; `exact` says whether these are all sets. */
export function meansOf(scores: Float64Array, sets: Sets, numSamples: number, exact: boolean): SetMeans {
  const average = centreOf(scores);
  const above = new Float64Array(numSamples);
  const holding = new Array<number>(numSamples).fill(0);
  let squares = 0;
  for (let s = 0; s < sets.count; s++) {
    const gap = scores[s]! - average;
    squares += gap * gap;
    for (let m = s * sets.size; m < (s + 1) * sets.size; m++) {
      const i = sets.members[m]!;
      above[i]! += gap;
      holding[i]!++;
    }
  }
  const ratio = (top: number, bottom: number) => (bottom > 0 ? top / bottom : NaN);
  const rise = holding.map((held, i) => ratio(above[i]!, held));
  const contrast = holding.map((held, i) => rise[i]! + ratio(above[i]!, sets.count - held));
  const size = 4 * scores.reduce((largest, score) => Math.max(largest, Math.abs(score)), 0);
  return {
    with: rise.map((value) => average + value),
    contrast: withoutRounding(contrast, size, exact),
    mean: average,
    holding,
    count: sets.count,
    variance: squares / sets.count,
    exact,
  };
}

/** The mean score; a score that all sets share is itself, to the bit. */
function centreOf(scores: Float64Array): number {
  let low = Infinity;
  let high = -Infinity;
  let total = 0;
  for (const score of scores) {
    low = Math.min(low, score);
    high = Math.max(high, score);
    total += score;
  }
  const flat = high - low <= 4 * EPSILON * Math.max(Math.abs(low), Math.abs(high));
  return flat ? low : total / scores.length;
}

/**
 * u − v, or exactly 0 for a prompt where they cannot be told from rounding errors.
 *
 * The u − v of all sets sum to 0: where all have one sign they are errors. So they are where none is
 * larger than N·ε times the numbers that they were added up from.
 */
function withoutRounding(contrast: readonly number[], size: number, exact: boolean): number[] {
  const bound = contrast.length * EPSILON * size;
  const small = contrast.every((value) => !(Math.abs(value) > bound));
  const oneSign = contrast.every((value) => value >= 0) || contrast.every((value) => value <= 0);
  const nothing = small || (exact && oneSign);
  return contrast.map((value) => (nothing && !Number.isNaN(value) ? 0 : value));
}

/** Values less their mean; exactly 0 where all are equal. */
export function centred(values: readonly number[]): number[] {
  const average = mean(values);
  const flat = values.every((value) => value === values[0]);
  return values.map((value) => (flat ? 0 : value - average));
}
