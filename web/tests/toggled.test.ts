import { describe, expect, it } from "vitest";
import { toggled } from "../src/components/toggled";

describe("hidden curves", () => {
  it("are hidden by one press and shown by the next, and others stay", () => {
    const before = new Set(["grpo"]);
    const hidden = toggled(before, "maxpo");
    expect([...hidden]).toEqual(["grpo", "maxpo"]);
    expect([...before]).toEqual(["grpo"]); // the same set again would draw nothing anew
    expect([...toggled(hidden, "maxpo")]).toEqual(["grpo"]);
  });
});
