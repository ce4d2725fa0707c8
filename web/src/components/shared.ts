/** Curves that show the same values up to their end: one line there, with the names of all. */

import type { Curve, Point } from "./Curves";

export interface Shared {
  readonly points: readonly Point[];
  /** Of all curves that end so; empty where another line has told them. */
  readonly names: readonly string[];
}

/** Each curve up to where it joins others, and the lines that follow. */
export function shared(
  curves: readonly Curve[],
  format: (value: number) => string,
): { own: readonly (readonly Point[])[]; lines: readonly Shared[] } {
  const tail = (a: Curve, b: Curve): number => {
    let length = 0;
    for (; length < Math.min(a.points.length, b.points.length); length++) {
      const [one, other] = [a.points.at(-1 - length)!, b.points.at(-1 - length)!];
      if (one.x !== other.x || format(one.y) !== format(other.y) || !Number.isFinite(one.y)) break;
    }
    return length;
  };
  const most = curves.map((a) => Math.max(0, ...curves.map((b) => (a === b ? 0 : tail(a, b)))));
  const lines: { curve: Curve; length: number }[] = [];
  const longest = [...curves.keys()].filter((i) => most[i]! > 1).sort((i, j) => most[j]! - most[i]!);
  for (const i of longest)
    if (!lines.some(({ curve }) => tail(curve, curves[i]!) >= most[i]!))
      lines.push({ curve: curves[i]!, length: most[i]! });
  return {
    own: curves.map(({ points }, i) => (most[i]! > 1 ? points.slice(0, points.length - most[i]! + 1) : points)),
    lines: lines.map(({ curve, length }, at) => ({
      points: curve.points.slice(-length),
      names: lines.slice(0, at).some((before) => tail(before.curve, curve) > 1)
        ? []
        : curves.filter((other) => other === curve || tail(other, curve) > 1).map(({ look }) => look.label),
    })),
  };
}
