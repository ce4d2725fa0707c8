/** The panel about collapse: paths that settle, for any success that the sliders can be set to. */

import { expect, it } from "vitest";
import { effectiveNumber, passAt1 } from "../src/maths";
import { paths } from "../src/playground/Collapse";
import { decode, START, state } from "../src/playground/state";

const CASES = [
  "",
  "from=skewed",
  "q=0.7,0.7,0.7,0.7,0.75",
  "q=0.7,0.7,0.7,0.7,0.75&from=skewed",
  "q=0.7,0.7,0.7",
  "q=1,1",
  "q=1,0.95",
  "q=0.05,0.05,0.05",
  "q=0.05,0.9,0.9&from=skewed",
  "q=1,0.05",
  "q=1,0.05&from=skewed",
  "q=1,1,1,1,1,1,1,1&from=skewed",
  "q=0.9,0.85,0.8,0.75,0.7,0.65,0.6,0.55",
  "q=0.05,1&from=skewed&a=0",
];

it.each(CASES)("shares stay shares and settle: %s", (text) => {
  state.value = { ...START, ...decode(text) };
  for (const { title, path } of paths.value) {
    for (const shares of path) {
      expect(
        shares.every((share) => share >= 0 && share <= 1),
        title,
      ).toBe(true);
      expect(shares.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
    }
    const late = path.slice(-3);
    const moved = late[0]!.map((share, a) => Math.abs(share - late[1]![a]!));
    expect(Math.max(...moved), `${title} still jumps`).toBeLessThan(0.01);
  }
});

const last = (title: string): readonly number[] => paths.value.find((one) => one.title === title)!.path.at(-1)!;

it("GRPO ends with one strategy, Poly-EPO and concave counts keep all", () => {
  state.value = START;
  expect(effectiveNumber(last("GRPO"))).toBeLessThan(1.2);
  expect(effectiveNumber(last("Poly-EPO"))).toBeGreaterThan(4);
  expect(effectiveNumber(last("Concave counts"))).toBeGreaterThan(4);
  expect(passAt1(last("GRPO"), START.success)).toBeGreaterThan(passAt1(last("Poly-EPO"), START.success));
});

it("equal strategies stay equal", () => {
  state.value = decode("q=0.7,0.7,0.7");
  for (const { path } of paths.value) for (const share of path.at(-1)!) expect(share).toBeCloseTo(1 / 3, 9);
});
