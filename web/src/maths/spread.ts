/** How far an advantage depends on which sets are drawn. */

import { advantages, type Drawn, type Method } from "./credit";
import { Random } from "./random";
import { deviation, type Samples } from "./samples";
import { allSets, choose, type Sets } from "./sets";

export interface Spread {
  /** The advantage of each sample from all sets, in the scale of a draw. */
  readonly exact: readonly number[];
  /** The standard deviation of its advantage over draws: the standard error of one draw. */
  readonly error: readonly number[];
  /** The share of draws in which its advantage has the other sign. */
  readonly flips: readonly number[];
  /** How many draws were made to find out. */
  readonly draws: number;
}

const WORK = 400_000; // members of sets that are scored, so that the page answers at once
const [FEWEST, MOST] = [50, 400];

/** The spread of a method's advantages over draws of `count` different sets. */
export function spread(samples: Samples, method: Method, count: number, seed = 1): Spread {
  const n = samples.rewards.length;
  const draws = Math.max(FEWEST, Math.min(MOST, Math.floor(WORK / (count * method.setSize))));
  const random = new Random(seed);
  const [sets, smaller] = [drawer(n, method.setSize, count, random), drawer(n, method.setSize - 1, count, random)];
  const found = Array.from({ length: draws }, () => {
    const drawn: Drawn = {
      sets: sets() ?? allSets(n, method.setSize),
      smaller: method.baseline === "smaller_sets" ? smaller() : null,
    };
    return advantages(samples, method, drawn);
  });
  // A sum over drawn sets is smaller than one over all sets, by the share that is drawn.
  const share = method.reduction === "sum" ? Math.min(1, count / choose(n, method.setSize)) : 1;
  const exact = advantages(samples, method).map((value) => value * share);
  return {
    exact,
    error: exact.map((_, i) => deviation(found.map((values) => values[i]!))),
    flips: exact.map((value, i) =>
      value === 0 ? NaN : found.filter((values) => values[i]! * value < 0).length / draws,
    ),
    draws,
  };
}

/** Draws lists of different sets; null where all of them are meant. */
function drawer(n: number, size: number, count: number, random: Random): () => Sets | null {
  if (size < 1 || count >= choose(n, size)) return () => null;
  const all = allSets(n, size);
  const order = Uint32Array.from({ length: all.count }, (_, at) => at);
  return () => {
    const members = new Uint8Array(count * size);
    for (let at = 0; at < count; at++) {
      const other = at + Math.floor(random.next() * (all.count - at));
      [order[at], order[other]] = [order[other]!, order[at]!];
      members.set(all.members.subarray(order[at]! * size, (order[at]! + 1) * size), at * size);
    }
    return { size, count, members };
  };
}
