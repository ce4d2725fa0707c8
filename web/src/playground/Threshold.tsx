/** When reward shaping encourages a wrong sample: λ·d > p + λ·d̄. */

import { areaY, axisX, axisY, dot, line, ruleX } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { Slider } from "../components/Controls";
import { signed } from "../components/SignedBar";
import { Term } from "../components/Term";
import { bonusNeeded, shapedCreditOfWrong } from "../maths";
import { change, parts, type State } from "./state";

const now = parts("threshold");
const POINTS = Array.from({ length: 101 }, (_, i) => i / 100);

export function Threshold() {
  const { threshold } = now.value;
  const { p, lambda, d, dMean } = threshold;
  const set = (part: Partial<State["threshold"]>) => change({ threshold: { ...threshold, ...part } });
  const credit = shapedCreditOfWrong(p, lambda, d, dMean);
  const needed = bonusNeeded(p, d, dMean);
  const two = (value: number) => value.toFixed(2);
  return (
    <>
      <div class="settings">
        <Slider
          label="p: share correct"
          value={p}
          min={0}
          max={1}
          step={0.01}
          format={two}
          onInput={(v) => set({ p: v })}
        />
        <Slider
          label="λ"
          term="lambda"
          value={lambda}
          min={0}
          max={5}
          step={0.05}
          format={two}
          onInput={(v) => set({ lambda: v })}
        />
        <Slider
          label="d of the wrong sample"
          value={d}
          min={0}
          max={1}
          step={0.01}
          format={two}
          onInput={(v) => set({ d: v })}
        />
        <Slider
          label="d̄: mean of the group"
          value={dMean}
          min={0}
          max={1}
          step={0.01}
          format={two}
          onInput={(v) => set({ dMean: v })}
        />
      </div>
      <p class="explanation" role="status">
        The wrong sample gets <Term name="threshold">λ·d − p − λ·d̄</Term> = {two(lambda * d)} − {two(p)} −{" "}
        {two(lambda * dMean)} = <strong>{signed(credit, 2)}</strong>, so it is made{" "}
        <strong>{credit > 0 ? "more" : credit < 0 ? "less" : "neither more nor less"} likely</strong>. In the shaded
        area of the chart a wrong sample is made more likely.{" "}
        {Number.isFinite(needed)
          ? `It needs λ > ${two(needed)}.`
          : "No λ is large enough, because the sample is not more diverse than its group."}
      </p>
      <Chart
        label={`The least diversity that a wrong sample needs rises with the share of correct samples; at p = ${two(p)} it is ${lambda > 0 ? two(p / lambda + dMean) : "out of reach"}.`}
        height={260}
        options={() => ({
          marginLeft: 48,
          marginBottom: 40,
          x: { domain: [0, 1] },
          y: { domain: [0, 1] },
          marks: [
            areaY(POINTS, {
              x: (x: number) => x,
              y1: (x: number) => Math.min(1, lambda > 0 ? x / lambda + dMean : 1),
              y2: 1,
              fill: "var(--accent)",
              fillOpacity: 0.28,
            }),
            line(
              POINTS.filter((x) => lambda > 0 && x / lambda + dMean <= 1),
              {
                x: (x: number) => x,
                y: (x: number) => x / lambda + dMean,
                stroke: "var(--accent)",
                strokeWidth: 2,
              },
            ),
            ruleX([p], { stroke: "var(--muted)", strokeDasharray: "3 3" }),
            dot([[p, d]], {
              fill: credit > 0 ? "var(--plus)" : "var(--minus)",
              r: 7,
              stroke: "var(--paper)",
              symbol: credit > 0 ? "circle" : "times",
            }),
            axisX({ label: "p: share of correct samples in the group →", labelAnchor: "right" }),
            axisY({ label: "↑ d: how rare the wrong sample's strategy is", ticks: 5 }),
          ],
        })}
      />
    </>
  );
}
