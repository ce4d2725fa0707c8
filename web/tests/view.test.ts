/** The run explorer's parts that need no browser. */

import { expect, it } from "vitest";
import type { Group, Sample } from "../src/view/api";
import { pieces, visible } from "../src/components/visible";
import { points, withoutCredit } from "../src/view/steps";
import { methodInLoss, why } from "../src/view/why";

it.each([
  ["plain é 数 😀\n\ttext", "plain é 数 😀\n\ttext"],
  ["nul \0", "nul ␀"],
  ["\u001b[31mred", "␛[31mred"],
  ["a\rb\u007f", "a␍b␡"],
  ["left \u202e right \u2066", "left ⟨U+202E⟩ right ⟨U+2066⟩"],
  ["zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"],
  ["half \ud800 pair \udc00", "half ⟨U+D800⟩ pair ⟨U+DC00⟩"],
  ["line\u2028end\u0085", "line⟨U+2028⟩end⟨U+0085⟩"],
  ["<script>alert(1)</script>", "<script>alert(1)</script>"],
])("signs for what steers: %j", (text, wanted) => expect(visible(text)).toBe(wanted));

it("a search cuts a text into pieces that are the text", () => {
  const text = "A+b a+B\n(a+b)";
  const cut = pieces(text, "a+b");
  expect(cut.map((piece) => piece.text).join("")).toBe(text);
  expect(cut.filter((piece) => piece.found).map((piece) => piece.text)).toEqual(["A+b", "a+B", "a+b"]);
  expect(pieces(text, "")).toEqual([{ text, found: false }]);
  for (const hostile of ["(", "[", "\\", ".*", "a{2", "$&", "^", "|", "-"])
    expect(
      pieces(text, hostile)
        .map((piece) => piece.text)
        .join(""),
    ).toBe(text);
});

const sample = (correct: boolean | null, advantage: number | null): Sample => ({
  text: "",
  length: 0,
  reward: correct === null ? null : Number(correct),
  correct,
  advantage,
  cluster: 0,
  strategy: "a",
  answer: null,
  branch: 0,
  why_wrong: null,
  against: correct !== null && advantage !== null && advantage !== 0 && correct !== advantage > 0,
});

const group = (used: readonly (number | null)[], others: Record<string, number[]>): Group => ({
  step: 1,
  place: 0,
  number: 0,
  before: null,
  after: null,
  id: "",
  prompt: "",
  gold: null,
  by_step: true,
  marks: {},
  all_methods: {},
  set_size: 4,
  largest_set_size: 7,
  notes: [],
  shared_prefix: 0,
  methods: { grpo: "GRPO", poly_epo: "Poly-EPO" },
  samples: used.map((value, i) => sample(i > 0, value)),
  others,
  parts: {
    reward: [-0.1, 0],
    diversity: [0.3, 0],
    covariance: [-0.1, 0],
    total: [0.1, 0],
    reward_with: [0.5, 0.6],
    diversity_with: [0.7, 0.4],
    covariance_with: [0, 0],
    all: [0.6, 0.4, 0],
  },
});

it("the method in the loss is named where it is one alone", () => {
  expect(methodInLoss(group([0.1, -0.2], { grpo: [1, -1], poly_epo: [0.1, -0.2] }))).toBe("poly_epo");
  expect(methodInLoss(group([0.1, -0.2], { grpo: [0.1, -0.2], poly_epo: [0.1, -0.2] }))).toBe(null);
  expect(methodInLoss(group([0.1, -0.2], { grpo: [1, -1], poly_epo: [0.1, 0.2] }))).toBe(null);
  expect(methodInLoss(group([0, 0], { grpo: [0, 0], poly_epo: [1, 0] }))).toBe(null);
  expect(methodInLoss(group([null, 0.1], { grpo: [0, 0.1], poly_epo: [1, 0] }))).toBe(null);
});

it("a sample's credit in words", () => {
  const words = why(group([0.1, -0.2], { grpo: [1, -1], poly_epo: [0.1, -0.2] }), 0).join(" ");
  expect(words).toContain("y1 is wrong, and training made it more likely, against its correctness.");
  expect(words).toContain("is what Poly-EPO gives with sets of 4");
  expect(why(group([0.1, -0.2], { grpo: [0.1, -0.2], poly_epo: [0.1, -0.2] }), 0).join(" ")).toContain(
    "is what GRPO and Poly-EPO give with sets of 4.",
  );
  expect(why(group([0.1, -0.2], { grpo: [1, -1], poly_epo: [0, 0] }), 0).join(" ")).toContain(
    "is not what any of the methods",
  );
  expect(words).toContain("(0.300): its sets are more varied than others");
  expect(words).toContain("a mean reward of 0.500 (all sets: 0.600)");
  const unknown = why(group([null, null], {}), 0).join(" ");
  expect(unknown).toContain("The log does not hold its advantage.");
  expect(unknown).not.toContain("entered the loss");
});

it("a metric is smoothed over its last values, and steps without credit are told", () => {
  const steps = [3, 1, 2].map((step) => ({
    step,
    loss: step === 2 ? null : step,
    "advantage/dead_groups": step === 3 ? 1 : 0.5,
  }));
  expect(points(steps, "loss", 1)).toEqual([
    { x: 1, y: 1 },
    { x: 3, y: 3 },
  ]);
  expect(points(steps, "loss", 2)).toEqual([
    { x: 1, y: 1 },
    { x: 3, y: 2 },
  ]);
  expect(withoutCredit(steps)).toEqual([3]);
  const many = Array.from({ length: 2000 }, (_, step) => ({ step, loss: step }));
  const drawn = points(many, "loss", 1);
  expect(drawn.length).toBeLessThanOrEqual(601);
  expect([drawn[0]!.x, drawn.at(-1)!.x]).toEqual([0, 1999]);
});
