/** pass@k of all arms with bands, differences, the first k at which an arm loses, problems by arm. */

import { Choice, Panel } from "../../components/Controls";
import { useHidden } from "../../components/hidden";
import { Key } from "../../components/Key";
import { Term } from "../../components/Term";
import { visible } from "../../components/visible";
import { type ArmCurve, type Evaluation as Answer, type Run, useAnswer } from "../api";
import { lookOf } from "../looks";
import { go, route } from "../route";
import { Notes, Status } from "../Status";
import { PassAtK } from "./PassAtK";
import { PassAtKNumbers } from "./PassAtKNumbers";
import { ProblemsByArm } from "./ProblemsByArm";
import { Verdicts } from "./Verdicts";

export function Evaluation({ run }: { run: Run }) {
  const { split, against } = route.value;
  const asked = useAnswer<Answer>("evaluation", { run: run.id, split, against });
  return (
    <Panel
      id="evaluation"
      title="Evaluation"
      lead={
        <>
          <Term name="passAtK">pass@k</Term> of every arm on the same problems. A band holds the whole true curve at
          once; an interval holds the value at one k.
        </>
      }
    >
      <Status asked={asked}>{(found) => <Shown run={run} found={found} />}</Status>
    </Panel>
  );
}

/** How many samples each problem has: one number, or from the fewest to the most. */
function sizes(arms: readonly ArmCurve[]): string {
  const [fewest, most] = [
    Math.min(...arms.map(({ samples }) => samples)),
    Math.max(...arms.map(({ most_samples: many }) => many)),
  ];
  return fewest === most ? `${fewest} samples of each` : `${fewest} to ${most} samples of each; k goes up to ${fewest}`;
}

function Shown({ run, found }: { run: Run; found: Answer }) {
  const names = found.arms.map(({ name }) => name);
  const [hidden, toggle] = useHidden();
  return (
    <>
      <div class="settings">
        <Choice
          label="Problems"
          value={found.split}
          options={found.splits.map((one) => [one, visible(one)] as const)}
          onChange={(split) => go({ split })}
        />
        {names.length > 1 ? (
          <Choice
            label="Compare with"
            value={found.reference}
            options={names.map((one) => [one, lookOf(run, one).label] as const)}
            onChange={(against) => go({ against })}
          />
        ) : null}
      </div>
      <Notes notes={found.notes} />
      <p class="small">
        {found.problems} problems, {sizes(found.arms)}. Bands and intervals: {100 * found.level}%, over problems
        {found.arms.some(({ seeds }) => seeds > 1) ? " and seeds" : ""}.
      </p>
      <Key looks={names.map((name) => ({ key: name, ...lookOf(run, name) }))} hidden={hidden} onToggle={toggle} />
      <div class="charts two">
        <PassAtK found={found} curves={found.arms} hidden={hidden} run={run} zero={false} />
        {found.differences.length ? (
          <PassAtK found={found} curves={found.differences} hidden={hidden} run={run} zero />
        ) : null}
      </div>
      {found.differences.length ? <Verdicts run={run} found={found} /> : null}
      <PassAtKNumbers run={run} found={found} />
      <ProblemsByArm run={run} found={found} />
    </>
  );
}
