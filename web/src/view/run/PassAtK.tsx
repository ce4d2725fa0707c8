/** pass@k of arms with bands, or its differences to one arm. */

import { Curves } from "../../components/Curves";
import { Figure } from "../../components/Figure";
import { visible } from "../../components/visible";
import type { Curve, Evaluation as Answer, Run } from "../api";
import { lookOf } from "../looks";
import { percent, points } from "./known";

interface PlotProps {
  found: Answer;
  curves: readonly Curve[];
  hidden: ReadonlySet<string>;
  run: Run;
  zero: boolean;
}

export function PassAtK({ run, found, curves, hidden, zero }: PlotProps) {
  const name = (arm: string): string => lookOf(run, arm).label;
  const title = zero ? `difference to ${name(found.reference)}, in points` : "pass@k, with bands for all k at once";
  const format = zero ? points : percent;
  const shown = curves.filter(({ name }) => !hidden.has(name));
  const spoken = shown.map(
    (curve) =>
      `${name(curve.name)}: ${found.shown_ks.map((k, i) => `${k}: ${format(curve.intervals[i]![0])}`).join(", ")}`,
  );
  const drawn = shown.map((curve) => ({
    look: lookOf(run, curve.name),
    points: found.ks.map((k, i) => ({ x: k, y: curve.values[i] ?? NaN, low: curve.low[i], high: curve.high[i] })),
  }));
  return (
    <Figure
      title={title}
      file={zero ? "pass_at_k_difference" : "pass_at_k"}
      rows={() => [
        ["arm", "k", "value", "low for all k", "high for all k"],
        ...curves.flatMap((curve) =>
          found.ks.map((k, i) => [
            visible(curve.name),
            k,
            curve.values[i] ?? null,
            curve.low[i] ?? null,
            curve.high[i] ?? null,
          ]),
        ),
      ]}
    >
      {drawn.length ? (
        <Curves
          curves={drawn}
          height={300}
          label={`${zero ? `difference of pass@k to ${name(found.reference)}` : "pass@k"} by k. ${spoken.map(visible).join(". ")}`}
          x={{ label: "k, tries", name: "k =", isLog: true, ticks: found.shown_ks }}
          y={{
            label: zero ? "points" : "pass@k",
            format,
            tick: (value) => format(value).replace(".0", ""),
            domain: zero ? undefined : [0, 1],
          }}
          zero={zero}
        />
      ) : (
        <p class="note">All arms are hidden.</p>
      )}
    </Figure>
  );
}
