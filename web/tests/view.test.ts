/** The run explorer's parts that need no browser. */

import { expect, it } from "vitest";
import type { Group, Sample } from "../src/view/api";
import { pieces, visible } from "../src/components/visible";
import { difference } from "../src/view/problem/difference";
import { segments } from "../src/view/problems/Strip";
import { inWords, points, withoutCredit } from "../src/view/run/steps";
import { why } from "../src/view/problem/why";
import { decimal } from "../src/components/format";
import { signed } from "../src/components/SignedBar";

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

it("a strip has a piece for each strategy and outcome", () => {
  expect(segments("A+A+A-[+-+?-??")).toEqual([
    { strategy: 0, outcome: "right", samples: 2 },
    { strategy: 0, outcome: "wrong", samples: 1 },
    { strategy: 26, outcome: "right", samples: 1 },
    { strategy: -1, outcome: "right", samples: 1 },
    { strategy: null, outcome: "wrong", samples: 1 },
    { strategy: null, outcome: "ungraded", samples: 1 },
  ]);
  expect(segments("")).toEqual([]);
});

const sample = (correct: boolean | null, advantage: number | null): Sample => ({
  text: "",
  length: 0,
  reward: correct === null ? null : Number(correct),
  correct,
  advantage,
  label: 0,
  strategy: "a",
  answer: null,
  branch: 0,
  why_wrong: null,
  tokens: null,
  against: correct !== null && advantage !== null && advantage !== 0 && correct !== advantage > 0,
});

const group = (used: readonly (number | null)[], in_log: readonly string[], more: Partial<Group> = {}): Group => ({
  step: 1,
  place: 0,
  number: 0,
  before: null,
  after: null,
  id: "",
  prompt: "",
  gold: null,
  by_step: true,
  all_methods: {},
  set_size: 4,
  largest_set_size: 7,
  notes: [],
  shared_prefix: 0,
  methods: { grpo: "GRPO", poly_epo: "Poly-EPO" },
  samples: used.map((value, i) => sample(i > 0, value)),
  others: { grpo: used, poly_epo: used },
  in_log,
  sized: ["poly_epo"],
  origin: { kind: "loss", method: null, set_size: null },
  explained: { ...EXPLAINED, method: "poly_epo", set_size: 4 },
  parts: {
    reward: [-0.1, 0],
    diversity: [0.3, 0],
    covariance: [-0.1, 0],
    total: [0.1, 0],
    reward_with: [0.5, 0.6],
    diversity_with: [0.7, 0.4],
    all: [0.6, 0.4, 0],
  },
  ...more,
});

const EXPLAINED = {
  baseline: "all_sets",
  is_scaled: false,
  is_shaped: false,
  values: [0.1, -0.2],
  with: [0.75, 0.5],
  without: [0.5, 0.25],
  all: 0.625,
} as const;

it("a sample without a label does not make the credit another", () => {
  const origin = { kind: "credit", method: "poly_epo", set_size: 4 } as const;
  const one = group([null, 0.1], ["poly_epo"], { explained: null, parts: {}, origin });
  expect(why(one, 0).join(" ")).toContain("Its credit is unknown: the method leaves it out.");
  expect(why(one, 1).join(" ")).toContain("The credit that setrl credit wrote is what Poly-EPO gives");
});

