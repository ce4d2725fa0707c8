/** The problems of a log: searched, narrowed, sorted, and opened from the keyboard. */

import { useEffect } from "preact/hooks";
import { Panel } from "../../components/Controls";
import { Term } from "../../components/Term";
import { type Groups as Answer, type Run, useAnswer } from "../api";
import { picked } from "../Pick";
import { go, route } from "../route";
import { Status } from "../Status";
import { MIXED, Narrow } from "./Narrow";
import { Table } from "./Table";

export function Problems({ run }: { run: Run }) {
  const { sort, desc = "1", show = MIXED, text = "", from = "0", step = "all", deep, beside } = route.value;
  const at = picked(run);
  const query = at && { ...at.about, step, sort: sort ?? "surprise", desc, show, text, from, deep, beside };
  const isLive = run.status === "running";
  const asked = useAnswer<Answer>(
    "groups",
    query,
    (found) => found.progress !== null || (found.searched ?? 1) < 1 || isLive,
  );
  // Where no problem is mixed, as in a log without grades, all are shown.
  const isEmpty = asked.found?.chosen === 0 && asked.found.total > 0 && asked.found.progress === null;
  useEffect(() => {
    if (isEmpty && route.value.show === undefined && !text) go({ show: "all" }, true);
  }, [isEmpty]);
  if (!at) return <p class="warning">This run has logged no samples.</p>;
  return (
    <Panel
      id="groups"
      title="Samples, problem by problem"
      lead={
        <>
          A row is a problem with all its <Term name="sample">samples</Term>
          {at.training.steps.length > 1 ? " of one step" : ""}.<span class="by-key"> j and k move, Enter opens.</span>
        </>
      }
    >
      <Narrow run={run} at={at} found={asked.found} />
      <Status asked={asked}>
        {(found) => <Table found={found} at={at} sort={sort ?? "surprise"} desc={desc} show={show} />}
      </Status>
    </Panel>
  );
}
