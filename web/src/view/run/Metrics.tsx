/** A dozen curves of a run, live while it trains. */

import { useState } from "preact/hooks";
import { Choice, Panel } from "../../components/Controls";
import { Line as Piece } from "../../components/Key";
import type { Run } from "../api";
import { lookOf } from "../looks";
import { go, route } from "../route";
import { GroupsOfStep, loggedGroups, toGroups } from "./GroupsOfStep";
import { type Line, useLines } from "./lines";
import { Metric } from "./Metric";
import { inWords, withoutCredit } from "./steps";

const WINDOWS = [1, 5, 20, 50];

export function Metrics({ run }: { run: Run }) {
  const all = run.arms.filter((arm) => arm.seeds.some((seed) => seed.has_metrics)).map((arm) => arm.name);
  const [arms, setArms] = useState<readonly string[]>(all);
  const lines = useLines(run, arms);
  const keys = [...new Set(lines.flatMap((line) => line.keys))];
  const live = lines.filter((line) => line.isLive).length;
  const window = WINDOWS.find((size) => String(size) === route.value.smooth) ?? 1;
  const logged = loggedGroups(run, arms);
  return (
    <Panel
      id="metrics"
      title="Metrics"
      lead={`The curves that say most about a run; each line is one seed. Point at a curve to read its values.${logged ? " Click at a step to see its groups." : ""}`}
    >
      <fieldset class="arms">
        <legend>Arms</legend>
        {all.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={arms.includes(name)}
              onChange={(event) =>
                setArms(event.currentTarget.checked ? [...arms, name] : arms.filter((one) => one !== name))
              }
            />
            <Piece look={lookOf(run, name)} /> {lookOf(run, name).label}
          </label>
        ))}
      </fieldset>
      <p class="small" role="status">
        {run.status === "running"
          ? `Live: ${live} of ${lines.length} training ${lines.length === 1 ? "run" : "runs"}. `
          : ""}
        {lines.map((line) => `${lookOf(run, line.arm).label} seed ${line.seed}: ${line.steps.size} steps`).join(" · ")}
      </p>
      {logged ? <GroupsOfStep logged={logged} /> : null}
      <div class="settings">
        <Choice
          label="Smoothing"
          value={String(window)}
          options={WINDOWS.map((size) => [String(size), size === 1 ? "none" : `mean of ${size} values`] as const)}
          onChange={(size) => go({ smooth: size === "1" ? undefined : size }, true)}
        />
      </div>
      <WithoutCredit lines={lines} run={run} />
      <div class="charts">
        {keys.map((key) => (
          <Metric
            key={key}
            name={key}
            lines={lines}
            run={run}
            window={window}
            onPick={logged ? (step) => toGroups(logged, step) : undefined}
          />
        ))}
      </div>
    </Panel>
  );
}

/** One sentence on the steps that taught nothing; marks above the curves show which they are. */
function WithoutCredit({ lines, run }: { lines: readonly Line[]; run: Run }) {
  const found = lines
    .map((line) => ({ line, steps: withoutCredit(line.steps.values()) }))
    .filter(({ steps }) => steps.length);
  if (!found.length) return null;
  const [only] = found;
  const where =
    found.length === 1
      ? `${lookOf(run, only!.line.arm).label}, seed ${only!.line.seed}, at ${inWords(only!.steps)}`
      : found
          .map(({ line, steps }) => `${lookOf(run, line.arm).label} seed ${line.seed} in ${steps.length}`)
          .join(", ");
  const steps = found.length === 1 ? "" : ` of ${Math.max(...lines.map((line) => line.steps.size))} steps`;
  return (
    <p class="warning">
      No group had credit, so that nothing was learned, at the marked steps: {where}
      {steps}.
    </p>
  );
}