it("credit is explained by its own method, and nothing is said to be trained that was not", () => {
  const none = { explained: null, parts: {} } as const;
  const used = [0.1, -0.2];
  const of = (more: Partial<Group>): string => why(group(used, ["grpo"], more), 0).join(" ");
  const one = { ...EXPLAINED, method: "grpo", set_size: 1, is_scaled: true };
  expect(of({ explained: one, parts: {} })).toContain(
    "GRPO compares single samples: the reward of y1 is 0.750. The mean of all samples is 0.625. Its credit: 0.100, the difference divided by a standard deviation.",
  );
  expect(of({ explained: { ...one, set_size: 3, baseline: "leave_one_out" }, parts: {} })).toContain(
    "GRPO compares sets of 3: the sets with y1 score 0.750 on average. The mean of the sets without it is 0.500.",
  );
  expect(of({ explained: one, parts: {} })).not.toContain("Poly-EPO");
  const credit = of({ ...none, origin: { kind: "credit", method: "grpo", set_size: 1 } });
  expect(credit).toContain("y1 is wrong, and training with this credit would make it more likely, against");
  expect(credit).toContain("The credit that setrl credit wrote is what GRPO gives.");
  expect(credit).not.toMatch(/training made|the loss/);
  expect(of({ ...none, origin: { kind: "loss", method: "rloo", set_size: 1 } })).toContain(
    "The method is rloo, but what entered the loss is not what it gives",
  );
  const moved = { explained: { ...one, set_size: 5 }, parts: {} };
  expect(of({ ...moved, origin: { kind: "loss", method: "poly_epo", set_size: 4 } })).toContain(
    "What entered the loss is Poly-EPO with sets of 4; below, sets have 5.",
  );
});

it.each([
  [0, "0", "0"],
  [0.25, "0.250", "+0.250"],
  [-0.0004, "−4e−4", "−4e−4"],
  [0.00004, "4e−5", "+4e−5"],
  [-3e-17, "0", "0"],
  [-2, "−2.000", "−2.000"],
])("small numbers keep a digit, and there is no −0: %d", (value, plain, withSign) => {
  expect(decimal(value)).toBe(plain);
  expect(signed(value)).toBe(withSign);
});

it("a sample's credit in words", () => {
  const words = why(group([0.1, -0.2], ["poly_epo"]), 0).join(" ");
  expect(words).toContain("y1 is wrong, and training made it more likely, against its correctness.");
  expect(words).toContain("is what Poly-EPO gives with sets of 4");
  expect(why(group([0.1, -0.2], ["grpo", "poly_epo"]), 0).join(" ")).toContain(
    "is what GRPO and Poly-EPO give with sets of 4.",
  );
  expect(why(group([0.1, -0.2], []), 0).join(" ")).toContain("is not what any of the methods");
  expect(words).toContain("(0.300): its sets are more varied than others");
  expect(words).toContain("a mean reward of 0.500 (all sets: 0.600)");
  const unknown = why(group([null, null], [], { explained: null, parts: {} }), 0).join(" ");
  expect(unknown).toBe("y1 is wrong.");
  expect(why(group([null, 0.1], [], { explained: null, parts: {} }), 0)[0]).toContain(
    "The log does not hold its advantage.",
  );
  expect(unknown).not.toContain("entered the loss");
});

it("two texts differ in runs of words, which together are the texts", () => {
  const [one, other] = ["Add the tens first. It is 42", "I count each step. It is 43"];
  const found = difference(one, other)!;
  expect(found).toEqual([
    { text: "Add the tens first", of: "one" },
    { text: "I count each step", of: "other" },
    { text: ". It is ", of: null },
    { text: "42", of: "one" },
    { text: "43", of: "other" },
  ]);
  for (const [a, b] of [
    [one, other],
    ["", "x y"],
    ["a b\n c", "a  c"],
    [" a", "a "],
  ] as const) {
    const of = (side: "one" | "other") =>
      difference(a, b)!.flatMap((piece) => (piece.of === null || piece.of === side ? piece.text : []));
    expect([of("one").join(""), of("other").join("")]).toEqual([a, b]);
  }
});

it.each([
  [[5], "step 5"],
  [[12, 5, 6, 7, 20], "steps 5 to 7, 12 and 20"],
  [[1, 3, 5, 7, 9, 11, 13], "steps 1, 3, 5, 7, 9 and 2 more spans"],
])("steps in words: %j", (steps, wanted) => expect(inWords(steps)).toBe(wanted));

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
