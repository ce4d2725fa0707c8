/** Success against diversity: every arm's pass@1 against its correct strategies and its pass@k. */

import { Figure } from "../components/Figure";
import { Scatter, type Spot } from "./Scatter";
import { armOf, type Frontier, hidden } from "./data";
import { percent, plain } from "../components/format";

/** The charts of a split; without the one that the page has above. */
export function FrontierCharts({ frontier, isAbove }: { frontier: Frontier; isAbove: boolean }) {
  const { split, k } = frontier;
  return (
    <div class="charts two">
      {isAbove ? null : <StrategyFront frontier={frontier} />}
      <Front
        frontier={frontier}
        up={`pass@${k}`}
        title={`pass@${k}, ${split} problems`}
        format={percent}
        tick={percentTick}
      />
    </div>
  );
}

/** pass@1 against the number of correct strategies. */
export function StrategyFront({ frontier }: { frontier: Frontier }) {
  const { split, k } = frontier;
  return (
    <Front
      frontier={frontier}
      up={`correct_strategies@${k}`}
      title={`Correct strategies in ${k} samples, ${split} problems`}
      format={plain}
      tick={String}
    />
  );
}

const percentTick = (value: number): string => `${Number((100 * value).toFixed(1))}%`;

interface PanelProps {
  frontier: Frontier;
  up: string;
  title: string;
  format: (value: number) => string;
  tick: (value: number) => string;
}

function Front({ frontier, up, title, format, tick }: PanelProps) {
  const all: Spot[] = Object.entries(frontier.points).flatMap(([arm, of]) => {
    const [x, y] = [of["pass@1"], of[up]];
    return x && y
      ? [
          {
            key: arm,
            look: armOf(arm),
            x: { value: x[0], low: x[1], high: x[2] },
            y: { value: y[0], low: y[1], high: y[2] },
          },
        ]
      : [];
  });
  if (all.length === 0) return null; // nothing is known of this metric
  return (
    <Figure
      title={title}
      file={`frontier_${up.split("@")[0]}_${frontier.split}`}
      rows={() => [
        ["arm", "pass@1", up, "pass@1 low", "pass@1 high", `${up} low`, `${up} high`],
        ...all.map(({ look, x, y }) => [
          look.label,
          x.value,
          y.value,
          x.low ?? null,
          x.high ?? null,
          y.low ?? null,
          y.high ?? null,
        ]),
      ]}
    >
      <Scatter
        spots={all.filter(({ key }) => !hidden.value.has(key))}
        title={title}
        height={280}
        x={{ label: "pass@1", format: percent, tick: percentTick }}
        y={{ label: up.replace("_", " "), format, tick }}
      />
    </Figure>
  );
}
