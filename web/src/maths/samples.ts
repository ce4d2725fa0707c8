/** The samples of one prompt, the language of everything in this folder. */

export const DEGENERATE = -1;

export interface Samples {
  /** A reward for each sample, usually 0 or 1. */
  readonly rewards: readonly number[];
  /** The strategy of each sample; `DEGENERATE` is in none. */
  readonly strategies: readonly number[];
  /** The final answer of each sample, for majority votes. */
  readonly answers: readonly number[];
}

/** Whether a reward counts as correct. */
export const isCorrect = (reward: number): boolean => reward > 0.5;

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** The standard deviation with N − 1 in the divisor; with N for a single value. */
export function deviation(values: readonly number[]): number {
  const centre = mean(values);
  const squares = sum(values.map((value) => (value - centre) ** 2));
  return Math.sqrt(squares / Math.max(values.length - 1, 1));
}

/** How many samples use each strategy, without degenerate ones. */
export function strategySizes(strategies: readonly number[]): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const strategy of strategies) if (strategy !== DEGENERATE) sizes.set(strategy, (sizes.get(strategy) ?? 0) + 1);
  return sizes;
}
