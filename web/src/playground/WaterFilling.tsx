/** Which strategies keep a share at the optimum, as the weight of variety moves. */

import { axisX, axisY, barY, line, ruleX, ruleY, text } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { Slider } from "../components/Controls";
import { letter, strategyColour } from "../components/Swatch";
import { Term } from "../components/Term";
import { waterFilling } from "../maths";
import { change, parts } from "./state";

const now = parts("success", "mixture");
const WEIGHTS = Array.from({ length: 96 }, (_, i) => (i + 5) / 100);
const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;

export function WaterFilling() {
  const { success, mixture } = now.value;
  const { shares, level, passAt1 } = waterFilling(success, mixture);
  const kept = shares.filter((share) => share > 0).length;
  const rows = success.map((s, a) => ({ name: letter(a), s, share: shares[a]!, a }));
  const curve = WEIGHTS.map((weight) => ({ weight, ...waterFilling(success, weight) }));
  return (
    <>
      <div class="settings">
        <Slider
          label="α: weight of variety"
          term="mixture"
          value={mixture}
          min={0.05}
          max={1}
          step={0.01}
          format={(value) => value.toFixed(2)}
          onInput={(next) => change({ mixture: next })}
        />
      </div>
      <p class="explanation" role="status">
        {kept} of {success.length} strategies keep a share. The <Term name="waterFilling">water line</Term> is at a
        success of {percent(Math.max(0, level))}; pass@1 is <strong>{percent(passAt1)}</strong>, and the best strategy
        alone would give {percent(Math.max(...success))}. The success rates are those of the panel above.
      </p>
      <div class="charts two">
        <figure>
          <figcaption>
            <h3>Success and water line</h3>
          </figcaption>
          <Chart
            label={`Success: ${rows.map((row) => `${row.name} ${percent(row.s)}`).join(", ")}; water line ${percent(level)}.`}
            height={220}
            options={() => ({
              marginLeft: 44,
              marginBottom: 36,
              y: { domain: [0, 1] },
              marks: [
                barY(rows, { x: "name", y: "s", fill: "var(--bar)" }),
                barY(
                  rows.filter((row) => row.s > level),
                  {
                    x: "name",
                    y1: Math.max(0, level),
                    y2: "s",
                    fill: (row: { a: number }) => strategyColour(row.a),
                  },
                ),
                ruleY([Math.max(0, level)], { stroke: "var(--ink)", strokeDasharray: "4 3", strokeWidth: 1.5 }),
                text(rows, {
                  x: "name",
                  y: 0,
                  dy: -9,
                  text: (row: { share: number }) => percent(row.share),
                  fill: "var(--ink)",
                }),
                axisX({ label: null }),
                axisY({ label: "↑ success (in the bars: share at the optimum)", ticks: 4, tickFormat: "%" }),
              ],
            })}
          />
        </figure>
        <figure>
          <figcaption>
            <h3>The price in pass@1</h3>
          </figcaption>
          <Chart
            label={`pass@1 falls from ${percent(curve[0]!.passAt1)} at α = 0.05 to ${percent(curve.at(-1)!.passAt1)} at α = 1.`}
            height={220}
            options={() => ({
              marginLeft: 44,
              marginRight: 20,
              marginBottom: 36,
              y: { domain: [Math.min(...success), Math.max(...success)], nice: true },
              marks: [
                line(curve, { x: "weight", y: "passAt1", stroke: "var(--accent)", strokeWidth: 2 }),
                ruleX([mixture], { stroke: "var(--ink)" }),
                axisX({ label: "α: weight of variety →", labelAnchor: "right", ticks: 5 }),
                axisY({ label: "↑ pass@1", ticks: 4, tickFormat: "%" }),
              ],
            })}
          />
        </figure>
      </div>
    </>
  );
}
