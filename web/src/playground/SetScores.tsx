/** The scores of all sets, as a chart and as a list; those of the pointed sample light up. */

import { axisX, axisY, barY, ruleY } from "@observablehq/plot";
import { useState } from "preact/hooks";
import { Chart } from "../components/Chart";
import { signed } from "../components/SignedBar";
import { strategyName, Swatch } from "../components/Swatch";
import { Term } from "../components/Term";
import { isCorrect, membersOf, type Sets } from "../maths";
import { overDraws, pointed, results, type ScoredSets } from "./results";
import { group } from "./state";

const FIRST = 12;

export function SetScores() {
  const { scored } = results.value;
  return (
    <>
      <Explanation scored={scored} />
      <Histogram scored={scored} />
      <OverDraws />
      <List scored={scored} />
    </>
  );
}

const exact = (value: number): string => (Number.isNaN(value) ? "–" : value.toFixed(4));

/** The credit of the pointed sample, from the two means that it is the difference of. */
function Explanation({ scored }: { scored: ScoredSets }) {
  const { means } = scored;
  const at = pointed.value;
  const { samples } = group.value;
  if (at === null || at >= samples.length)
    return (
      <p class="explanation">
        {means.count.toLocaleString("en")} sets; their mean <Term name="score">score</Term> is <Term name="U">U</Term> ={" "}
        {exact(means.mean)}. Point at a sample above, or move the focus to it, to light up its sets.
      </p>
    );
  const u = means.with[at]!;
  return (
    <p class="explanation">
      <strong>y{at + 1}</strong> is in {Math.round(means.holding[at]!).toLocaleString("en")} of{" "}
      {means.count.toLocaleString("en")} sets. Their mean score is <Term name="u">u</Term> = {exact(u)}; that of all
      sets is <Term name="U">U</Term> = {exact(means.mean)}. The difference is u − U ={" "}
      <strong>{signed(Number.isNaN(u) ? 0 : u - means.mean, 4)}</strong>.
    </p>
  );
}

