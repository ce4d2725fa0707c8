/** pass@k and paired differences in numbers, with intervals. */

import type { ArmCurve, Difference, Evaluation as Answer, Run } from "../api";
import { lookOf } from "../looks";
import { percent, points } from "./known";

export function PassAtKNumbers({ run, found }: { run: Run; found: Answer }) {
  const row = (curve: ArmCurve | Difference, shown: (share: number | null | undefined) => string, kind: string) => (
    <tr key={kind + curve.name}>
      <th scope="row">
        {kind}
        {lookOf(run, curve.name).label}
      </th>
      {curve.intervals.map(([value, low, high], i) => (
        <td key={found.shown_ks[i]}>
          {shown(value)}{" "}
          <small>
            [{shown(low)}, {shown(high)}]
          </small>
        </td>
      ))}
    </tr>
  );
  return (
    <div class="scroll" role="region" aria-label="pass@k in numbers" tabIndex={0}>
      <table class="numbers">
        <caption>pass@k and paired differences, with the interval at each k</caption>
        <thead>
          <tr>
            <th scope="col">k</th>
            {found.shown_ks.map((k) => (
              <th key={k} scope="col">
                {k}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {found.arms.map((arm) => row(arm, percent, ""))}
          {found.differences.map((one) => row(one, points, "Δ "))}
        </tbody>
      </table>
    </div>
  );
}
