/** Which wrong samples a diversity bonus pays, as the accuracy of the group and the bonus move. */

import { areaY, axisX, axisY, dot, ruleX, ruleY } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { Slider } from "../components/Controls";
import { Term } from "../components/Term";
import { diversityPaid, weightNeeded } from "../maths";
import { change, parts } from "./state";

const now = parts("bonus");
const LARGEST = 4;
const DIVERSITIES = Array.from({ length: 201 }, (_, i) => i / 200);
const two = (value: number): string => value.toFixed(2);

export function Bonus() {
  const { bonus } = now.value;
  const { accuracy, weight, mean } = bonus;
  const least = diversityPaid(accuracy, weight, mean);
  const alone = weightNeeded(accuracy, 1, mean);
  const paid = DIVERSITIES.map((d) => ({ d, needed: weightNeeded(accuracy, d, mean) })).filter(
    ({ needed }) => needed <= LARGEST,
  );
  const set = (part: Partial<typeof bonus>) => change({ bonus: { ...bonus, ...part } });
  return (
    <>
      <div class="settings">
        <Slider
          label="p: accuracy of the group"
          value={accuracy}
          min={0}
          max={1}
          step={0.01}
          format={two}
          onInput={(next) => set({ accuracy: next })}
        />
        <Slider
          label="λ: the bonus"
          term="lambda"
          value={weight}
          min={0.05}
          max={LARGEST}
          step={0.05}
          format={two}
          onInput={(next) => set({ weight: next })}
        />
        <Slider
          label="mean diversity"
          value={mean}
          min={0}
          max={0.95}
          step={0.01}
          format={two}
          onInput={(next) => set({ mean: next })}
        />
      </div>
      <p class="explanation" role="status">
        {least < 1 ? (
          <>
            A wrong sample gains if its diversity is above <strong>{two(least)}</strong>.
          </>
        ) : (
          <>
            <strong>No wrong sample gains</strong>: the most different one would need a λ above {two(alone)}.
          </>
        )}{" "}
        The shaded region shrinks as p rises and never vanishes: at p = 1 it begins at λ ={" "}
        {two(weightNeeded(1, 1, mean))}. <Term name="lambda">λ</Term> has to follow the accuracy; the product of reward
        and diversity has no λ.
      </p>
      <Chart
        label={`A wrong sample of diversity 1 gains above λ = ${two(alone)}; λ is ${two(weight)}.`}
        height={260}
        options={() => ({
          marginLeft: 44,
          marginRight: 20,
          marginBottom: 36,
          x: { domain: [0, 1] },
          y: { domain: [0, LARGEST] },
          marks: [
            areaY(paid, { x: "d", y1: "needed", y2: LARGEST, fill: "var(--accent)", fillOpacity: 0.2 }),
            ruleX([mean], { stroke: "var(--muted)", strokeDasharray: "4 3" }),
            ruleY([weight], { stroke: "var(--ink)", strokeWidth: 1.5 }),
            dot(least < 1 ? [{ d: least, weight }] : [], { x: "d", y: "weight", r: 4, fill: "var(--ink)" }),
            axisX({ label: "diversity of the sample →", labelAnchor: "right", ticks: 5 }),
            axisY({ label: "↑ λ; shaded: a wrong sample gains", ticks: 4 }),
          ],
        })}
      />
    </>
  );
}
