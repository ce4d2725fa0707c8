/** One group: who got how much credit and why, and the samples side by side by strategy. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Panel, Slider } from "../components/Controls";
import { SignedBar } from "../components/SignedBar";
import { Swatch } from "../components/Swatch";
import { Term } from "../components/Term";
import { ask, type Group as Answer, type Groups, type Query, type Run, type Sample, useAnswer } from "./api";
import { Compared } from "./Compared";
import { typing } from "./keys";
import { ArmChoice, picked, StepSlider } from "./Pick";
import { go, hash, route } from "./route";
import { Notes, Status } from "./Status";
import { pieces, visible } from "../components/visible";
import { methodInLoss, why } from "./why";

const hasGroups = ({ steps }: { steps: readonly number[] }): boolean => steps.length > 0;
const LETTERS_SHOWN = 1500;

export function Group({ run }: { run: Run }) {
  const { step, place, k } = route.value;
  const at = picked(run, hasGroups);
  const about = { run: run.id, arm: at?.arm.name, seed: at?.training.seed };
  const size = k ?? at?.arm.set_size ?? undefined;
  const chosen = at && step !== undefined && place !== undefined;
  const asked = useAnswer<Answer>("group", chosen ? { ...about, step, place, set_size: size } : null);
  const toStep = async (target: number, number: number, replace = true): Promise<void> => {
    const found = await ask<Groups>("groups", { ...about, step: target, from: number }).catch(() => null);
    const row = found?.rows[0] ?? (await ask<Groups>("groups", { ...about, step: target }).catch(() => null))?.rows[0];
    if (row) go({ step: target, place: row.place }, replace);
  };
  useEffect(() => {
    if (at && !chosen) void toStep(at.training.steps[0]!, 0);
  }, [chosen, at?.arm.name]);
  if (!at) return <p class="warning">This run has logged no groups.</p>;
  return (
    <>
      <p>
        <a href={hash(route.value, { view: "groups", place: undefined, step: undefined })}>All groups</a>
      </p>
      <div class="settings">
        <ArmChoice run={run} at={at} has={hasGroups} />
        <StepSlider steps={at.training.steps} step={Number(step)} onStep={(target) => void toStep(target, asked.found?.number ?? 0)} />
      </div>
      <Status asked={asked}>{(group) => <Shown key={`${group.step}/${group.place}`} group={group} about={about} />}</Status>
    </>
  );
}

interface Cluster {
  readonly name: string;
  /** Its place among the colours; −1 is degenerate, null is not logged. */
  readonly swatch: number | null;
  readonly members: readonly number[];
}

/** Strategies with the numbers of their samples, the most frequent first; degenerate ones last. */
export function clustersOf(samples: readonly Sample[]): readonly Cluster[] {
  const members = new Map<number | null, number[]>();
  samples.forEach(({ cluster }, i) => members.set(cluster, [...(members.get(cluster) ?? []), i]));
  const rank = (cluster: number | null): number => (cluster === null ? 2 : cluster === -1 ? 1 : 0);
  const order = [...members].sort(([a, of], [b, than]) => rank(a) - rank(b) || than.length - of.length);
  return order.map(([cluster, of], i) => ({
    name: cluster === null ? "strategy not logged" : cluster === -1 ? "degenerate" : (samples[of[0]!]!.strategy ?? "strategy"),
    swatch: cluster === null ? null : cluster === -1 ? -1 : i,
    members: of,
  }));
}

/** The sample to explain first: the wrong one with the most credit, else the correct one with the least. */
export function oddest(samples: readonly Sample[]): number | null {
  const odd = samples.flatMap((sample, i) => (sample.against ? [{ i, isWrong: !sample.correct, size: Math.abs(sample.advantage ?? 0) }] : []));
  odd.sort((a, b) => Number(b.isWrong) - Number(a.isWrong) || b.size - a.size);
  return odd[0]?.i ?? null;
}

