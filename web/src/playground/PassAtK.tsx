/** pass@k of two portfolios of strategies: a broad one and a narrow one. */

import { axisX, axisY, dot, line, text } from "@observablehq/plot";
import { Chart } from "../components/Chart";
import { Segments, Slider } from "../components/Controls";
import { passAtK } from "../maths";
import { change, parts } from "./state";

const now = parts("broad", "narrow", "chance");
const KS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;

type Portfolio = { readonly count: number; readonly success: number };

export function PassAtK() {
  const { broad, narrow, chance } = now.value;
  const curve = ({ count, success }: Portfolio) => {
    const shares = new Array<number>(count).fill(1 / count);
    const rates = new Array<number>(count).fill(success);
    return KS.map((k) => ({ k, value: passAtK(shares, rates, k, chance) }));
  };
  const [one, other] = [curve(broad), curve(narrow)];
  const crossing = KS.find((_, at) => one[at]!.value > other[at]!.value);
  return (
    <>
      <div class="settings">
        <Editor name="broad" value={broad} onChange={(next) => change({ broad: next })} />
        <Editor name="narrow" value={narrow} onChange={(next) => change({ narrow: next })} />
      </div>
      <div class="below">
        <Segments
          label="What success depends on"
          value={chance}
          options={[
            ["problem", "a strategy works on some problems, always"],
            ["attempt", "every attempt is luck"],
          ]}
          onChange={(next) => change({ chance: next })}
        />
      </div>
      <p class="explanation" role="status">
        pass@1: broad {percent(one[0]!.value)}, narrow {percent(other[0]!.value)}. pass@32: broad{" "}
        {percent(one[5]!.value)}, narrow {percent(other[5]!.value)}.{" "}
        {crossing === undefined
          ? "The broad portfolio is not ahead at any k shown."
          : `The broad portfolio is ahead from k = ${crossing}.`}
      </p>
      <Chart
        label={`pass@k of the broad portfolio: ${words(one)}; of the narrow one: ${words(other)}.`}
        height={260}
        options={() => ({
          marginLeft: 44,
          marginRight: 58,
          marginBottom: 40,
          x: { type: "log", base: 2, domain: [1, 256] },
          y: { domain: [0, 1] },
          marks: [
            line(other, { x: "k", y: "value", stroke: "var(--ink)", strokeWidth: 2, strokeDasharray: "6 3" }),
            dot(other, { x: "k", y: "value", fill: "var(--ink)", symbol: "square", r: 3.5 }),
            line(one, { x: "k", y: "value", stroke: "var(--accent)", strokeWidth: 2 }),
            dot(one, { x: "k", y: "value", fill: "var(--accent)", r: 3.5 }),
            text([one.at(-1)!], {
              x: "k",
              y: "value",
              text: ["broad"],
              textAnchor: "start",
              dx: 8,
              dy: gap(one, other),
              fill: "var(--ink)",
            }),
            text([other.at(-1)!], {
              x: "k",
              y: "value",
              text: ["narrow"],
              textAnchor: "start",
              dx: 8,
              dy: -gap(one, other),
              fill: "var(--ink)",
            }),
            axisX({ label: "k: samples that may be tried →", labelAnchor: "right", ticks: KS, tickFormat: "d" }),
            axisY({ label: "↑ pass@k", ticks: 4, tickFormat: "%" }),
          ],
        })}
      />
    </>
  );
}

type Curve = readonly { readonly k: number; readonly value: number }[];

const words = (curve: Curve): string =>
  curve
    .filter(({ k }) => k === 1 || k === 32 || k === 256)
    .map(({ k, value }) => `${percent(value)} at k = ${k}`)
    .join(", ");

/** Labels at the ends of two lines must not touch. */
const gap = (one: Curve, other: Curve): number => {
  const apart = one.at(-1)!.value - other.at(-1)!.value;
  return Math.abs(apart) > 0.08 ? 0 : apart >= 0 ? -7 : 7;
};

function Editor({ name, value, onChange }: { name: string; value: Portfolio; onChange: (next: Portfolio) => void }) {
  return (
    <>
      <Slider
        label={`${name}: strategies`}
        term="portfolio"
        value={value.count}
        min={1}
        max={10}
        step={1}
        onInput={(count) => onChange({ ...value, count })}
      />
      <Slider
        label={`${name}: success of each`}
        term="success"
        value={value.success}
        min={0}
        max={1}
        step={0.05}
        format={(now) => `${Math.round(100 * now)}%`}
        onInput={(success) => onChange({ ...value, success })}
      />
    </>
  );
}
