/** The maths of the page equals the core's, to 1e-12, on the vectors that the core wrote. */

import { expect, it } from "vitest";
import {
  advantages,
  type Baseline,
  counts,
  countsDynamics,
  decompose,
  expectedSteps,
  fromLists,
  grpo,
  grpoDynamics,
  maxpo,
  maxpoDynamics,
  type Method,
  OBJECTIVES,
  type ObjectiveName,
  passAtK,
  polyEpo,
  polyEpoDynamics,
  type Samples,
  shaping,
  velocity,
  waterFilling,
} from "../src/maths";
import found from "./vectors.json";

const DYNAMICS = { grpo: grpoDynamics, maxpo: maxpoDynamics, poly_epo: polyEpoDynamics, counts: countsDynamics };

function same(actual: readonly number[], wanted: readonly number[], where = ""): void {
  expect(actual.length).toBe(wanted.length);
  actual.forEach((value, at) => {
    const gap = Math.abs(value - wanted[at]!);
    expect(gap, `${where}, place ${at}: ${value} for ${wanted[at]}`).toBeLessThanOrEqual(
      1e-12 * Math.max(1, Math.abs(wanted[at]!)),
    );
  });
}

const asMethod = (written: (typeof found.credit)[number]["method"]): Method => ({
  ...written,
  objective: written.objective as ObjectiveName,
  baseline: written.baseline as Baseline,
  reduction: written.reduction as Method["reduction"],
  scale: written.scale as Method["scale"],
});

const named = (row: { method: object; rewards: number[] }) =>
  `${Object.values(row.method).join(", ")} on ${row.rewards.join(" ")}`;

it("advantages from all sets", () => {
  for (const row of found.credit) same(advantages(row, asMethod(row.method)), row.values, named(row));
});

it("advantages from listed sets", () => {
  for (const row of found.sampled) {
    const drawn = { sets: fromLists(row.sets), smaller: fromLists(row.smaller) };
    same(advantages(row, asMethod(row.method), drawn), row.values, named(row));
  }
});

it("published methods", () => {
  for (const row of found.methods) {
    same(grpo(row), row.grpo);
    for (const [k, values] of Object.entries(row.poly_epo)) same(polyEpo(row, +k), values!);
    for (const [k, values] of Object.entries(row.maxpo)) same(maxpo(row, +k), values!);
    for (const [weight, values] of Object.entries(row.shaping)) same(shaping(row, +weight), values);
    for (const [alpha, values] of Object.entries(row.counts)) same(counts(row, +alpha), values);
  }
});

it("scores of sets", () => {
  for (const row of found.scores)
    for (const [name, scores] of Object.entries(row.scores))
      same([...OBJECTIVES[name as ObjectiveName](row, fromLists(row.sets))], scores);
});

it("the parts of Eq. 15", () => {
  for (const row of found.decomposition) {
    const parts = decompose(row, row.set_size);
    same(parts.rewardWith, row.reward_with);
    same(parts.diversityWith, row.diversity_with);
    same(parts.covarianceWith, row.covariance_with);
    same(parts.covariancePart, row.covariance_part);
    same(
      parts.rewardPart.map((part, i) => part + parts.diversityPart[i]!),
      row.means_part,
    );
    same(total(parts), row.advantages);
  }
});

it("the parts add up on listed sets, too", () => {
  for (const row of found.sampled.filter((sampled) => sampled.method.objective === "polychromic")) {
    const sets = fromLists(row.sets);
    const held = row.rewards.map((_, i) => row.sets.some((members) => members.includes(i)));
    const wanted = polyEpo(row as Samples, sets.size, { sets, smaller: null });
    const parts = total(decompose(row, sets.size, sets));
    same(
      parts.filter((_, i) => held[i]),
      wanted.filter((_, i) => held[i]),
    );
  }
});

const total = (parts: ReturnType<typeof decompose>): number[] =>
  parts.rewardPart.map((part, i) => part + parts.diversityPart[i]! + parts.covariancePart[i]!);

it("mean updates of a table, and the steps that they lead along", () => {
  for (const row of found.dynamics) {
    const how = { samples: row.num_samples, setSize: row.set_size, alpha: row.alpha };
    for (const [name, dynamics] of Object.entries(DYNAMICS)) {
      const wanted = row.velocity[name as keyof typeof DYNAMICS];
      same(velocity(dynamics, row.shares, row, how), wanted);
      const path = expectedSteps(dynamics, row.shares, row, how, 2, 10);
      same(path[10]!, row.path[name as keyof typeof DYNAMICS]);
    }
  }
});

it("shares at the optimum", () => {
  for (const row of found.water_filling) {
    const { shares, level, passAt1 } = waterFilling(row.success, row.alpha);
    same([...shares, level, passAt1], [...row.shares, row.level, row.pass_at_1]);
  }
});

it("pass@k of a portfolio", () => {
  for (const row of found.pass_at_k)
    for (const chance of ["problem", "attempt"] as const)
      same([passAtK(row.shares, row.success, row.k, chance)], [row[chance]]);
});
