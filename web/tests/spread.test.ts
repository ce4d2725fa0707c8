/** The standard error of drawn sets against what the theory of sampling says. */

import { expect, it } from "vitest";
import {
  advantages,
  allSets,
  choose,
  deviation,
  fromLists,
  membersOf,
  OBJECTIVES,
  type Method,
  type Samples,
} from "../src/maths";
import { spread } from "../src/maths/spread";

const SAMPLES: Samples = {
  rewards: [1, 1, 0, 1, 0, 1, 0],
  strategies: [0, 0, 1, 1, 2, 3, -1],
  answers: [0, 0, 1, 0, 2, 0, 3],
};
const [N, K] = [7, 3];
const method = (part: Partial<Method>): Method => ({
  objective: "polychromic",
  setSize: K,
  baseline: "none",
  reduction: "sum",
  scale: "none",
  ...part,
});

it.each([5, 12, 25])("a sum over %i sets drawn without replacement", (count) => {
  const sets = allSets(N, K);
  const scores = OBJECTIVES.polychromic(SAMPLES, sets);
  const found = spread(SAMPLES, method({}), count);
  expect(found.draws).toBe(400);
  for (let i = 0; i < N; i++) {
    const worth = Array.from({ length: sets.count }, (_, s) => (membersOf(sets, s).includes(i) ? scores[s]! : 0));
    const wanted = Math.sqrt(count * (1 - count / sets.count)) * deviation(worth);
    expect(found.error[i]! / wanted).toBeGreaterThan(0.87); // 400 draws know it to about 4%
    expect(found.error[i]! / wanted).toBeLessThan(1.13);
  }
});

it("all pairs of two sets, counted one by one", () => {
  const sets = allSets(4, 3);
  const four: Samples = { rewards: [1, 0, 1, 0], strategies: [0, 1, 1, 2], answers: [0, 1, 0, 2] };
  const how = method({ baseline: "all_sets", reduction: "mean" });
  const lists = Array.from({ length: sets.count }, (_, s) => membersOf(sets, s));
  const every = lists.flatMap((one, a) =>
    lists.slice(a + 1).map((other) => advantages(four, how, { sets: fromLists([one, other]), smaller: null })),
  );
  expect(every.length).toBe(choose(4, 2));
  const found = spread(four, how, 2);
  for (let i = 0; i < 4; i++) {
    const values = every.map((one) => one[i]!);
    const centre = values.reduce((a, b) => a + b) / values.length;
    const wanted = Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / values.length);
    expect(Math.abs(found.error[i]! - wanted)).toBeLessThan(0.1 * wanted + 1e-12);
    const flips = values.filter((value) => value * found.exact[i]! < 0).length / values.length;
    if (found.exact[i] !== 0) expect(Math.abs(found.flips[i]! - flips)).toBeLessThan(0.1);
  }
});

it("the values of all sets are in the scale of a draw", () => {
  const all = advantages(SAMPLES, method({}));
  spread(SAMPLES, method({}), 7).exact.forEach((value, i) => expect(value).toBeCloseTo(all[i]! / 5, 12));
  const mean = method({ reduction: "mean", baseline: "smaller_sets" });
  expect(spread(SAMPLES, mean, 30).exact).toEqual(advantages(SAMPLES, mean));
});
