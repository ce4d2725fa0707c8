/** Success against diversity: every arm's pass@1 against its correct strategies. */

import { Figure } from "../components/Figure";
import { Scatter, type Spot } from "./Scatter";
import { armOf, type Frontier, hidden } from "./data";
import { percent, plain } from "../components/format";

const percentTick = (value: number): string => `${Number((100 * value).toFixed(1))}%`;

export function StrategyFront({ frontier }: { frontier: Frontier }) {
  const { split, k } = frontier;
  const up = `correct_strategies@${k}`;
  const title = `Correct strategies in ${k} samples, ${split} problems`;
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
  return (
    <Figure
      title={title}
      file={`frontier_correct_strategies_${split}`}
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
        y={{ label: up.replace("_", " "), format: plain, tick: String }}
      />
    </Figure>
  );
}