function Shown({ group, about }: { group: Answer; about: Query }) {
  const clusters = useMemo(() => clustersOf(group.samples), [group]);
  const order = useMemo(() => clusters.flatMap(({ members }) => members), [clusters]);
  const [selected, setSelected] = useState(() => oddest(group.samples) ?? order[0] ?? 0);
  const [marked, setMarked] = useState<readonly number[]>([]);
  const [search, setSearch] = useState("");
  const [help, setHelp] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const mark = (i: number): void => setMarked((known) => (known.includes(i) ? known.filter((one) => one !== i) : [...known, i].slice(-2)));
  const select = (i: number): void => {
    setSelected(i);
    document.getElementById(`sample-${i}`)?.focus();
  };
  // Before the next key can come, so that every key acts on what is selected now.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === "Escape") {
        setHelp(false);
        if (document.activeElement === field.current) select(selected);
        return;
      }
      if (typing(event)) return;
      const by = { j: 1, ArrowRight: 1, ArrowDown: 1, k: -1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (by) select(order[Math.max(0, Math.min(order.length - 1, order.indexOf(selected) + by))]!);
      else if (event.key === "n" && group.after !== null) go({ place: group.after });
      else if (event.key === "p" && group.before !== null) go({ place: group.before });
      else if (event.key === "x") mark(selected);
      else if (event.key === "/") field.current?.focus();
      else if (event.key === "?") setHelp((open) => !open);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const hits = search ? group.samples.filter(({ text }) => pieces(visible(text), search).some(({ found }) => found)).length : 0;
  return (
    <>
      <Panel id="group" title={`Step ${group.step}, group ${group.number + 1}`} lead="The prompt, and who got how much credit.">
        <pre class="prompt">{visible(group.prompt) || "(empty)"}</pre>
        <Notes notes={group.notes} />
        <div class="below">
          <button type="button" disabled={group.before === null} onClick={() => go({ place: group.before ?? undefined })}>previous group (p)</button>
          <button type="button" disabled={group.after === null} onClick={() => go({ place: group.after ?? undefined })}>next group (n)</button>
          <button type="button" aria-expanded={help} onClick={() => setHelp(!help)}>keys (?)</button>
        </div>
        {help ? <Help /> : null}
        <Credit group={group} clusters={clusters} selected={selected} onSelect={select} />
      </Panel>
      <Panel id="why" title={`Why y${selected + 1} got its credit`} lead="Each part is a difference between the sets with this sample and all sets.">
        {why(group, selected).map((sentence) => <p key={sentence}>{sentence}</p>)}
        <Parts group={group} i={selected} />
      </Panel>
      {marked.length === 2 ? <Compared group={group} pair={[marked[0]!, marked[1]!]} onClose={() => setMarked([])} /> : null}
      <Panel
        id="samples"
        title="Samples"
        lead={`By strategy. All samples begin alike, with ${group.shared_prefix} ${group.shared_prefix === 1 ? "letter" : "letters"}. Faint letters are shared with at least one other sample; A bar marks where a sample leaves the others.`}
      >
        <div class="field">
          <label class="field-name" for="sample-search">Search in the samples (/)</label>
          <input id="sample-search" ref={field} type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          <span class="small" role="status">{search ? `in ${hits} of ${group.samples.length} samples` : ""}</span>
        </div>
        <ul class="legend">
          {clusters.map((cluster) => (
            <li key={cluster.members[0]}>{cluster.swatch === null ? null : <Swatch cluster={cluster.swatch} />} {visible(cluster.name)} <small>{shareCorrect(group, cluster)}</small></li>
          ))}
        </ul>
        <div class="cards">
          {clusters.flatMap((cluster) => cluster.members.map((i) => (
            <Card key={i} group={group} i={i} cluster={cluster} about={about} search={search} isSelected={i === selected}
              isMarked={marked.includes(i)} onSelect={() => setSelected(i)} onMark={() => mark(i)} />
          )))}
        </div>
      </Panel>
    </>
  );
}

function shareCorrect(group: Answer, { members }: Cluster): string {
  const known = members.filter((i) => group.samples[i]!.correct !== null);
  if (!known.length) return `${members.length} samples`;
  return `${known.filter((i) => group.samples[i]!.correct).length} of ${known.length} correct`;
}

function Help() {
  const keys = [["j k ← → ↑ ↓", "next and previous sample"], ["n p", "next and previous group"], ["x", "mark a sample; two marked samples are compared"], ["/", "search"], ["Esc", "leave the search"], ["?", "these keys"]] as const;
  return (
    <dl class="keys">
      {keys.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}
    </dl>
  );
}

const AGAINST = { right: "correct, and made less likely", wrong: "wrong, and made more likely" } as const;

const opposes = (correct: boolean | null, value: number | null): string | undefined => {
  if (correct === null || value === null || value === 0 || correct === value > 0) return undefined;
  return correct ? AGAINST.right : AGAINST.wrong;
};

const largest = (values: readonly (number | null)[]): number => Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));

interface CreditProps {
  group: Answer;
  clusters: readonly Cluster[];
  selected: number;
  onSelect: (i: number) => void;
}

