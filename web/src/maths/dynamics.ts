/**
 * What a method does to a table of strategies on average, step by step and without sampling noise.
 *
 * A policy chooses strategy a with share π_a, and a sample of it is correct with probability s_a. The
 * parameters are the logits of the shares. For N samples a method moves them on average by
 *
 *     v_a = π_a·(m_a − Σ_b π_b m_b),    m_a = s_a·E[A | a, correct] + (1 − s_a)·E[A | a, wrong],
 *
 * as `theory/dynamics.py` does by listing every group of N samples; here each mean is a closed form.
 */

import { STD_FLOOR } from "./credit";
import { sum } from "./samples";

export interface Strategies {
  /** s: the chance that a sample of each strategy is correct. */
  readonly success: readonly number[];
}

export interface Training {
  /** N, the samples of a step. */
  readonly samples: number;
  /** K, the members of a set. */
  readonly setSize: number;
  /** α of concave counts. */
  readonly alpha: number;
}

/** E[A | a, correct] and E[A | a, wrong] for each strategy a. */
interface Expected {
  readonly correct: readonly number[];
  readonly wrong: readonly number[];
}

export type Dynamics = (shares: readonly number[], of: Strategies, how: Training) => Expected;

/** The chance that a sample is correct: Σ_a π_a s_a. */
export const passAt1 = (shares: readonly number[], success: readonly number[]): number =>
  sum(shares.map((share, a) => share * success[a]!));

/** GRPO: correctness alone counts, so the mean is over how many of the other samples are correct. */
export const grpoDynamics: Dynamics = (shares, { success }, { samples: n }) => {
  const others = binomial(n - 1, passAt1(shares, success));
  const of = (own: number) =>
    sum(
      [...others].map((chance, right) => {
        const count = right + own;
        const std = Math.sqrt((count * (n - count)) / (n * Math.max(n - 1, 1)));
        return (chance * (own - count / n)) / (std + STD_FLOOR);
      }),
    );
  const [right, wrong] = [of(1), of(0)];
  return { correct: shares.map(() => right), wrong: shares.map(() => wrong) };
};

/** MaxPO with rewards of 0 and 1: Q(y) − J of pass@K. */
export const maxpoDynamics: Dynamics = (shares, { success }, { setSize: k }) => {
  const p = passAt1(shares, success);
  return {
    correct: shares.map(() => (1 - p) ** k),
    wrong: shares.map(() => -p * (1 - p) ** (k - 1)),
  };
};

/** Poly-EPO: (1 − K/N)·(Q(y) − J) of the polychromic objective. */
export const polyEpoDynamics: Dynamics = (shares, of, { samples: n, setSize: k }) => {
  const correct = shares.map((_, a) => polychromicGiven(shares, of.success, a, 1, k));
  const wrong = shares.map((_, a) => polychromicGiven(shares, of.success, a, 0, k));
  const value = sum(
    shares.map((share, a) => share * (of.success[a]! * correct[a]! + (1 - of.success[a]!) * wrong[a]!)),
  );
  const outside = 1 - k / n;
  return {
    correct: correct.map((q) => outside * (q - value)),
    wrong: wrong.map((q) => outside * (q - value)),
  };
};

/** Concave counts: E[m^(α−1)], m − 1 of the other samples being correct with the same strategy. */
export const countsDynamics: Dynamics = (shares, { success }, { samples: n, alpha }) => ({
  correct: shares.map((share, a) =>
    sum([...binomial(n - 1, share * success[a]!)].map((chance, m) => chance * (m + 1) ** (alpha - 1))),
  ),
  wrong: shares.map(() => 0),
});

/**
 * Q of the polychromic objective: E[f(S) | a member uses strategy a and has this reward].
 *
 *     K²·Q = Σ_c E[R(S)·1{S holds c}],   R(S) the sum of the rewards
 */
function polychromicGiven(
  shares: readonly number[],
  success: readonly number[],
  a: number,
  reward: number,
  k: number,
): number {
  const p = passAt1(shares, success);
  const terms = shares.map((share, c) => {
    if (c === a) return reward + (k - 1) * p;
    const held = 1 - (1 - share) ** (k - 1);
    const outside = p - share * success[c]!;
    const others = k > 1 ? (k - 1) * (p - outside * (1 - share) ** (k - 2)) : 0;
    return reward * held + others;
  });
  return sum(terms) / (k * k);
}

/** The standard deviation of a method's mean credit over what a sample can be. */
export function creditSpread(dynamics: Dynamics, shares: readonly number[], of: Strategies, how: Training): number {
  const { correct, wrong } = dynamics(shares, of, how);
  const over = (value: (credit: number) => number): number =>
    sum(
      shares.map((share, a) => share * (of.success[a]! * value(correct[a]!) + (1 - of.success[a]!) * value(wrong[a]!))),
    );
  const average = over((credit) => credit);
  return Math.sqrt(over((credit) => (credit - average) ** 2));
}

/** v: the mean direction of one step in the logits of the shares. */
export function velocity(dynamics: Dynamics, shares: readonly number[], of: Strategies, how: Training): number[] {
  const { correct, wrong } = dynamics(shares, of, how);
  const paid = of.success.map((s, a) => s * correct[a]! + (1 - s) * wrong[a]!);
  const average = sum(shares.map((share, a) => share * paid[a]!));
  return shares.map((share, a) => share * (paid[a]! - average));
}

/** The shares after each of some steps z ← z + rate·v(π), the first row before any. */
export function expectedSteps(
  dynamics: Dynamics,
  start: readonly number[],
  of: Strategies,
  how: Training,
  rate: number,
  steps: number,
): number[][] {
  const path = [[...start]];
  for (let step = 0; step < steps; step++) {
    const shares = path[step]!;
    const shift = velocity(dynamics, shares, of, how).map((value) => rate * value);
    path.push(shiftLogits(shares, shift));
  }
  return path;
}

/** π after its logits move: π·exp(shift), normalised. */
function shiftLogits(shares: readonly number[], shift: readonly number[]): number[] {
  const highest = Math.max(...shift);
  const weight = shares.map((share, a) => share * Math.exp(shift[a]! - highest));
  const total = sum(weight);
  return weight.map((value) => value / total);
}

/** exp(entropy): how many equally frequent strategies are as varied as these shares. */
export const effectiveNumber = (shares: readonly number[]): number =>
  Math.exp(-sum(shares.map((share) => (share > 0 ? share * Math.log(share) : 0))));

/** P(j of n) for j = 0 … n, each with chance p. */
function binomial(n: number, p: number): Float64Array {
  const chance = new Float64Array(n + 1);
  if (p <= 0 || p >= 1) {
    chance[p <= 0 ? 0 : n] = 1;
    return chance;
  }
  const odds = Math.log(p) - Math.log1p(-p);
  let log = n * Math.log1p(-p);
  for (let j = 0; j <= n; j++) {
    chance[j] = Math.exp(log);
    log += Math.log((n - j) / (j + 1)) + odds;
  }
  return chance;
}
