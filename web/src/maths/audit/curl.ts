/** Whether a mean update is the gradient of any objective: the test of docs/audit.md. */

import type { Paid } from "./paid";

/** Three kinds of samples beside which others show that there is no objective. */
export interface Curl {
  /** The N − 2 other samples, by their kinds. */
  readonly others: readonly number[];
  readonly corners: readonly [number, number, number];
  /** The sum of the differences A_b − A_a around the corners: 0 for every gradient. */
  readonly value: number;
}

/** The largest curl; null if the mean update is a gradient. */
export function curl({ setting, credit, rounding }: Paid): Curl | null {
  const kinds = setting.kinds.rewards.length;
  if (kinds < 3) return null; // a function of one number is always a gradient
  const [fewer, others] = [setting.layers[setting.size - 2]!, setting.others];
  let found: Curl | null = null;
  fewer.counts.forEach((group, k) => {
    const step = (left: number, right: number): number => {
      const row = credit[others.joined[fewer.joined[k]![left]!]![right]!]!;
      return row[right]! - row[left]!;
    };
    for (const [a, b, c] of triples(kinds)) {
      const value = step(a, b) + step(b, c) + step(c, a);
      const least = found ? Math.abs(found.value) + rounding : 12 * rounding;
      if (Math.abs(value) > least)
        found = {
          others: group.flatMap((count, kind) => new Array<number>(count).fill(kind)),
          corners: [a, b, c],
          value,
        };
    }
  });
  return found;
}

function* triples(kinds: number): Generator<readonly [number, number, number]> {
  for (let a = 0; a < kinds; a++)
    for (let b = a + 1; b < kinds; b++) for (let c = b + 1; c < kinds; c++) yield [a, b, c];
}