function Credit({ group, clusters, selected, onSelect }: CreditProps) {
  const inLoss = methodInLoss(group);
  // What is asked for, not what is there: the slider may move on before an answer comes.
  const asked = Math.min(Number(route.value.k ?? group.set_size), group.largest_set_size);
  const used = group.samples.map(({ advantage }) => advantage);
  const columns = [
    ["used", inLoss ? `in the loss (${group.methods[inLoss]})` : "in the loss", used] as const,
    ...Object.entries(group.methods).map(([name, label]) => [name, label, group.others[name]!] as const),
  ];
  return (
    <>
      <p class="small">
        Column by column: the <Term name="advantage">advantage</Term> that entered the loss, then what other methods would have
        given to the same samples. Each column has its own scale. “!” marks credit against correctness.
      </p>
      {group.largest_set_size > 1 ? (
        <div class="settings">
          <Slider label="Set size K of Poly-EPO and MaxPO" term="setSize" value={asked} min={1} max={group.largest_set_size} step={1}
            onInput={(k) => go({ k }, true)} />
        </div>
      ) : null}
      <div class="scroll" role="region" aria-label="Table of credit" tabIndex={0}>
        <table class="credits">
          <thead>
            <tr>
              <th scope="col">sample</th>
              <th scope="col">reward</th>
              {columns.map(([name, label]) => <th key={name} scope="col">{label}</th>)}
            </tr>
          </thead>
          <tbody>
            {clusters.flatMap(({ members, swatch, name }) =>
              members.map((i) => {
                const sample = group.samples[i]!;
                return (
                  <tr key={i} class={i === selected ? "pointed" : ""}>
                    <th scope="row">
                      <button type="button" class="name" aria-pressed={i === selected} title={visible(name)} onClick={() => onSelect(i)}>
                        y{i + 1} {swatch === null ? null : <Swatch cluster={swatch} size={14} />}
                      </button>
                    </th>
                    <td>{sample.reward === null ? "–" : `${sample.correct === null ? "" : sample.correct ? "✓ " : "✗ "}${Number(sample.reward.toFixed(3))}`}</td>
                    {columns.map(([key, , values]) => (
                      <td key={key} data-method={key} data-value={values[i] ?? ""}>
                        {values[i] == null ? "–" : <SignedBar value={values[i]!} largest={largest(values)} against={opposes(sample.correct, values[i]!)} />}
                      </td>
                    ))}
                  </tr>
                );
              }),
            )}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Parts({ group, i }: { group: Answer; i: number }) {
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
      <caption>The parts of Poly-EPO's credit (<Term name="eq15">Equation 15</Term>)</caption>
      <thead>
        <tr><th scope="col">part</th><th scope="col">advantage</th></tr>
      </thead>
      <tbody>
        {rows.map(([term, name, values]) => (
          <tr key={term}>
            <th scope="row"><Term name={term}>{name}</Term></th>
            <td data-part={term} data-value={values[i] ?? ""}><SignedBar value={values[i] ?? 0} largest={most} /></td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CardProps {
  group: Answer;
  i: number;
  cluster: Cluster;
  about: Query;
  search: string;
  isSelected: boolean;
  isMarked: boolean;
  onSelect: () => void;
  onMark: () => void;
}

function Card({ group, i, cluster, about, search, isSelected, isMarked, onSelect, onMark }: CardProps) {
  const sample = group.samples[i]!;
  const [more, setMore] = useState("");
  const [isLong, setLong] = useState(false);
  const text = sample.text + more;
  const rest = useMemo(() => sample.length - [...text].length, [text]); // Python counts whole letters
  const load = async (): Promise<void> => {
    const asked = { ...about, step: group.step, place: group.place, sample: i, from: [...text].length };
    const found = await ask<{ text: string }>("text", asked).catch(() => ({ text: "" }));
    setMore(more + found.text);
  };
  const shown = isLong || search ? text : text.slice(0, LETTERS_SHOWN);
  const verdict = sample.correct === null ? (sample.reward === null ? "reward not logged" : "not known to be correct") : sample.correct ? "✓ correct" : "✗ wrong";
  return (
    <div id={`sample-${i}`} class={isSelected ? "card selected" : "card"} role="group" tabIndex={0} aria-label={`y${i + 1}, ${verdict}`} onFocus={onSelect}>
      <div class="head">
        <strong>y{i + 1}</strong> {cluster.swatch === null ? null : <Swatch cluster={cluster.swatch} size={14} />} <span class="small">{visible(cluster.name)}</span> <span>{verdict}</span>
        {sample.advantage === null ? <span class="small">advantage not logged</span> : (
          <SignedBar value={sample.advantage} largest={largest(group.samples.map(({ advantage }) => advantage))} against={opposes(sample.correct, sample.advantage)} />
        )}
      </div>
      <Text text={shown} branch={sample.branch} search={search} />
      {sample.why_wrong ? <p class="note">Wrong, because {visible(sample.why_wrong)}.</p> : null}
      <div class="below">
        <button type="button" aria-pressed={isMarked} onClick={onMark} aria-label={`mark y${i + 1} to compare it`}>compare (x)</button>
        {text.length > LETTERS_SHOWN && !search ? (
          <button type="button" onClick={() => setLong(!isLong)}>{isLong ? "show less" : `show ${text.length.toLocaleString("en")} letters`}</button>
        ) : null}
        {rest > 0 && isLong ? <button type="button" onClick={() => void load()}>load more of {sample.length.toLocaleString("en")} letters</button> : null}
      </div>
    </div>
  );
}

function Text({ text, branch, search }: { text: string; branch: number; search: string }) {
  if (!text) return <p class="small">(empty)</p>;
  const letters = branch < 100_000 ? [...text.slice(0, 2 * branch)].slice(0, branch).join("") : text.slice(0, branch);
  return (
    <pre class="text">
      <span class="shared"><Found text={letters} search={search} /></span>
      {letters && letters.length < text.length ? <span class="branch" title="here it leaves the others" /> : null}
      <Found text={text.slice(letters.length)} search={search} />
    </pre>
  );
}

function Found({ text, search }: { text: string; search: string }) {
  return <>{pieces(visible(text), search).map((piece, i) => (piece.found ? <mark key={i}>{piece.text}</mark> : piece.text))}</>;
}
