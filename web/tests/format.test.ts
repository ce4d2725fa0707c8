import { expect, test } from "vitest";

import { difference, percent, points } from "../src/components/format";

test("a half goes away from 0, however its sum was rounded", () => {
  expect(100 * 0.5125).not.toBe(51.25);
  expect([percent(0.5125), points(0.5125), points(-0.5125)]).toEqual(["51.3%", "+51.3", "−51.3"]);
  expect([difference(1.005), difference(-0.001), percent(1)]).toEqual(["+1.00", "0.00", "100.0%"]);
});
