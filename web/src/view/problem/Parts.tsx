/** The three parts of Poly-EPO's credit of one sample. */

import { SignedBar } from "../../components/SignedBar";
import { Term } from "../../components/Term";
import type { Group } from "../api";
import { largest } from "./against";

export function Parts({ group, i }: { group: Group; i: number }) {
  const { parts } = group;
  if (!("total" in parts) || parts.total[i] == null) return null;
  const rows = [
    ["rewardPart", "reward", parts.reward],
    ["diversityPart", "diversity", parts.diversity],
    ["covariancePart", "both together", parts.covariance],
    ["polyEpo", "sum: Poly-EPO's advantage", parts.total],
  ] as const;
  const most = largest(rows.map(([, , values]) => values[i] ?? 0));
  return (
    <table class="parts-of-one">
      <caption>
        The parts of Poly-EPO's credit (<Term name="eq15">Equation 15</Term>)
      </caption>
      <thead>
        <tr>
          <th scope="col">part</th>
          <th scope="col">advantage</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([term, name, values]) => (
          <tr key={term}>
            <th scope="row">
              <Term name={term}>{name}</Term>
            </th>
            <td data-part={term} data-value={values[i] ?? ""}>
              <SignedBar value={values[i] ?? 0} largest={most} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
