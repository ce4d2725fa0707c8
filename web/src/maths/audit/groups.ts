/**
 * Every group of n samples without its order, by how many samples of each kind it has.
 *
 * A kind is a reward with a label. C(A+n−1, n) groups stand for Aⁿ ordered ones: 9 for 256 at A = 2, n = 8.
 */

import { sum } from "../samples";

/** The groups of one size, in the order of `setrl.theory.multisets`. */
export interface Layer {
  readonly size: number;
  /** How many samples of each kind every group has. */
  readonly counts: readonly (readonly number[])[];
  /** How many ordered groups each stands for: n! / Π counts!. */
  readonly orderings: Float64Array;
  /** Which group of n + 1 each becomes, if a sample of a kind joins. */
  readonly joined: readonly (readonly number[])[];
}

/** The kinds of samples: right ones with every label, then wrong ones with every label. */
export interface Table {
  readonly rewards: readonly number[];
  readonly labels: readonly number[];
}

export const table = (labels: number): Table => {
  const names = Array.from({ length: labels }, (_, label) => label);
  return { rewards: [...names.map(() => 1), ...names.map(() => 0)], labels: [...names, ...names] };
};

/** The groups of 0, 1, …, `largest` samples. */
export function layers(kinds: number, largest: number): Layer[] {
  const found: Layer[] = [];
  let counts: number[][] = [new Array<number>(kinds).fill(0)];
  for (let size = 0; size <= largest; size++) {
    const larger = new Map<string, number[]>();
    // A group whose last kind is at most `kind` comes first: the order of sorted lists of kinds.
    for (const group of counts) {
      const last = group.findLastIndex((count) => count > 0);
      for (let kind = Math.max(last, 0); kind < kinds; kind++) {
        const next = plus(group, kind);
        larger.set(next.join(), next);
      }
    }
    const places = new Map([...larger.keys()].map((key, at) => [key, at]));
    const joined = counts.map((group) => group.map((_, kind) => places.get(plus(group, kind).join())!));
    found.push({ size, counts, orderings: Float64Array.from(counts, orderings), joined });
    counts = [...larger.values()];
  }
  return found;
}

const plus = (group: readonly number[], kind: number): number[] =>
  group.map((count, at) => (at === kind ? count + 1 : count));

function orderings(group: readonly number[]): number {
  let [drawn, result] = [0, 1];
  for (const count of group) for (let one = 1; one <= count; one++) result = (result * ++drawn) / one;
  return Math.round(result);
}

/** P(group) for each of some policies over kinds. */
export const chances = ({ counts, orderings: times, size }: Layer, policies: readonly Policy[]): Float64Array[] =>
  policies.map((policy) => {
    const powers = policy.map((share) => Float64Array.from({ length: size + 1 }, (_, power) => share ** power));
    return times.map((time, s) => {
      let product = time;
      const group = counts[s]!;
      for (let kind = 0; kind < group.length; kind++) product *= powers[kind]![group[kind]!]!;
      return product;
    });
  });

export type Policy = readonly number[];

/** A number of each group of n → the mean over the groups of n samples in each group of n + 1. */
export function lifted(values: Float64Array, { joined, size }: Layer, above: Layer): Float64Array {
  const result = new Float64Array(above.counts.length);
  joined.forEach((row, m) =>
    row.forEach((s, kind) => {
      result[s]! += (above.counts[s]![kind]! / (size + 1)) * values[m]!;
    }),
  );
  return result;
}

const BINARY_GRID = 49; // success rates from 2% to 98%
const POLICIES = 256; // evenly spread over all policies, for more than two kinds

/** The policies of an audit, as in `setrl.theory.audit.field`. */
export function policyGrid(kinds: number): Policy[] {
  if (kinds === 2)
    return Array.from({ length: BINARY_GRID }, (_, at) => {
      const share = 0.02 + (0.96 * at) / (BINARY_GRID - 1);
      return [share, 1 - share];
    });
  let ratio = 1; // x^(A+1) = x + 1
  for (let turn = 0; turn < 100; turn++) ratio = (1 + ratio) ** (1 / (kinds + 1));
  return Array.from({ length: POLICIES }, (_, at) => {
    const weights = Array.from({ length: kinds }, (_, kind) => -Math.log((0.5 + (at + 1) * ratio ** -(kind + 1)) % 1));
    const whole = sum(weights);
    return weights.map((weight) => weight / whole);
  });
}
