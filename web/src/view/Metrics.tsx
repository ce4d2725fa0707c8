/** A dozen curves of a run, live while it trains. */

import * as Plot from "@observablehq/plot";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Chart } from "../components/Chart";
import { Panel } from "../components/Controls";
import { address, type Run } from "./api";
import { lookOf } from "./looks";
import { visible } from "./visible";

type Step = Readonly<Record<string, number | null>> & { readonly step: number };

interface Line {
  readonly arm: string;
  readonly seed: number;
  readonly keys: readonly string[];
  readonly steps: ReadonlyMap<number, Step>;
  readonly isLive: boolean;
}

const MOST_LIVE = 4; // a browser keeps six connections to a server, and the pages need some
const MOST_POINTS = 600;

/** The steps of training runs as they are logged; a step that is logged again counts once. */
function useLines(run: Run, arms: readonly string[]): readonly Line[] {
  const [lines, setLines] = useState<Readonly<Record<string, Line>>>({});
  const chosen = run.arms.filter((arm) => arms.includes(arm.name)).flatMap((arm) => arm.seeds.filter((seed) => seed.has_metrics).map(({ seed }) => ({ arm: arm.name, seed })));
  const isRunning = run.status === "running";
  const key = JSON.stringify([run.id, chosen, isRunning]);
  useEffect(() => {
    setLines({});
    const streams = chosen.map(({ arm, seed }, i) => {
      const isLive = isRunning && i < MOST_LIVE;
      const name = `${arm}/${seed}`;
      const change = (to: (line: Line) => Line): void =>
        setLines((known) => ({ ...known, [name]: to(known[name] ?? { arm, seed, keys: [], steps: new Map(), isLive }) }));
      const stream = new EventSource(address("metrics", { run: run.id, arm, seed, follow: isLive ? 1 : 0 }));
      stream.addEventListener("restart", (event) => {
        const { keys } = JSON.parse((event as MessageEvent<string>).data) as { keys: string[] };
        change((line) => ({ ...line, keys, steps: new Map() }));
      });
      stream.addEventListener("steps", (event) => {
        const steps = JSON.parse((event as MessageEvent<string>).data) as Step[];
        change((line) => ({ ...line, steps: new Map([...line.steps, ...steps.map((step) => [step.step, step] as const)]) }));
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
  return (
    <Panel id="metrics" title="Metrics" lead="The curves that say most about a run; each thin line is one seed.">
      <fieldset class="arms">
        <legend>Arms</legend>
        {all.map((name) => (
          <label key={name}>
            <input type="checkbox" checked={arms.includes(name)}
              onChange={(event) => setArms(event.currentTarget.checked ? [...arms, name] : arms.filter((one) => one !== name))} />
            <span class="line" aria-hidden="true" style={{ borderTopColor: lookOf(name, all).colour, borderTopStyle: lookOf(name, all).dash ? "dashed" : "solid" }} />
            {visible(name)}
          </label>
        ))}
      </fieldset>
      <p class="small" role="status">
        {run.status === "running" ? `Live: ${live} training runs; the others are shown as they were when the page was opened. ` : ""}
        {lines.map((line) => `${visible(line.arm)} seed ${line.seed}: ${line.steps.size} steps`).join(" · ")}
      </p>
      <div class="charts">
        {keys.map((key) => <Curves key={key} name={key} lines={lines} arms={all} />)}
      </div>
    </Panel>
  );
}

interface Point {
  readonly step: number;
  readonly value: number;
  readonly line: string;
  readonly arm: string;
}

/** At most 600 points of a curve; of more steps, every second, third, … one. */
function points(line: Line, name: string): readonly Point[] {
  const steps = [...line.steps.values()].sort((a, b) => a.step - b.step);
  const every = Math.ceil(steps.length / MOST_POINTS);
  return steps
    .filter((_, i) => i % every === 0 || i === steps.length - 1)
    .flatMap((step) => (step[name] == null ? [] : [{ step: step.step, value: step[name]!, line: `${line.arm}/${line.seed}`, arm: line.arm }]));
}

function Curves({ name, lines, arms }: { name: string; lines: readonly Line[]; arms: readonly string[] }) {
  const data = useMemo(() => lines.flatMap((line) => points(line, name)), [lines, name]);
  const last = lines.flatMap((line) => {
    const of = data.filter((point) => point.line === `${line.arm}/${line.seed}`).at(-1);
    return of ? [`${line.arm} seed ${line.seed}: ${of.value.toPrecision(3)}`] : [];
  });
  return (
    <figure>
      <figcaption><h3>{visible(name)}</h3></figcaption>
      <Chart
        label={`${visible(name)} by step; last values: ${last.map(visible).join(", ")}`}
        height={180}
        options={() => ({
          marginLeft: 48,
          x: { label: "step", nice: true },
          y: { label: null, grid: true, nice: true, ...(data.every(({ value }) => value === 0) ? { domain: [0, 1] } : {}) },
          marks: arms.map((arm) =>
            Plot.line(data.filter((point) => point.arm === arm), {
              x: "step", y: "value", z: "line", stroke: lookOf(arm, arms).colour, strokeWidth: 1.4,
              ...(lookOf(arm, arms).dash ? { strokeDasharray: lookOf(arm, arms).dash } : {}),
            })),
        })}
      />
    </figure>
  );
}
