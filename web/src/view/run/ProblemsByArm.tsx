/** How often each problem is solved, by arm. */

import { useState } from "preact/hooks";
import { visible } from "../../components/visible";
import type { Evaluation as Answer, Run } from "../api";
import { lookOf } from "../looks";
import { percent } from "./known";

export function ProblemsByArm({ run, found }: { run: Run; found: Answer }) {
  const [shown, setShown] = useState(25);
  const { arms, rows, problems } = found.matrix;
  return (
    <>
      <div class="scroll" role="region" aria-label="Problems by arm" tabIndex={0}>
        <table class="matrix">
          <caption>How often each problem is solved, by arm: the largest differences first</caption>
          <thead>
            <tr>
              <th scope="col">problem</th>
              {arms.map((arm) => (
                <th key={arm} scope="col">
                  {lookOf(run, arm).label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <tr key={row.prompt}>
                <th scope="row">{visible(row.prompt)}</th>
                {row.shares.map((share, i) => (
                  <td key={arms[i]}>
                    <span class="share">
                      <span style={{ width: `${100 * share}%` }} />
                    </span>
                    {percent(share)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown < rows.length ? (
        <button type="button" onClick={() => setShown(shown + 100)}>
          show more of {problems} problems
        </button>
      ) : null}
    </>
  );
}
