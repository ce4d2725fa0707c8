/** An audit as pictures: what a formula pushes towards, and which strategies it keeps. */

import { areaY, axisX, axisY, line, ruleY, text } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { letter, strategyColour } from "../components/Swatch";
import { Term } from "../components/Term";
import { along, type Audit, SUCCESS, TIMES, written } from "../maths";

export function Gradient({ audit }: { audit: Audit }) {
  const { nearest } = audit;
  const rows = along(audit);
  const name = nearest ? written(nearest) : "";
  const at = rows[Math.floor(rows.length / 2)]!;
  return (
    <figure>
      <figcaption>
        <h3>
          The <Term name="meanUpdate">mean update</Term> towards right samples
        </h3>
        <p class="key">
          <span>
            <Line dash="" colour="var(--accent)" /> your formula
          </span>
          {nearest ? (
            <span>
              <Line dash="7 5" colour="var(--ink)" /> {name}
            </span>
          ) : null}
        </p>
      </figcaption>
      <Chart
        label={`At a success rate of 50% the formula pushes towards right samples with ${at.own.toFixed(3)}${nearest ? `, and ${name} with ${at.nearest.toFixed(3)}` : ""}.`}
        height={220}
        options={() => ({
          marginLeft: 48,
          marginBottom: 44,
          x: { domain: [0, 1] },
          y: { nice: true },
          marks: [
            ruleY([0], { stroke: "var(--muted)" }),
            line(rows, { x: "success", y: "own", stroke: "var(--accent)", strokeWidth: 3 }),
            line(nearest ? rows : [], {
              x: "success",
              y: "nearest",
              stroke: "var(--ink)",
              strokeWidth: 2,
              strokeDasharray: "7 5",
            }),
            axisX({ label: "success rate of the policy →", labelAnchor: "right", ticks: 5, tickFormat: "%" }),
            axisY({ label: null, ticks: 5 }),
          ],
        })}
      />
    </figure>
  );
}

const Line = ({ dash, colour }: { dash: string; colour: string }) => (
  <svg width="30" height="10" aria-hidden="true">
    <line x1="0" x2="30" y1="5" y2="5" stroke={colour} stroke-width="3" stroke-dasharray={dash} />
  </svg>
);

interface Layer {
  readonly time: number;
  readonly a: number;
  readonly low: number;
  readonly high: number;
}

export function Leads({ audit: { survivors } }: { audit: Audit }) {
  const layers = TIMES.flatMap((time, at): Layer[] => {
    let low = 0;
    return time === 0 ? [] : survivors.path[at]!.map((share, a) => ({ time, a, low, high: (low += share) }));
  });
  const last = survivors.path.at(-1)!;
  const rates = SUCCESS.map((rate, a) => `${letter(a)} ${Math.round(100 * rate)}%`).join(", ");
  return (
    <figure>
      <figcaption>
        <h3>Where it leads on one prompt</h3>
        <p class="key">Three strategies, right in: {rates}</p>
      </figcaption>
      <Chart
        label={`Shares in the end: ${last.map((share, a) => `${letter(a)} ${(100 * share).toFixed(1)}%`).join(", ")}.`}
        height={220}
        options={() => ({
          marginLeft: 48,
          marginBottom: 44,
          x: { type: "log", domain: [1, TIMES.at(-1)!] },
          y: { domain: [0, 1] },
          marks: [
            areaY(layers, {
              x: "time",
              y1: "low",
              y2: "high",
              z: "a",
              fill: (layer: Layer) => strategyColour(layer.a),
              stroke: "var(--paper)",
              strokeWidth: 0.8,
            }),
            text(
              layers.filter(({ time, high, low }) => time === TIMES.at(-1) && high - low > 0.07),
              {
                x: "time",
                y: (layer: Layer) => (layer.low + layer.high) / 2,
                dx: -10,
                text: (layer: Layer) => letter(layer.a),
                fill: "#111",
                stroke: "#fff",
                strokeWidth: 3,
                fontWeight: 700,
              },
            ),
            axisX({ label: "learning rate × steps →", labelAnchor: "right", ticks: 4, tickFormat: "~s" }),
            axisY({ label: null, ticks: 3, tickFormat: "%" }),
          ],
        })}
      />
    </figure>
  );
}
