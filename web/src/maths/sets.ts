/** Sets of K out of N samples: all of them, or some that are drawn. */

import type { Random } from "./random";

/** A list of sets in one array: the members of set s are at s·size … s·size + size − 1. */
export interface Sets {
  readonly size: number;
  readonly count: number;
  readonly members: Uint8Array;
}

/** C(n, k), exact while it is below 2⁵³. */
export function choose(n: number, k: number): number {
  if (k < 0 || k > n) return 0;
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return Math.round(result);
}

const known = new Map<string, Sets>();

/** Every set of `size` out of `numSamples`, in lexicographic order. */
export function allSets(numSamples: number, size: number): Sets {
  const key = `${numSamples},${size}`;
  const found = known.get(key);
  if (found) return found;
  const count = choose(numSamples, size);
  const members = new Uint8Array(count * size);
  const current = Array.from({ length: size }, (_, place) => place);
  for (let at = 0; at < count; at++) {
    members.set(current, at * size);
    let place = size - 1;
    while (place >= 0 && current[place] === numSamples - size + place) place--;
    if (place < 0) break;
    current[place]!++;
    for (let next = place + 1; next < size; next++) current[next] = current[next - 1]! + 1;
  }
  const sets = { size, count, members };
  known.set(key, sets);
  return sets;
}

/** Different sets, drawn uniformly; all of them where there are no more than `count`. */
export function drawSets(numSamples: number, size: number, count: number, random: Random): Sets {
  const all = allSets(numSamples, size);
  if (count >= all.count) return all;
  const order = random.permutation(all.count).slice(0, count);
  return fromLists([...order].map((at) => membersOf(all, at)));
}

export const membersOf = (sets: Sets, at: number): number[] => [
  ...sets.members.subarray(at * sets.size, (at + 1) * sets.size),
];

/** Sets that are written out, such as those of a worked example. */
export function fromLists(lists: readonly (readonly number[])[]): Sets {
  const size = lists[0]?.length ?? 0;
  return { size, count: lists.length, members: Uint8Array.from(lists.flat()) };
}
