/** What is compared: presets, the objective and everything else that decides the credit. */

import { Choice, Slider } from "../components/Controls";
import { type Baseline, choose, type ObjectiveName, type Reduction, type Scale } from "../maths";
import { PRESETS } from "./presets";
import { type Credit, change, encode, group, largestSet, START } from "./state";

const OBJECTIVE_NAMES: readonly (readonly [ObjectiveName, string])[] = [
  ["polychromic", "polychromic"],
  ["any_correct", "pass@K"],
  ["max", "max@K"],
  ["majority", "majority vote"],
  ["mean", "mean reward"],
  ["distinct_correct", "strategies that succeed"],
];

const BASELINE_NAMES: readonly (readonly [Baseline, string])[] = [
  ["all_sets", "all sets: u − U"],
  ["leave_one_out", "sets without it: u − v"],
  ["smaller_sets", "smaller sets: u − w"],
  ["none", "none: u"],
];

const SCALE_NAMES: readonly (readonly [Scale, string])[] = [
  ["none", "none"],
  ["group_std", "÷ std of advantages"],
  ["score_std", "÷ std of set scores"],
];

export function Presets() {
  const now = textOf(group.value);
  const current = PRESETS.find((preset) => textOf(preset.state) === now);
  return (
    <div class="presets">
      <div class="segments" role="group" aria-label="Examples">
        {PRESETS.map((preset) => (
          <button
            key={preset.name}
            type="button"
            aria-pressed={preset === current}
            onClick={() => change(creditOf(preset.state))}
          >
            {preset.title}
          </button>
        ))}
      </div>
      <p class="note" role="status">
        {current?.note ?? "Your own group. The address of this page holds it: copy it to share what you see."}
      </p>
    </div>
  );
}

/** The part of the state that a preset sets; what the other panels show stays. */
function creditOf(preset: Credit): Credit {
  const { samples, graded, objective, setSize, baseline, reduction, scale, sets, lambda, alpha } = preset;
  return { samples, graded, objective, setSize, baseline, reduction, scale, sets, lambda, alpha };
}

const textOf = (credit: Credit): string => encode({ ...START, ...creditOf(credit) });

export function Settings() {
  const now = group.value;
  return (
    <div class="settings">
      <Choice
        label="Objective"
        term={now.objective}
        value={now.objective}
        options={OBJECTIVE_NAMES}
        onChange={(objective) => change({ objective })}
      />
      <Slider
        label="Set size K"
        term="setSize"
        value={now.setSize}
        min={1}
        max={largestSet(now.samples)}
        step={1}
        onInput={(setSize) => change({ setSize })}
      />
      <Choice
        label="Baseline"
        term={now.baseline}
        value={now.baseline}
        options={BASELINE_NAMES}
        onChange={(baseline) => change({ baseline })}
      />
      <Choice
        label="Reduction"
        term="reduction"
        value={now.reduction}
        options={[
          ["mean", "mean over its sets"],
          ["sum", "sum over its sets"],
        ]}
        onChange={(reduction: Reduction) => change({ reduction })}
      />
      <Choice
        label="Scale"
        term="scale"
        value={now.scale}
        options={SCALE_NAMES}
        onChange={(scale) => change({ scale })}
      />
      <SetChoice />
      <Slider
        label="λ of reward shaping"
        term="lambda"
        value={now.lambda}
        min={0}
        max={3}
        step={0.05}
        format={(value) => value.toFixed(2)}
        onInput={(lambda) => change({ lambda })}
      />
      <Slider
        label="α of concave counts"
        term="alpha"
        value={now.alpha}
        min={0}
        max={1}
        step={0.05}
        format={(value) => value.toFixed(2)}
        onInput={(alpha) => change({ alpha })}
      />
    </div>
  );
}

const newSeed = () => Math.floor(Math.random() * 1e6);

function SetChoice() {
  const { sets, samples, setSize } = group.value;
  const all = choose(samples.length, setSize).toLocaleString("en");
  const listed: readonly (readonly [typeof sets.kind, string])[] =
    sets.kind === "listed" ? [["listed", `the ${sets.lists.length} of the example`]] : [];
  return (
    <>
      <Choice
        label="Sets that are scored"
        term="sets"
        value={sets.kind}
        options={[["all", `all ${all}`], ["drawn", "drawn at random"], ...listed]}
        onChange={(kind) => change({ sets: kind === "drawn" ? { kind, count: 20, seed: newSeed() } : { kind: "all" } })}
      />
      {sets.kind === "drawn" ? (
        <div class="field draw">
          <label>
            <span class="field-name">How many</span>
            <input
              type="number"
              min={2}
              max={20000}
              value={sets.count}
              onChange={(event) => {
                const count = Math.round(event.currentTarget.valueAsNumber);
                if (count >= 2 && count <= 20000) change({ sets: { ...sets, count } });
              }}
            />
          </label>
          <button type="button" onClick={() => change({ sets: { ...sets, seed: newSeed() } })}>
            draw again
          </button>
        </div>
      ) : null}
    </>
  );
}
