/** pass@k of all arms with bands, differences, the first k at which an arm loses, problems by arm. */

import { useState } from "preact/hooks";
import { Choice, Panel } from "../../components/Controls";
import { Curves } from "../../components/Curves";
import { percent as shownPercent, points as shownPoints } from "../../components/format";
import { Figure } from "../../components/Figure";
import { useHidden } from "../../components/hidden";
import { Key } from "../../components/Key";
import { Term } from "../../components/Term";
import {
  type ArmCurve,
  type Curve,
  type Difference,
  type Evaluation as Answer,
  type Loss,
  type Run,
  useAnswer,
} from "../api";
import { lookOf } from "../looks";
import { go, route } from "../route";
import { Notes, Status } from "../Status";
import { visible } from "../../components/visible";

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

const percent = (share: number | null | undefined): string => (share == null ? "unknown" : shownPercent(share));
const points = (share: number | null | undefined): string => (share == null ? "unknown" : shownPoints(share));

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
        <Plot found={found} curves={found.arms} hidden={hidden} run={run} zero={false} />
        {found.differences.length ? (
          <Plot found={found} curves={found.differences} hidden={hidden} run={run} zero />
        ) : null}
      </div>
      {found.differences.length ? <Verdicts run={run} found={found} /> : null}
      <Numbers run={run} found={found} />
      <Matrix run={run} found={found} />
    </>
  );
}

interface PlotProps {
  found: Answer;
  curves: readonly Curve[];
  hidden: ReadonlySet<string>;
  run: Run;
  zero: boolean;
}

function Plot({ run, found, curves, hidden, zero }: PlotProps) {
  const name = (arm: string): string => lookOf(run, arm).label;
  const title = zero ? `difference to ${name(found.reference)}, in points` : "pass@k, with bands for all k at once";
  const format = zero ? points : percent;
  const shown = curves.filter(({ name }) => !hidden.has(name));
  const spoken = shown.map(
    (curve) =>
      `${name(curve.name)}: ${found.shown_ks.map((k, i) => `${k}: ${format(curve.intervals[i]![0])}`).join(", ")}`,
  );
  const drawn = shown.map((curve) => ({
    look: lookOf(run, curve.name),
    points: found.ks.map((k, i) => ({ x: k, y: curve.values[i] ?? NaN, low: curve.low[i], high: curve.high[i] })),
  }));
  return (
    <Figure
      title={title}
      file={zero ? "pass_at_k_difference" : "pass_at_k"}
      rows={() => [
        ["arm", "k", "value", "low for all k", "high for all k"],
        ...curves.flatMap((curve) =>
          found.ks.map((k, i) => [
            visible(curve.name),
            k,
            curve.values[i] ?? null,
            curve.low[i] ?? null,
            curve.high[i] ?? null,
          ]),
        ),
      ]}
    >
      {drawn.length ? (
        <Curves
          curves={drawn}
          height={300}
          label={`${zero ? `difference of pass@k to ${name(found.reference)}` : "pass@k"} by k. ${spoken.map(visible).join(". ")}`}
          x={{ label: "k, tries", name: "k =", isLog: true, ticks: found.shown_ks }}
          y={{
            label: zero ? "points" : "pass@k",
            format,
            tick: (value) => format(value).replace(".0", ""),
            domain: zero ? undefined : [0, 1],
          }}
          zero={zero}
        />
      ) : (
        <p class="note">All arms are hidden.</p>
      )}
    </Figure>
  );
}

const ranges = (found: readonly (readonly [number, number])[]): string =>
  found.map(([low, high]) => (low === high ? `${low}` : `${low} to ${high}`)).join(", ");

const loss = (name: string, other: string, found: Loss | null, last: number): string => {
  if (found === null) return `Where ${name} may lose to ${other} is unknown: the problems do not differ enough.`;
  if (found.low > last) return `${name} loses to ${other} at no k up to ${last}.`;
  if (found.high === null)
    return `If ${name} loses to ${other} at all, it is first at k = ${found.low} or later: no loss is shown.`;
  return found.low === found.high
    ? `${name} first loses to ${other} at k = ${found.low}.`
    : `${name} first loses to ${other} at a k from ${found.low} to ${found.high}.`;
};

function Verdicts({ run, found }: { run: Run; found: Answer }) {
  const last = found.ks.at(-1)!;
  return (
    <ul class="verdicts">
      {found.differences.map((one) => {
        const [name, other] = [lookOf(run, one.name).label, lookOf(run, found.reference).label];
        return (
          <li key={one.name}>
            {shownWhere(one, name, other)} {loss(name, other, one.loses_first, last)}{" "}
            {loss(other, name, one.reference_loses_first, last)}
          </li>
        );
      })}
    </ul>
  );
}

function shownWhere(one: Difference, name: string, other: string): string {
  const above = one.above.length
    ? `${name} is above ${other} at k = ${ranges(one.above)}, for all of these at once.`
    : "";
  const below = one.below.length
    ? `${name} is below ${other} at k = ${ranges(one.below)}, for all of these at once.`
    : "";
  return above || below ? `${above} ${below}`.trim() : `No difference between ${name} and ${other} is shown at any k.`;
}

function Numbers({ run, found }: { run: Run; found: Answer }) {
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

function Matrix({ run, found }: { run: Run; found: Answer }) {
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
