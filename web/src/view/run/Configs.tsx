/** How the configs of two runs differ. */

import { Choice, Panel } from "../../components/Controls";
import { type ConfigDifference, type Runs, useAnswer } from "../api";
import { go, route } from "../route";
import { Status } from "../Status";
import { visible } from "../../components/visible";

export function Configs({ runs }: { runs: Runs }) {
  const known = runs.runs.filter((run) => run.has_config);
  const first = route.value.first ?? known[0]?.id;
  const second = route.value.second ?? known.find((run) => run.id !== first)?.id;
  const asked = useAnswer<ConfigDifference>("configs", first && second ? { first, second } : null);
  const options = known.map((run) => [run.id, visible(run.where === "." ? run.name : run.where)] as const);
  if (!first || !second) return <p>Two runs with a config are needed.</p>;
  return (
    <Panel id="configs" title="Two configs" lead="The keys whose values differ; a dash is a key that the config lacks.">
      <div class="settings">
        <Choice label="First run" value={first} options={options} onChange={(chosen) => go({ first: chosen })} />
        <Choice label="Second run" value={second} options={options} onChange={(chosen) => go({ second: chosen })} />
      </div>
      <Status asked={asked}>
        {(found) => (
          <div class="scroll" role="region" aria-label="Keys that differ" tabIndex={0}>
            <table class="rows">
              <caption>
                {found.different.length} keys differ, {found.equal} are equal
              </caption>
              <thead>
                <tr>
                  <th scope="col">key</th>
                  {found.names.map((name, i) => (
                    <th key={i} scope="col">
                      {visible(name)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {found.different.map(([key, one, other]) => (
                  <tr key={key}>
                    <th scope="row">{visible(key)}</th>
                    <td>{visible(one)}</td>
                    <td>{visible(other)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Status>
    </Panel>
  );
}
