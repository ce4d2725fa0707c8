/** Every arm's pass@1 against its diversity and its pass@k, with intervals. */

import { axisX, axisY, dot, pointer, ruleX, ruleY, text, tip } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { Figure } from "../components/Figure";
import { armOf, type Frontier, hidden } from "./data";
import { percent, plain } from "./format";

export function FrontierCharts({ frontier }: { frontier: Frontier }) {
  const { split, k } = frontier;
  return (
    <div class="charts two">
      <Panel frontier={frontier} up={`correct_strategies@${k}`} title={`Correct strategies in ${k} samples, ${split} problems`} format={plain} />
      <Panel frontier={frontier} up={`pass@${k}`} title={`pass@${k}, ${split} problems`} format={percent} />
    </div>
  );
}

interface Spot {
  readonly arm: string;
  readonly x: number;
  readonly y: number;
  readonly ends: readonly (number | null)[];
}

function Panel({ frontier, up, title, format }: { frontier: Frontier; up: string; title: string; format: (value: number) => string }) {
  const all: Spot[] = Object.entries(frontier.points).flatMap(([arm, of]) => {
    const [x, y] = [of["pass@1"], of[up]];
    return x && y ? [{ arm, x: x[0], y: y[0], ends: [x[1], x[2], y[1], y[2]] }] : [];
  });
  const spots = all.filter(({ arm }) => !hidden.value.has(arm));
  const hue = ({ arm }: Spot): string => armOf(arm).hue;
  const label = ({ arm }: Spot): string => armOf(arm).label;
  const words = (spot: Spot): string => `${label(spot)}\npass@1 ${percent(spot.x)}\n${up.replace("_", " ")} ${format(spot.y)}`;
  return (
    <Figure
      title={title}
      file={`frontier_${up.split("@")[0]}_${frontier.split}`}
      rows={() => [
        ["arm", "pass@1", up, "pass@1 low", "pass@1 high", `${up} low`, `${up} high`],
        ...all.map((spot) => [label(spot), spot.x, spot.y, ...spot.ends]),
      ]}
    >
      <Chart
        height={280}
        label={`${title}: ${spots.map((spot) => words(spot).replaceAll("\n", ", ")).join("; ")}.`}
        options={() => ({
          marginLeft: 50,
          marginRight: 24,
          marginTop: 24,
          marginBottom: 38,
          inset: 14,
          marks: [
            ruleY(spots, { y: "y", x1: ({ ends }: Spot) => ends[0]!, x2: ({ ends }: Spot) => ends[1]!, stroke: hue, strokeOpacity: 0.7 }),
            ruleX(spots, { x: "x", y1: ({ ends }: Spot) => ends[2]!, y2: ({ ends }: Spot) => ends[3]!, stroke: hue, strokeOpacity: 0.7 }),
            ...spots.map((spot) => dot([spot], { x: "x", y: "y", fill: hue(spot), symbol: armOf(spot.arm).symbol as "circle", r: 6, stroke: "var(--paper)" })),
            ...spots.map((spot) =>
              text([spot], { x: "x", y: "y", text: label, dy: -12, fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 4,
                textAnchor: spot.x > middle(spots) ? "end" : "start" }),
            ),
            axisX({ label: "pass@1 →", labelAnchor: "right", ticks: 4, tickFormat: (value: number) => `${Number((100 * value).toFixed(1))}%` }),
            axisY({ label: null, ticks: 5, tickFormat: up.startsWith("pass") ? (value: number) => `${Number((100 * value).toFixed(1))}%` : String }),
            tip(spots, pointer({ x: "x", y: "y", title: words, fill: "var(--paper)", stroke: "var(--muted)", fontSize: 12 })),
          ],
        })}
      />
    </Figure>
  );
}

const middle = (spots: readonly Spot[]): number => {
  const xs = spots.map(({ x }) => x);
  return (Math.min(...xs) + Math.max(...xs)) / 2;
};
