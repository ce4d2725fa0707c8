/** The logged steps of training runs, as they come; a few are followed while they train. */

import { useEffect, useState } from "preact/hooks";
import { address, type Run } from "../api";
import type { Step } from "./steps";

/** The steps of one training run. */
export interface Line {
  readonly arm: string;
  readonly seed: number;
  readonly keys: readonly string[];
  readonly steps: ReadonlyMap<number, Step>;
  readonly isLive: boolean;
}

const MOST_LIVE = 4; // a browser keeps six connections to a server, and the pages need some

/** The steps of training runs as they are logged; a step that is logged again counts once. */
export function useLines(run: Run, arms: readonly string[]): readonly Line[] {
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
