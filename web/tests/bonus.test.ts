/** A diversity bonus pays a wrong sample from the λ on that the panel says. */

import { expect, it } from "vitest";
import { shaping, weightNeeded } from "../src/maths";

it.each([4, 8, 32])("the credit of a lone wrong sample among %i changes its sign at this λ", (num) => {
  const rewards = Array.from({ length: num }, (_, i) => (i ? 1 : 0));
  const samples = { rewards, strategies: rewards, answers: rewards };
  const needed = weightNeeded((num - 1) / num, 1, 1 / (num - 1));
  expect(shaping(samples, needed - 0.001)[0]).toBeLessThan(0);
  expect(shaping(samples, needed + 0.001)[0]).toBeGreaterThan(0);
});

it("is the tutorial's, and stays finite as the accuracy rises", () => {
  expect(weightNeeded(7 / 8, 1, 1 / 8)).toBe(1);
  expect(weightNeeded(1, 1, 1 / 8)).toBeCloseTo(8 / 7, 15);
  expect(weightNeeded(0.5, 0.25, 0.25)).toBe(Number.POSITIVE_INFINITY);
});
