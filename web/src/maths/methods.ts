/** The published methods that a page compares, each one function of the samples. */

import { advantages, type Drawn, STD_FLOOR } from "./credit";
import { centred } from "./means";
import { DEGENERATE, deviation, isCorrect, type Samples, strategySizes } from "./samples";

/** (rᵢ − mean r) / std r: GRPO. */
export function grpo({ rewards }: Samples): number[] {
  const divisor = deviation(rewards) + STD_FLOOR;
  return centred(rewards).map((gap) => gap / divisor);
}

/** dᵢ = (N/nᵢ − 1) / (N − 1), nᵢ samples use the strategy of i: 1 for one that no other sample uses. */
function rarity(strategies: readonly number[]): number[] {
  const n = strategies.length;
  const sizes = strategySizes(strategies);
  return strategies.map((own) => (own === DEGENERATE ? 0 : (n / sizes.get(own)! - 1) / Math.max(n - 1, 1)));
}

/** rᵢ + λ·dᵢ less its mean: reward shaping, GRPO+DIV. */
export function shaping({ rewards, strategies }: Samples, lambda: number): number[] {
  const bonus = rarity(strategies);
  return centred(rewards.map((reward, i) => reward + lambda * bonus[i]!));
}

/** u − U of the polychromic objective: Poly-EPO. */
export const polyEpo = (samples: Samples, k: number, drawn: Drawn | null = null): number[] =>
  advantages(
    samples,
    { objective: "polychromic", setSize: k, baseline: "all_sets", reduction: "mean", scale: "none" },
    drawn,
  );

/** u − v of max@K: MaxPO. */
export const maxpo = (samples: Samples, k: number, drawn: Drawn | null = null): number[] =>
  advantages(
    samples,
    { objective: "max", setSize: k, baseline: "leave_one_out", reduction: "mean", scale: "none" },
    drawn,
  );

/** m^(α−1) for a correct sample, m the number of correct samples of its strategy; else 0. */
export function counts({ rewards, strategies }: Samples, alpha: number): number[] {
  const right = strategySizes(strategies.map((own, i) => (isCorrect(rewards[i]!) ? own : DEGENERATE)));
  return rewards.map((reward, i) =>
    isCorrect(reward) && strategies[i] !== DEGENERATE ? right.get(strategies[i]!)! ** (alpha - 1) : 0,
  );
}