/** What the draw of sets does to the credit: the values of all sets, of this draw, and the error of a draw. */
function OverDraws() {
  const found = overDraws.value;
  if (!found || group.value.sets.kind !== "drawn") return null;
  const drawn = results.value.columns.find(({ key }) => key === "chosen")!.values;
  return (
    <div class="scroll" role="region" tabIndex={0} aria-label="What the draw does to the credit">
      <table class="draws">
        <caption>
          “Your choice” with {group.value.sets.count.toLocaleString("en")} drawn sets, over {found.draws} draws
        </caption>
        <thead>
          <tr>
            <th scope="col">Sample</th>
            <th scope="col">all sets</th>
            <th scope="col">this draw</th>
            <th scope="col">
              <Term name="standardError">standard error</Term>
            </th>
            <th scope="col">
              <Term name="otherSign">other sign</Term>
            </th>
          </tr>
        </thead>
        <tbody>
          {found.exact.map((value, i) => (
            <tr key={i} class={pointed.value === i ? "pointed" : undefined}>
              <th scope="row">y{i + 1}</th>
              <td>{signed(value)}</td>
              <td>{signed(drawn[i]!)}</td>
              <td data-error={found.error[i]}>{found.error[i]!.toFixed(3)}</td>
              <td>{Number.isNaN(found.flips[i]!) ? "–" : `${(100 * found.flips[i]!).toFixed(0)}%`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How many sets have each score, and how many of them hold a sample. */
function levels({ sets, scores }: ScoredSets, at: number | null) {
  const found = new Map<number, { score: number; count: number; lit: number }>();
  for (let s = 0; s < sets.count; s++) {
    const key = Math.round(scores[s]! * 1e9);
    const level = found.get(key) ?? { score: scores[s]!, count: 0, lit: 0 };
    level.count++;
    if (at !== null && holds(sets, s, at)) level.lit++;
    found.set(key, level);
  }
  return [...found.values()].sort((a, b) => a.score - b.score);
}

function holds({ members, size }: Sets, s: number, sample: number): boolean {
  for (let m = s * size; m < (s + 1) * size; m++) if (members[m] === sample) return true;
  return false;
}

function Histogram({ scored }: { scored: ScoredSets }) {
  const at = pointed.value;
  const bars = levels(scored, at);
  const label = bars.map(({ score, count }) => `${count} with score ${score.toFixed(3)}`).join(", ");
  return (
    <Chart
      label={`Number of sets by score: ${label}.`}
      height={190}
      options={(width) => ({
        marginLeft: 48,
        marginBottom: 38,
        x: {
          domain: bars.map(({ score }) => score.toFixed(3)),
          padding: Math.max(0.15, 1 - (110 * bars.length) / width),
        },
        marks: [
          axisX({
            label: "score of the set →",
            labelAnchor: "right",
            ...(width / bars.length < 42 ? { ticks: every(bars, width) } : {}),
          }),
          axisY({
            label: "↑ number of sets",
            ticks: Math.min(4, Math.max(...bars.map(({ count }) => count))),
            tickFormat: ",d",
          }),
          barY(bars, { x: (d) => d.score.toFixed(3), y: "count", fill: "var(--bar)" }),
          barY(bars, { x: (d) => d.score.toFixed(3), y: "lit", fill: "var(--accent)" }),
          ruleY([0], { stroke: "var(--ink)" }),
        ],
      })}
    />
  );
}

/** As many scores as there is room to write. */
function every(bars: readonly { score: number }[], width: number): string[] {
  const step = Math.ceil((bars.length * 42) / width);
  return bars.filter((_, i) => i % step === 0).map(({ score }) => score.toFixed(3));
}

function List({ scored }: { scored: ScoredSets }) {
  const { sets, scores, means } = scored;
  const [shown, setShown] = useState(FIRST);
  const [open, setOpen] = useState(sets.count <= 12);
  const order = open ? best(scores, shown) : []; // sorting thousands of sets that nobody sees is slow
  return (
    <details class="sets" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The sets one by one, best first</summary>
      <ul>
        {order.map((s) => (
          <SetItem key={s} members={membersOf(sets, s)} score={scores[s]!} mean={means.mean} />
        ))}
      </ul>
      {shown < sets.count ? (
        <button type="button" onClick={() => setShown(shown + 8 * FIRST)}>
          show more of the {sets.count.toLocaleString("en")} sets
        </button>
      ) : null}
    </details>
  );
}

/** The places of the highest scores; the order of the list among equal ones. */
function best(scores: Float64Array, count: number): number[] {
  const found: number[] = [];
  for (const level of [...new Set(scores)].sort((a, b) => b - a)) {
    for (let s = 0; s < scores.length && found.length < count; s++) if (scores[s] === level) found.push(s);
    if (found.length === count) break;
  }
  return found;
}

function SetItem({ members, score, mean }: { members: readonly number[]; score: number; mean: number }) {
  const { samples } = group.value;
  const at = pointed.value;
  const lit = at === null ? "" : members.includes(at) ? "lit" : "dim";
  return (
    <li class={lit}>
      <span class="members">
        {members.map((i) => {
          const { reward, strategy } = samples[i]!;
          return (
            <span key={i} class="member">
              <Swatch strategy={strategy} size={15} />
              <span aria-hidden="true">{isCorrect(reward) ? "✓" : "✗"}</span>
              <span class="hidden">
                y{i + 1}, {isCorrect(reward) ? "correct" : "wrong"}, {strategyName(strategy)};
              </span>
            </span>
          );
        })}
      </span>
      <span class="who">{members.map((i) => `y${i + 1}`).join(" ")}</span>
      <span class="number">
        {score.toFixed(3)} <small>({signed(score - mean)} to the mean)</small>
      </span>
    </li>
  );
}
