/** The run explorer: `setrl view`. */

import "../style.css";
import "./view.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { Tip } from "../components/Term";
import { type Run, type Runs, useAnswer } from "./api";
import { Problem } from "./problem/Problem";
import { Problems } from "./problems/Problems";
import { Metrics } from "./run/Metrics";
import { go, hash, route } from "./route";
import { chosenRun, RunList, viewsOf } from "./RunList";
import { Status } from "./Status";
import { visible } from "../components/visible";

const OF_RUNS = {
  metrics: Metrics,
  groups: Problems,
  group: Problem,
} as const;

function Explorer() {
  const asked = useAnswer<Runs>("runs", {}, ({ runs }) => runs.some(({ status }) => status === "running"));
  const { view } = route.value;
  useEffect(() => document.querySelector("h1")?.scrollIntoView({ block: "start" }), [view]);
  return (
    <main>
      <Status asked={asked}>{(runs) => <Page runs={runs} />}</Status>
      <Tip />
      <footer>This page only reads. It is served by setrl view on your machine and asks no other host.</footer>
    </main>
  );
}

/** A single log opens on its samples. */
function useOnlyLog({ runs }: Runs): void {
  useEffect(() => {
    const [only] = runs;
    if (!location.hash && only?.samples.length && runs.length === 1) go({ view: "groups", run: only.id }, true);
  }, []);
}

function Page({ runs }: { runs: Runs }) {
  useOnlyLog(runs);
  const { view } = route.value;
  const run = chosenRun(runs);
  if (view in OF_RUNS && run) {
    const View = OF_RUNS[view as keyof typeof OF_RUNS];
    return (
      <>
        <Head title={visible(run.name)} run={run} />
        <View key={run.id} run={run} />
      </>
    );
  }
  return (
    <>
      <Head title="Runs" />
      {view in OF_RUNS ? (
        <p class="warning" role="alert">
          There is no such run here (any more).
        </p>
      ) : null}
      <RunList runs={runs} />
    </>
  );
}

function Head({ title, run }: { title: string; run?: Run }) {
  const { view } = route.value;
  document.title = `${title} – setrl view`;
  return (
    <header>
      <p class="kind">setrl view</p>
      <h1>{title}</h1>
      <nav aria-label="Pages">
        <a href={hash({ view: "runs" })}>All runs</a>
        {run
          ? viewsOf(run).map(([name, label]) => (
              <a
                key={name}
                href={hash({ view: name }, { run: run.id })}
                aria-current={name === view ? "page" : undefined}
              >
                {label}
              </a>
            ))
          : null}
        {run?.has_report ? <a href={`report?run=${run.id}`}>Report</a> : null}
      </nav>
    </header>
  );
}

render(<Explorer />, document.getElementById("page")!);
