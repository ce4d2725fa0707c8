/** A dozen curves of a run, live while it trains. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { Choice, Panel } from "../../components/Controls";
import { Curves } from "../../components/Curves";
import { Figure } from "../../components/Figure";
import { Line as Piece } from "../../components/Key";
import { address, type Run } from "../api";
import { lookOf } from "../looks";
import { StepSlider } from "../Pick";
import { go, route } from "../route";
import { points, type Step, withoutCredit } from "./steps";
import { visible } from "../../components/visible";

interface Line {
  readonly arm: string;
  readonly seed: number;
  readonly keys: readonly string[];
  readonly steps: ReadonlyMap<number, Step>;
  readonly isLive: boolean;
}

const MOST_LIVE = 4; // a browser keeps six connections to a server, and the pages need some
const WINDOWS = [1, 5, 20, 50];

/** The steps of training runs as they are logged; a step that is logged again counts once. */
function useLines(run: Run, arms: readonly string[]): readonly Line[] {
  const [lines, setLines] = useState<Readonly<Record<string, Line>>>({});
  const chosen = run.arms
    .filter((arm) => arms.includes(arm.name))
    .flatMap((arm) => arm.seeds.filter((seed) => seed.has_metrics).map(({ seed }) => ({ arm: arm.name, seed })));
  const isRunning = run.status === "running";
  const key = JSON.stringify([run.id, chosen, isRunning]);
  useEffect(() => {
    setLines({});
    const streams = chosen.map(({ arm, seed }, i) => {
      const isLive = isRunning && i < MOST_LIVE;
      const name = `${arm}/${seed}`;
      const change = (to: (line: Line) => Line): void =>
        setLines((known) => ({
          ...known,
          [name]: to(known[name] ?? { arm, seed, keys: [], steps: new Map(), isLive }),
        }));
      const stream = new EventSource(address("metrics", { run: run.id, arm, seed, follow: isLive ? 1 : 0 }));
      stream.addEventListener("restart", (event) => {
        const { keys } = JSON.parse((event as MessageEvent<string>).data) as { keys: string[] };
        change((line) => ({ ...line, keys, steps: new Map() }));
      });
      stream.addEventListener("steps", (event) => {
        const steps = JSON.parse((event as MessageEvent<string>).data) as Step[];
        change((line) => ({
          ...line,
          steps: new Map([...line.steps, ...steps.map((step) => [step.step, step] as const)]),
        }));
      });
      stream.addEventListener("end", () => stream.close());
      return stream;
    });
    return () => streams.forEach((stream) => stream.close());
  }, [key]);
  return chosen.flatMap(({ arm, seed }) => lines[`${arm}/${seed}`] ?? []);
}

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
          ? `Live: ${live} training runs; the others are shown as they were when the page was opened. `
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
      {lines.some((line) => withoutCredit(line.steps.values()).length) ? (
        <p class="warning">
          Red lines: steps in which no group of a training run had credit, so that nothing was learned.
        </p>
      ) : null}
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

/** The training run whose groups a click leads to: of the arms that are shown, the first that logged any. */
interface Logged {
  readonly arm: string;
  readonly seed: number;
  readonly steps: readonly number[];
}

function loggedGroups(run: Run, shown: readonly string[]): Logged | null {
  for (const arm of run.arms.filter(({ name }) => shown.includes(name)).reverse()) {
    const found = arm.seeds.find(({ steps }) => steps.length);
    if (found) return { arm: arm.name, seed: found.seed, steps: found.steps };
  }
  return null;
}

/** The logged step that is nearest to a step: not every step has its samples logged. */
export const nearest = (steps: readonly number[], step: number): number =>
  steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best), steps[0]!);

const toGroups = ({ arm, seed, steps }: Logged, step: number): void =>
  go({ view: "groups", arm, seed, step: nearest(steps, step), from: undefined, place: undefined });

/** The same way to the groups of a step for readers without a mouse. */
function GroupsOfStep({ logged }: { logged: Logged }) {
  const [step, setStep] = useState(logged.steps[0]!);
  return (
    <div class="settings">
      <StepSlider steps={logged.steps} step={step} onStep={setStep} />
      <div class="field">
        <div class="field-name">
          of {visible(logged.arm)}, seed {logged.seed}
        </div>
        <button type="button" onClick={() => toGroups(logged, step)}>
          groups of step {step}
        </button>
      </div>
    </div>
  );
}

interface MetricProps {
  name: string;
  lines: readonly Line[];
  run: Run;
  window: number;
  onPick: ((step: number) => void) | undefined;
}

const short = (value: number): string => String(Number(value.toPrecision(4))).replace("-", "−");

function Metric({ name, lines, run, window, onPick }: MetricProps) {
  const curves = useMemo(
    () =>
      lines
        .map((line) => ({
          look: {
            ...lookOf(run, line.arm),
            ...(lines.some((one) => one.arm === line.arm && one !== line)
              ? { label: `${lookOf(run, line.arm).label} seed ${line.seed}` }
              : {}),
          },
          points: points(line.steps.values(), name, window),
        }))
        .filter((curve) => curve.points.length),
    [lines, name, window],
  );
  const alarms = useMemo(() => [...new Set(lines.flatMap((line) => withoutCredit(line.steps.values())))], [lines]);
  const last = curves.map(({ look, points: of }) => `${look.label}: ${of.at(-1)!.y.toPrecision(3)}`);
  const isFlat = curves.every(({ points: of }) => of.every(({ y }) => y === 0));
  return (
    <Figure
      title={visible(name)
        .split(/(?<=[/_])/)
        .flatMap((part) => [part, <wbr key={part} />])}
      file={name.replaceAll(/[^\w@]+/g, "_")}
      rows={() => [
        ["line", "step", name],
        ...curves.flatMap(({ look, points: of }) => of.map(({ x, y }) => [look.label, x, y])),
      ]}
    >
      <Curves
        curves={curves}
        height={190}
        label={`${visible(name)} by step; last values: ${last.join(", ")}`}
        x={{ label: "step", name: "step" }}
        y={{ label: "", format: short, tick: short, domain: isFlat ? [0, 1] : undefined }}
        onPick={onPick}
        alarms={alarms}
      />
    </Figure>
  );
}
