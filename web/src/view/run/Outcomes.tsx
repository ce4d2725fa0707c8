/** What the arms of a control run achieved: success against diversity, and every metric. */

import { Panel } from "../../components/Controls";
import { useHidden } from "../../components/hidden";
import { Key } from "../../components/Key";
import { type OutcomeTable, Outcomes as Shown } from "../../components/Outcomes";
import { visible } from "../../components/visible";
import { type Run, useAnswer } from "../api";
import { lookOf } from "../looks";
import { Status } from "../Status";

type Answer = OutcomeTable & { readonly verdict: readonly string[] };

export function Outcomes({ run }: { run: Run }) {
  const asked = useAnswer<Answer>("outcomes", { run: run.id });
  return (
    <Panel
      id="outcomes"
      title="Outcomes"
      lead="Every arm's last policy in the environment. Compare arms with the same success: an arm that is more diverse and less successful may be no better."
    >
      <Status asked={asked}>{(found) => <Table run={run} found={found} />}</Status>
    </Panel>
  );
}

function Table({ run, found }: { run: Run; found: Answer }) {
  const names = found.arms.map(({ arm }) => arm);
  const [hidden, toggle] = useHidden();
  return (
    <>
      {found.verdict.map((text) => (
        <p key={text}>{visible(text)}</p>
      ))}
      <Key looks={names.map((name) => ({ key: name, ...lookOf(run, name) }))} hidden={hidden} onToggle={toggle} />
      <Shown table={found} look={(arm) => lookOf(run, arm)} hidden={hidden} />
    </>
  );
}
