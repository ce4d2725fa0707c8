/** How the shares of strategies change in training, on average: one method beside the other. */

import { areaY, axisX, axisY, ruleX, text } from "@observablehq/plot";
import { computed, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Chart } from "../components/Chart";
import { Segments, Slider } from "../components/Controls";
import { letter, strategyColour, Swatch } from "../components/Swatch";
import { Term } from "../components/Term";
import {
  countsDynamics,
  creditSpread,
  type Dynamics,
  effectiveNumber,
  expectedSteps,
  grpoDynamics,
  maxpoDynamics,
  passAt1,
  passAtK,
  polyEpoDynamics,
} from "../maths";
import { change, parts, state, STEPS } from "./state";

export const SAMPLES = 16; // of each step
export const SET_SIZE = 4;
export const RATE = 0.6; // of credit with a standard deviation of 1 before training, for every method alike
const NOTHING = 1e-9; // credit that differs by less is rounding error

const METHODS: readonly (readonly [string, Dynamics])[] = [
  ["GRPO", grpoDynamics],
  ["Poly-EPO", polyEpoDynamics],
  ["MaxPO", maxpoDynamics],
  ["Concave counts", countsDynamics],
];

const playing = signal(false);

const before = parts("success", "start", "alpha");
const time = parts("step");

/** Uneven success, and the shares before the first step. */
const setup = computed(() => {
  const { success, start, alpha } = before.value;
  const size = success.length;
  const skewed = success.map((_, a) => (a === 0 ? 0.6 : 0.4 / (size - 1)));
  return { success, shares: start === "even" ? success.map(() => 1 / size) : skewed, alpha };
});

/** The shares after each step, for each method; computed again only when the setup changes. */
export const paths = computed(() => {
  const { success, shares, alpha } = setup.value;
  const how = { samples: SAMPLES, setSize: SET_SIZE, alpha };
  return METHODS.map(([title, dynamics]) => {
    const spread = creditSpread(dynamics, shares, { success }, how);
    const rate = spread > NOTHING ? RATE / spread : 0;
    return { title, path: expectedSteps(dynamics, shares, { success }, how, rate, STEPS) };
  });
});

export function Collapse() {
  const { success, start } = before.value;
  const { step } = time.value;
  usePlay();
  return (
    <>
      <div class="settings">
        {success.map((value, a) => (
          <Slider
            key={a}
            label={`success of ${letter(a)}`}
            term="success"
            value={value}
            min={0.05}
            max={1}
            step={0.05}
            format={(now) => `${Math.round(100 * now)}%`}
            onInput={(now) => change({ success: success.map((old, b) => (b === a ? now : old)), step: 0 })}
          />
        ))}
      </div>
      <div class="below">
        <button
          type="button"
          disabled={success.length >= 8}
          onClick={() => change({ success: [...success, 0.5], step: 0 })}
        >
          + strategy
        </button>
        <button
          type="button"
          disabled={success.length <= 2}
          onClick={() => change({ success: success.slice(0, -1), step: 0 })}
        >
          − strategy
        </button>
        <Segments
          label="Shares before training"
          value={start}
          options={[
            ["even", "even start"],
            ["skewed", "A starts at 60%"],
          ]}
          onChange={(next) => change({ start: next, step: 0 })}
        />
      </div>
      <Player step={step} />
      <div class="charts">
        {paths.value.map(({ title, path }) => (
          <Shares key={title} title={title} path={path} success={success} step={step} />
        ))}
      </div>
    </>
  );
}

/** Moves on by a few steps at each frame while it plays; stops at the end. */
function usePlay(): void {
  const on = playing.value;
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => {
      const next = Math.min(STEPS, state.peek().step + 4);
      change({ step: next });
      if (next === STEPS) playing.value = false;
    }, 60);
    return () => clearInterval(timer);
  }, [on]);
}

function Player({ step }: { step: number }) {
  const play = () => {
    if (!playing.value && step === STEPS) change({ step: 0 });
    playing.value = !playing.value;
  };
  return (
    <div class="player">
      <button type="button" class="primary" onClick={play}>
        {playing.value ? "❚❚ pause" : "▶ play"}
      </button>
      <button type="button" disabled={step >= STEPS} onClick={() => change({ step: step + 1 })}>
        one step
      </button>
      <button type="button" onClick={() => change({ step: 0 })}>
        back to the start
      </button>
      <Slider
        label="training step"
        value={step}
        min={0}
        max={STEPS}
        step={1}
        onInput={(now) => change({ step: now })}
      />
    </div>
  );
}

interface SharesProps {
  title: string;
  path: readonly (readonly number[])[];
  success: readonly number[];
  step: number;
}

export function Shares({ title, path, success, step }: SharesProps) {
  const now = path[step]!;
  const words = now.map((share, a) => `${letter(a)} ${percent(share)}`).join(", ");
  return (
    <figure>
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <Chart
        label={`${title}: shares after ${step} steps: ${words}.`}
        height={170}
        options={() => ({
          marginLeft: 46,
          marginRight: 14,
          marginBottom: 32,
          x: { domain: [0, STEPS] },
          y: { domain: [0, 1] },
          marks: [
            areaY(layers(path, step), {
              x: "step",
              y1: "low",
              y2: "high",
              z: "strategy",
              fill: (d: Layer) => strategyColour(d.strategy),
              stroke: "var(--paper)",
              strokeWidth: 0.8,
            }),
            text(
              layers(path, step).filter((d) => d.step === step && step > 24 && d.high - d.low > 0.07),
              {
                x: "step",
                y: (d: Layer) => (d.low + d.high) / 2,
                dx: -8,
                text: (d: Layer) => letter(d.strategy),
                fill: "#111",
                stroke: "#fff",
                strokeWidth: 3,
                fontWeight: 700,
              },
            ),
            ruleX([step], { stroke: "var(--ink)" }),
            axisX({ label: "step →", ticks: 5, labelAnchor: "right" }),
            axisY({ label: null, ticks: 3, tickFormat: "%" }),
          ],
        })}
      />
      <ul class="shares">
        {now.map((share, a) => (
          <li key={a}>
            <Swatch strategy={a} size={14} /> {percent(share)}
          </li>
        ))}
      </ul>
      <dl class="facts">
        <div>
          <dt>
            <Term name="effective">effective strategies</Term>
          </dt>
          <dd>{effectiveNumber(now).toFixed(2)}</dd>
        </div>
        <div>
          <dt>pass@1</dt>
          <dd>{percent(passAt1(now, success))}</dd>
        </div>
        <div>
          <dt>
            <Term name="passAtK">pass@32</Term>
          </dt>
          <dd>{percent(passAtK(now, success, 32, "problem"))}</dd>
        </div>
      </dl>
    </figure>
  );
}

const percent = (value: number): string => `${(100 * value).toFixed(1)}%`;

interface Layer {
  readonly step: number;
  readonly strategy: number;
  readonly low: number;
  readonly high: number;
}

/** The shares up to a step as stacked layers, every few steps. */
function layers(path: readonly (readonly number[])[], until: number): Layer[] {
  const found: Layer[] = [];
  const steps = [...new Set([...Array.from({ length: Math.floor(until / 8) + 1 }, (_, i) => 8 * i), until])];
  for (const step of steps) {
    let low = 0;
    for (const [strategy, share] of path[step]!.entries()) {
      found.push({ step, strategy, low, high: low + share });
      low += share;
    }
  }
  return found;
}
