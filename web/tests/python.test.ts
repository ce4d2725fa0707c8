/** "Copy as Python": each script is a file, which `tests/lab/test_playground.py` runs. */

import { expect, it } from "vitest";
import { PRESETS } from "../src/playground/presets";
import { pythonOf } from "../src/playground/python";
import { results } from "../src/playground/results";
import { decode, encode, state } from "../src/playground/state";

const STATES = {
  start: "",
  worked: encode(PRESETS.find(({ name }) => name === "worked")!.state),
  drawn: "s=1A1B0C0A1D0-1A0B&f=any_correct&k=3&b=smaller_sets&d=group_std&sets=12,7&l=1.5&a=0.25",
  graded: "s=0.3A1B0.7-0.5A0C1A&g=1&f=max&k=2&b=leave_one_out&r=sum&d=score_std",
  majority: "s=1A0B0B0C1D0C&f=majority&k=3&b=none&sets=5,1",
};

it.each(Object.entries(STATES))("%s", async (name, text) => {
  state.value = decode(text);
  expect(encode(state.value)).toBe(text);
  await expect(pythonOf(state.value)).toMatchFileSnapshot(`snippets/${name}.py`);
  const { columns } = results.value;
  const shown = columns.map(({ title, values }) => [title, values]);
  await expect(JSON.stringify(Object.fromEntries(shown), null, 1)).toMatchFileSnapshot(`snippets/${name}.json`);
});
