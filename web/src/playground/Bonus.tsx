/** Which wrong samples a diversity bonus pays, as the accuracy of the group and the bonus move. */

import { areaY, axisX, axisY, ruleY } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { Slider } from "../components/Controls";
import { weightNeeded } from "../maths";
import { change, parts } from "./state";

const now = parts("accuracy", "bonus");
const LARGEST = 4;
const MEAN = 1 / 8; // the mean diversity of the tutorial's group of eight
const DIVERSITIES = Array.from({ length: 99 }, (_, i) => (i + 2) / 100);

export function Bonus() {
  const { accuracy, bonus } = now.value;
  const needed = weightNeeded(accuracy, 1, MEAN).toFixed(2);
  const text = `The most different wrong sample gains above λ = ${needed}`;
  const slider = (label: string, key: "accuracy" | "bonus", max: number) => (
    <Slider
      label={label}
      value={now.value[key]}
      min={0.05}
      max={max}
      step={0.05}
      onInput={(next) => change({ [key]: next })}
    />
  );
  return (
    <>
      <div class="settings">
        {slider("p: accuracy", "accuracy", 1)}
        {slider("λ: bonus", "bonus", LARGEST)}
      </div>
      <p class="explanation" role="status">
        {text}.
      </p>
      <Chart
        label={text}
        height={260}
        options={() => ({
          marginBottom: 36,
          y: { domain: [0, LARGEST], clamp: true },
          marks: [
            areaY(DIVERSITIES, {
              x: (d: number) => d,
              y1: (d: number) => weightNeeded(accuracy, d, MEAN),
              y2: LARGEST,
              fill: "var(--bar)",
            }),
            ruleY([bonus]),
            axisX({ label: "diversity d →", ticks: 5 }),
            axisY({ label: "↑ λ; shaded: a wrong sample gains", ticks: 4 }),
          ],
        })}
      />
    </>
  );
}
