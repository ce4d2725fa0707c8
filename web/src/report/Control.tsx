/** The report of a control run: who succeeds, who has more ways, and how the training went. */

import { Panel } from "../components/Controls";
import { Key } from "../components/Key";
import { Outcomes } from "./Outcomes";
import { armOf, type Control, hidden, toggle } from "./data";
import { seconds } from "../components/format";
import { Training } from "./Training";

export function ControlPage({ data }: { data: Control }) {
  return (
    <>
      <header>
        <p class="kind">setrl report · control</p>
        <h1>{data.name}</h1>
        {data.verdict.length ? (
          <div class="in-words">
            {data.verdict.map((text) => (
              <p key={text}>{text}</p>
            ))}
          </div>
        ) : (
          <p class="note">Nothing has been evaluated yet: this run has no evaluation of a finished arm.</p>
        )}
      </header>
      {data.outcomes.arms.length ? (
        <Panel
          id="outcomes"
          title="Success and diversity"
          lead="Up and to the right is better. Compare arms with the same success: an arm that is more diverse and less successful may be no better."
        >
          <Key looks={data.outcomes.arms.map(({ arm }) => armOf(arm))} hidden={hidden.value} onToggle={toggle} />
          <Outcomes table={data.outcomes} look={armOf} hidden={hidden.value} />
        </Panel>
      ) : null}
      {data.training.length ? (
        <Panel
          id="training"
          title="Training"
          lead="Thick lines: mean over seeds; thin lines: each seed; all are rolling means over a tenth of the run, and end where the arm’s shortest seed ends. The steps of vines count. Point at a curve to read its values."
        >
          <Training panels={data.training} x={{ label: "environment steps", name: "environment step" }} />
        </Panel>
      ) : null}
      {data.time.length ? (
        <Panel
          id="time"
          title="What it cost"
          lead="All seeds together. A control run does not log how the seconds of a step are spent."
        >
          <Cost data={data} />
        </Panel>
      ) : null}
    </>
  );
}

function Cost({ data }: { data: Control }) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="What the training took">
      <table>
        <caption class="hidden">What the training took</caption>
        <thead>
          <tr>
            <th scope="col">arm</th>
            <th scope="col">runs</th>
            <th scope="col">environment steps</th>
            <th scope="col">time</th>
          </tr>
        </thead>
        <tbody>
          {data.time.map(({ arm, runs, steps, seconds: all }) => (
            <tr key={arm}>
              <th scope="row">{armOf(arm).label}</th>
              <td>{runs}</td>
              <td>{steps.toLocaleString("en")}</td>
              <td>{all === null ? "not logged" : seconds(all)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
