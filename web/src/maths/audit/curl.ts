/** Whether a mean update is the gradient of any objective: the test of docs/audit.md. */

import type { Paid } from "./paid";

/** With every N − 2 others, the differences A_b − A_a within three pairs sum to 0 for a gradient. */
export function hasCurl({ setting, credit, rounding }: Paid): boolean {
  const kinds = setting.kinds.rewards.length;
  if (kinds < 3 || setting.size < 2) return false; // a function of one number is always a gradient
  const [fewer, others] = [setting.layers[setting.size - 2]!, setting.others];
  return fewer.counts.some((_, k) => {
    const step = (left: number, right: number): number => {
      const group = others.joined[fewer.joined[k]![left]!]![right]!;
      return credit[group]![right]! - credit[group]![left]!;
    };
    for (let a = 0; a < kinds; a++)
      for (let b = a + 1; b < kinds; b++)
        for (let c = b + 1; c < kinds; c++)
          if (Math.abs(step(a, b) + step(b, c) + step(c, a)) > 12 * rounding) return true;
    return false;
  });
}
