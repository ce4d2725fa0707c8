/** Formulas: what they are, what is wrong with them, and their audits, which Python repeats. */

import { expect, it } from "vitest";
import { audit, type Audit, FormulaError, parse, sentences, written } from "../src/maths";
import published from "../src/playground/published.json";
import { pythonOfFormula } from "../src/playground/python";
import released from "./published.json";

/** Groups as lists of samples: rewards, and labels. */
const paid = (text: string, rewards: number[], labels = rewards.map(() => 0)): number[] =>
  parse(text).of({ rewards, labels, counts: rewards.map(() => 1) });

it.each<[string, number[]]>([
  ["r - mean(r)", [0.75, -0.25, -0.25, -0.25]],
  ["-r ** 2 + 2 ** -1", [-0.5, 0.5, 0.5, 0.5]],
  ["2 - 3 - 4 * r / 2 / 2", [-2, -1, -1, -1]],
  ["max(r, .5) - min(r) + 1e-1", [1.1, 0.6, 0.6, 0.6]],
  ["nth(r, 2) + nth(r, 1) * N", [4, 4, 4, 4]],
  ["where(r >= max(r), choose(N, 2), sum(1))", [6, 4, 4, 4]],
  ["where(size < 2, m, size)", [3, 3, 3, 0]],
  ["centred(exp(log(N)) * sqrt(abs(-r)))", [3, -1, -1, -1]],
  ["std(r) ** 2 * 4 + pstd(r) ** 2 * 16", [4, 4, 4, 4]],
])("%s", (text, wanted) => {
  paid(text, [1, 0, 0, 0], [0, 0, 0, 1]).forEach((value, i) => expect(value).toBeCloseTo(wanted[i]!, 12));
});

it.each<[string, RegExp]>([
  ["", /such as r - mean\(r\)/],
  ["reward - 1", /“reward” is unknown\. The names are r, N, size, m, eps; the functions are mean, sum/],
  ["constructor", /“constructor” is unknown/],
  ["__proto__(r)", /“__proto__” is unknown/],
  ["mean", /“\(” is missing after mean, such as mean\(r\)/],
  ["N(r)", /“N” is a number and no function/],
  ["std(r, 1)", /std takes one value, not 2/],
  ["nth(r)", /nth takes 2 values, not 1/],
  ["(r - mean(r)", /“\)” is missing at the end of the parentheses/],
  ["r - mean(r))", /“\)” after “\)” belongs to no “\(”/],
  ["r -", /After “-” something is missing/],
  ["r * / 2", /“\/” stands where a number/],
  ["2 r", /Between “2” and “r” a sign is missing, such as \*/],
  ["r ^ 2", /“\^” is no sign of a formula: a power is written \*\*/],
  ["r − 1", /minus is written -/],
  ["r == 1", /“==” may stand only inside where/],
  ["where(r, 1, 0)", /begins with a comparison, such as where\(r == max\(r\), 1, 0\)/],
  ["where(r > 0, 1)", /“,” is missing before the last part/],
  ["r; alert(1)", /“;” is no sign of a formula/],
  [`r${" + r".repeat(99)}`, /at most 300 signs/],
])("%s is refused", (text, why) => {
  expect(() => parse(text)).toThrow(FormulaError);
  expect(() => parse(text)).toThrow(why);
});

it.each<[string, RegExp]>([
  ["1e200 * r", /The largest advantage is 1e\+200: it must be from 1e-100 to 1e\+100/],
  ["r / 1e200", /is 1e-200/],
])("%s is no audit", (text, why) => {
  expect(() => audit(parse(text), 4)).toThrow(why);
});

it("numbers that are no numbers count as 0, and no formula takes forever", () => {
  const text = "choose(1e9, 5e8) + choose(1e9 * r, 3e8) + 0 / 0 + log(-1) + r ** -1e9 + exp(1e9)";
  expect(paid(text, [1, 0, 0]).some(Number.isFinite)).toBe(false);
  const found = audit(parse(text), 3);
  expect(found.nearest).toBeNull();
  expect(sentences(found)).toContain(
    "Warning: the formula returns NaN or infinite numbers in some groups, such as rewards (1, 1, 1); they count as 0 below.",
  );
});

it("a formula that is too large in groups of N + 1 is audited in groups of N", () => {
  expect(sentences(audit(parse("r * 10 ** (12 * N)"), 8)).join()).not.toContain("groups of 9");
});

it("a formula ignores the order of samples and the names of strategies", () => {
  const text = "centred(r * m / size) + nth(r, 2) - std(size)";
  const [one, other] = [paid(text, [1, 0, 1, 1], [0, 0, 1, 2]), paid(text, [1, 1, 0, 1], [5, 3, 4, 4])];
  expect([other[3], other[2], other[0], other[1]].map((value) => value!.toFixed(12))).toEqual(
    [one[0], one[1], one[2], one[3]].map((value) => value!.toFixed(12)),
  );
});

it.each(published.map((one, at) => ({ ...one, ...released[at]! })))("$place", ({ formula, is, off, paid: wanted }) => {
  const found = audit(parse(formula), 4);
  expect(written(found.nearest!)).toBe(is);
  expect(Number(found.nearest!.off.toPrecision(4))).toBe(off);
  if (!wanted) return;
  for (let right = 0; right <= 4; right++) {
    const values = paid(
      formula,
      [0, 1, 2, 3].map((i) => Number(i < right)),
    );
    if (right > 0) expect(values[0], `${right} right`).toBeCloseTo(wanted.right[right]!, 3);
    if (right < 4) expect(values[3], `${right} right`).toBeCloseTo(wanted.wrong[right]!, 3);
  }
});

const FORMULAS: Readonly<Record<string, readonly [string, number]>> = {
  leave_one_out: ["r - (sum(r) - r) / (N - 1)", 5],
  spread: ["(r - mean(r)) / (std(r) + 1e-4)", 8],
  best: ["where(r == max(r), r - nth(r, 2), 0) / (std(r) + 1e-6)", 4],
  divided: ["centred(r) / max(mean(r), eps) + 0.01 * r", 3],
  chosen: ["max(r * choose(N - sum(r), 1), -abs(r)) / min(N, 9) - eps * log(exp(sqrt(pstd(r))))", 4],
  nothing: ["N - 1", 2],
  against: ["-2e6 * r", 2],
  counts: ["where(r > 0, m ** (0.25 - 1), -0.1 * size)", 2],
  bonus: ["centred(r + 0.5 * (N / size - 1) / (N - 1))", 3],
};

it.each(Object.entries(FORMULAS))("audit: %s", async (name, [text, size]) => {
  const formula = parse(text);
  await expect(pythonOfFormula(formula, size)).toMatchFileSnapshot(`snippets/audit/${name}.py`);
  await expect(JSON.stringify(numbers(audit(formula, size)), null, 1)).toMatchFileSnapshot(
    `snippets/audit/${name}.json`,
  );
});

/** Everything that Python must find, too. */
const numbers = (audit: Audit) => ({
  objectives: audit.paid.setting.objectives.map(({ label }) => label),
  factors: audit.nearest?.factors ?? [],
  off: audit.nearest?.off ?? 0,
  gradient: audit.gradient.slice(-2),
  variance: audit.variance.values.slice(-2),
  ratio: Number.isNaN(audit.variance.ratio) ? null : audit.variance.ratio,
  laws: Object.fromEntries(audit.laws.map(({ name, holds }) => [name, holds])),
  shares: audit.survivors.path.at(-1),
  accuracy: audit.survivors.accuracy,
  sentences: sentences(audit),
});
