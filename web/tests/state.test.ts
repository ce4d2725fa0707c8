/** The address holds the whole state, and no address breaks the page. */

import { expect, it } from "vitest";
import { PRESETS } from "../src/playground/presets";
import { results } from "../src/playground/results";
import { decode, encode, START, state } from "../src/playground/state";

it("every part of the state survives the address", () => {
  const text =
    "s=0.3A1-0H1B&g=1&f=majority&k=2&b=none&r=sum&d=score_std&sets=7,99&l=2.5&a=0.25&one=1&q=1,0.5,0.25" +
    "&from=skewed&t=40&mix=0.3&p=0.9&bonus=2&p1=3,0.4&p2=1,1&luck=attempt";
  const read = decode(text);
  expect(encode(read)).toBe(text);
  for (const key of Object.keys(START) as (keyof typeof START)[]) expect(read[key]).not.toEqual(START[key]);
});

it.each([
  "s=1A", // too few samples
  `s=${"1A".repeat(17)}`,
  "s=1Z1A",
  "s=1A1A<script>",
  "k=0",
  "k=1.5",
  "k=NaN",
  "f=constructor",
  "f=__proto__",
  "sets=0.0",
  "sets=1.1_2.2",
  "sets=-1",
  "q=0,0",
  "q=1",
  "t=1e9",
  "est=r - mean(r)&n=4", // of a version that audited formulas
  "p1=11,0.5",
  "mix=0",
  "bonus=0",
  "=&&===",
  "%E0%A4%A",
])("%s leaves the start as it is", (text) => {
  expect(decode(text)).toEqual(START);
});

it("numbers that do not fit each other are repaired", () => {
  expect(decode("s=1A0B&k=9").setSize).toBe(1);
  expect(decode("s=1A0B1C&k=2&sets=1.9_1.2").sets).toEqual({ kind: "all" });
  expect(decode("s=1A0B1C&k=1&sets=1.3_1.2").sets).toEqual({ kind: "all" });
});

it("no preset has a value that is not a number", () => {
  for (const preset of PRESETS) {
    state.value = preset.state;
    for (const { values } of results.value.columns) for (const value of values) expect(value).toBeTypeOf("number");
    for (const { values } of results.value.columns) expect(values.every(Number.isFinite)).toBe(true);
  }
});

const chosen = (name: string): readonly number[] => {
  state.value = PRESETS.find((preset) => preset.name === name)!.state;
  return results.value.columns.find(({ key }) => key === "chosen")!.values;
};

it("what the notes of presets say: three sets by hand, and seven correct A and one wrong B", () => {
  const worked = chosen("worked").map((value) => value.toFixed(6));
  expect(worked).toEqual(["-0.166667", "0.333333", "-0.333333", "0.166667"]);
  const values = chosen("rare-wrong");
  expect(values[7]).toBeCloseTo(1 / 16, 12);
  expect(values[0]).toBeCloseTo(-1 / 112, 12);
  for (const name of ["monoculture", "white-light"]) expect(new Set(chosen(name))).toEqual(new Set([0]));
});
