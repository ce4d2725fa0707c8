import { describe, expect, it } from "vitest";
import type { Curve } from "../src/components/Curves";
import { percent } from "../src/components/format";
import { shared } from "../src/components/shared";

const curve = (label: string, ...ys: number[]): Curve => ({
  look: { label, hue: "", dash: "", symbol: "circle" },
  points: ys.map((y, x) => ({ x, y })),
});

describe("curves that show the same up to their end", () => {
  it("are one line there, with the names of all", () => {
    const curves = [curve("a", 0.5, 1, 1, 1), curve("b", 0.4, 0.9, 1, 0.9999), curve("c", 0.1, 0.2, 0.3, 0.4)];
    const { own, lines } = shared(curves, percent);
    expect(own.map((points) => points.length)).toEqual([3, 3, 4]); // a is alone until b joins it
    expect(lines.map(({ names, points }) => [names, points.map(({ x }) => x)])).toEqual([
      [
        ["a", "b"],
        [2, 3],
      ],
    ]);
  });

  it("are named once where pairs join each other", () => {
    const curves = [curve("a", 1, 1, 1, 1), curve("b", 1, 1, 1, 1), curve("c", 0, 0, 1, 1), curve("d", 0, 0, 1, 1)];
    const { lines } = shared(curves, percent);
    expect(lines.map(({ names }) => names)).toEqual([["a", "b", "c", "d"], []]);
  });

  it("stay alone where they only meet, or end at other places", () => {
    expect(shared([curve("a", 0, 1), curve("b", 0.5, 1)], percent).lines).toEqual([]);
    expect(shared([curve("a", 1, 1, 1), curve("b", 1, 1)], percent).lines).toEqual([]);
  });
});
