/** Where an estimator leads on one prompt with three right strategies: `setrl.theory.audit.leads`. */

import { passAt1, shiftLogits } from "../dynamics";
import { sum } from "../samples";
import type { Paid } from "./paid";
import { chances } from "./groups";
import { expected, pushed } from "./setting";

export const SUCCESS = [0.9, 0.8, 0.7]; // how often each strategy is right
const LAST = 3000; // learning rate × steps, for advantages of root mean square 1
/** 0, and 60 times from 1 to 3,000, evenly spread on a logarithmic scale. */
export const TIMES: readonly number[] = [0, ...Array.from({ length: 60 }, (_, at) => LAST ** (at / 59))];
const KEPT = 0.05; // share of a strategy that is kept
const LARGEST_ERROR = 1e-6; // in a logit, that a step may add

export interface Survivors {
  /** The shares of the strategies at each of `TIMES`. */
  readonly path: readonly (readonly number[])[];
  /** How many have a share of at least 5% at the end. */
  readonly kept: number;
  /** The share of right samples at the end; 0.8 at first. */
  readonly accuracy: number;
}

/** Follow the expected update of a softmax policy over strategies, without noise. */
export function survivors(paid: Paid): Survivors {
  const { setting, credit } = paid;
  const { others, kinds } = setting;
  const half = kinds.rewards.length / 2;
  // Strategies that the formula cannot tell apart are samples of one kind.
  const kind = (strategy: number, right: boolean): number => (half > 1 ? strategy : 0) + (right ? 0 : half);
  const width = 2 * half;
  const rows = Float64Array.from({ length: others.counts.length * width }, (_, at) => {
    const [m, one] = [Math.floor(at / width), at % width];
    return credit[others.joined[m]![one]!]![one]!;
  });
  const start = SUCCESS.map(() => 1 / SUCCESS.length);
  const scale = 1 / usualSize(paid, overKinds(start, kind, width));

  const velocity = (shares: readonly number[]): number[] => {
    const [chance] = chances(others, [overKinds(shares, kind, width)]);
    const means = expected(rows, chance!, width);
    const paidTo = SUCCESS.map((rate, a) => rate * means[kind(a, true)]! + (1 - rate) * means[kind(a, false)]!);
    return pushed(shares, paidTo).map((value) => scale * value);
  };
  const path = flow(velocity, start);
  const shares = path.at(-1)!;
  return { path, kept: shares.filter((share) => share >= KEPT).length, accuracy: passAt1(shares, SUCCESS) };
}

/** The policy over kinds of samples: right and wrong ones of each strategy. */
function overKinds(shares: readonly number[], kind: (strategy: number, right: boolean) => number, kinds: number) {
  const policy = new Array<number>(kinds).fill(0);
  shares.forEach((share, a) => {
    policy[kind(a, true)]! += share * SUCCESS[a]!;
    policy[kind(a, false)]! += share * (1 - SUCCESS[a]!);
  });
  return policy;
}

/** The root mean square of the advantages; 1 if all are 0. */
function usualSize({ setting, credit }: Paid, policy: readonly number[]): number {
  const [chance] = setting.ofGroups([policy]);
  const squares = setting.groups.counts.map((group, s) =>
    sum(group.map((count, kind) => count * credit[s]![kind]! ** 2)),
  );
  return Math.sqrt(sum(squares.map((square, s) => square * chance![s]!)) / setting.size) || 1;
}

// Dormand and Prince (1980): the slopes that each stage mixes, the result, and its error.
const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];

type Velocity = (shares: readonly number[]) => number[];

/** dz/dt = v(π): the shares at each of `TIMES`, as `setrl.theory.gradient_flow` solves it. */
function flow(velocity: Velocity, start: readonly number[]): number[][] {
  let [shift, now, step] = [start.map(() => 0), 0, 1e-3];
  const slope = (at: readonly number[]): number[] => velocity(shiftLogits(start, at));
  return TIMES.map((until) => {
    while (now < until) {
      step = Math.min(step, until - now);
      const [moved, error] = dormandPrince(slope, shift, step);
      if (!Number.isFinite(error)) throw new RangeError(`the velocity must be finite, got ${slope(shift)} at ${now}`);
      if (error <= LARGEST_ERROR) {
        shift = moved;
        now = step < until - now ? now + step : until;
      }
      step *= Math.min(Math.max(0.9 * (LARGEST_ERROR / Math.max(error, 1e-300)) ** 0.2, 0.2), 5);
    }
    return shiftLogits(start, shift);
  });
}

/** The state after one step of order 5, and its largest difference from order 4. */
function dormandPrince(slope: Velocity, start: readonly number[], step: number): [number[], number] {
  const slopes = [slope(start)];
  const mixed = (weights: readonly number[]) =>
    start.map((_, a) => step * sum(weights.map((weight, stage) => weight * slopes[stage]![a]!)));
  let moved = [...start];
  for (const weights of STAGES) {
    const change = mixed(weights);
    moved = start.map((value, a) => value + change[a]!);
    slopes.push(slope(moved));
  }
  return [moved, Math.max(...mixed(ERROR).map(Math.abs))];
}
