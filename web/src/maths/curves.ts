/** The closed forms behind the panels: shares at the optimum, pass@k of a portfolio. */

import { passAt1 } from "./dynamics";

/** Shares at the optimum, and the level that every success must be above to get one. */
export interface WaterFilling {
  readonly shares: readonly number[];
  readonly level: number;
  readonly passAt1: number;
}

/**
 * The shares that maximise (1 − α)·mean reward + α·polychromic score of sets of two:
 *
 *     q_i = (1 − λ/s_i)₊ / α,    λ = (m − α) / Σ 1/s_i  over the m strategies that are kept
 */
export function waterFilling(success: readonly number[], alpha: number): WaterFilling {
  const order = success.map((_, a) => a).sort((a, b) => success[b]! - success[a]!);
  let inverse = 0;
  let level = 0;
  for (const [at, a] of order.entries()) {
    const next = (at + 1 - alpha) / (inverse + 1 / success[a]!);
    if (at > 0 && success[a]! <= next) break;
    inverse += 1 / success[a]!;
    level = next;
  }
  const shares = success.map((s) => Math.max(0, 1 - level / s) / alpha);
  return { shares, level, passAt1: passAt1(shares, success) };
}

/**
 * The λ above which the shaped reward r + λ·d of a wrong sample is above the mean of its group:
 *
 *     λ·d > p + λ·d̄,    p the accuracy and d̄ the mean diversity of the group
 */
export const weightNeeded = (accuracy: number, diversity: number, mean: number): number =>
  diversity > mean ? accuracy / (diversity - mean) : Number.POSITIVE_INFINITY;

/** Whether success is luck of each attempt, or a property of the problem and the strategy. */
type Chance = "attempt" | "problem";

/**
 * pass@k of a policy that uses strategy a with share π_a.
 *
 * By attempt, every sample of a is correct with chance s_a: 1 − (1 − Σ π_a s_a)^k. By problem, a works
 * always on a share s_a of the problems and never on the others, independently of the other
 * strategies: the mean of 1 − (1 − Σ_{a works} π_a)^k over which of them work, all 2^A cases.
 */
export function passAtK(shares: readonly number[], success: readonly number[], k: number, chance: Chance): number {
  if (chance === "attempt") return 1 - (1 - passAt1(shares, success)) ** k;
  const go = (a: number, probability: number, works: number): number => {
    if (probability === 0) return 0;
    if (a === shares.length) return probability * (1 - (1 - Math.min(works, 1)) ** k);
    const s = success[a]!;
    return go(a + 1, probability * s, works + shares[a]!) + go(a + 1, probability * (1 - s), works);
  };
  return go(0, 1, 0);
}
