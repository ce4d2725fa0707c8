/** Names of dots in a chart: they cover neither each other nor a dot, where there is room. */

import { expect, it } from "vitest";
import { placesOfNames } from "../src/report/names";

const LETTER = 6; // pixels, at least

/** The left and right ends of a name, and its height. */
function span(dot: { x: number; y: number; name: string }, place: { dx: number; dy: number; textAnchor: string }) {
  const wide = LETTER * dot.name.length;
  const left = dot.x + place.dx - { start: 0, middle: wide / 2, end: wide }[place.textAnchor]!;
  return { left, right: left + wide, y: dot.y + place.dy };
}

it("near dots have names that do not touch", () => {
  const dots = [
    { x: 100, y: 100, name: "GRPO" },
    { x: 118, y: 101, name: "counts" },
    { x: 104, y: 112, name: "base temperature 0.5" },
  ];
  const found = placesOfNames(dots, 400, 280).map((place, at) => span(dots[at]!, place));
  for (const [at, one] of found.entries())
    for (const other of found.slice(at + 1))
      expect(one.right < other.left || other.right < one.left || Math.abs(one.y - other.y) >= 12).toBe(true);
});

it("a name stays inside the chart", () => {
  const dot = { x: 395, y: 8, name: "Poly-EPO" };
  const { left, right, y } = span(dot, placesOfNames([dot], 400, 280)[0]!);
  expect(left).toBeGreaterThanOrEqual(0);
  expect(right).toBeLessThanOrEqual(400);
  expect(y).toBeGreaterThan(7);
});
