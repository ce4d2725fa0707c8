/** All runs of the folder. */

import { Panel } from "../components/Controls";
import type { Run, Runs } from "./api";
import { lookOf } from "./looks";
import { hash, route, type View } from "./route";
import { Notes } from "./Status";
import { visible } from "../components/visible";

const KINDS = {
  comparison: "comparison of language models",
  control: "control run",
  log: "log of another tool",
  files: "files of samples",
} as const;

/** The views that a run has, the most telling first. */
export function viewsOf(run: Run): readonly (readonly [View, string])[] {
  const seeds = run.arms.flatMap((arm) => arm.seeds);
  const views: (readonly [View, string])[] = [];
  if (run.samples.length) views.push(["groups", "Samples"]);
  if (seeds.some((seed) => seed.has_metrics)) views.push(["metrics", "Metrics"]);
  return views;
}

export function RunList({ runs }: { runs: Runs }) {
  return (
    <>
      <Panel
        id="runs"
        title={`Runs in ${visible(runs.folder)}`}
        lead="Choose what to look at. Nothing here changes a run."
      >
        <Notes notes={runs.notes} />
        {runs.runs.length ? <RunTable runs={runs.runs} /> : <p>There is no run.</p>}
      </Panel>
    </>
  );
}

function RunTable({ runs }: { runs: readonly Run[] }) {
  return (
    <ul class="cards">
      {runs.map((run) => (
        <li key={run.id} class="card">
          <h3>{visible(run.name)}</h3>
          <p class="small">
            {[KINDS[run.kind], run.where === "." ? "" : visible(run.where), run.status, run.created?.slice(0, 16)]
              .filter(Boolean)
              .join(" · ")
              .replace("T", " ")}
          </p>
          {run.error ? <p class="warning">{visible(run.error)}</p> : null}
          <p class="small">{run.arms.map((arm) => lookOf(run, arm.name).label).join(", ")}</p>
          <nav aria-label={`Views of ${visible(run.name)}, ${visible(run.where)}`}>
            {viewsOf(run).map(([view, name]) => (
              <a key={view} href={hash({ view }, { run: run.id })}>
                {name}
              </a>
            ))}
          </nav>
          {run.command ? <code class="small">{visible(run.command)}</code> : null}
        </li>
      ))}
    </ul>
  );
}

export const chosenRun = (runs: Runs): Run | undefined => runs.runs.find((run) => run.id === route.value.run);
