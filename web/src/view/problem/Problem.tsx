/** One problem: who got how much credit and why, and all its samples by strategy or answer. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Choice, Panel } from "../components/Controls";
import { Swatch } from "../components/Swatch";
import { address, ask, type Group as Answer, type Groups, type Query, type Run, useAnswer } from "./api";
import { Card, useMarks } from "./Card";
import { type By, type Cluster, clustersOf, groupings, oddest, shareCorrect } from "./clusters";
import { Compared } from "./Compared";
import { Credit, Parts } from "./Credit";
import { Elsewhere } from "./Elsewhere";
import { typing } from "./keys";
import { picked, SamplesChoice, StepSlider } from "./Pick";
import { isMarked as isRenderable, Rendered } from "./Rendered";
import { go, hash, route } from "./route";
import { Notes, Status } from "./Status";
import { pieces, visible } from "../components/visible";
import { why } from "./why";

const CARDS_SHOWN = 6; // of one strategy, until a reader asks for all

export function Group({ run }: { run: Run }) {
  const { step, place, k, method } = route.value;
  const at = picked(run);
  const size = k ?? at?.arm.set_size ?? undefined;
  const chosen = at && step !== undefined && place !== undefined;
  const asked = useAnswer<Answer>("group", chosen ? { ...at.about, step, place, set_size: size, method } : null);
  const toStep = async (target: number, number: number, replace = true): Promise<void> => {
    const found = await ask<Groups>("groups", { ...at?.about, step: target, from: number }).catch(() => null);
    const row =
      found?.rows[0] ?? (await ask<Groups>("groups", { ...at?.about, step: target }).catch(() => null))?.rows[0];
    if (row) go({ step: target, place: row.place }, replace);
  };
  useEffect(() => {
    if (at && !chosen) void toStep(at.training.steps[0]!, 0);
  }, [chosen, at?.split, at?.arm.name]);
  if (!at) return <p class="warning">This run has logged no samples.</p>;
  return (
    <>
      <p>
        <a
          href={hash(route.value, {
            view: "groups",
            place: undefined,
            step: undefined,
            sample: undefined,
            pair: undefined,
            other: undefined,
          })}
        >
          All problems
        </a>
      </p>
      <div class="settings">
        <SamplesChoice run={run} at={at} />
        {at.training.steps.length > 1 ? (
          <StepSlider
            steps={at.training.steps}
            step={Number(step)}
            onStep={(target) => void toStep(target, asked.found?.number ?? 0)}
          />
        ) : null}
      </div>
      <Status asked={asked}>
        {(group) => <Shown key={`${at.arm.name}/${group.step}/${group.place}`} group={group} about={at.about} />}
      </Status>
    </>
  );
}

/** What is selected and compared, as the address holds it. */
function useSelection(group: Answer, order: readonly number[]) {
  const { sample, pair } = route.value;
  const wanted = Number(sample) - 1;
  const first = useMemo(() => oddest(group.samples) ?? order[0] ?? 0, [group]);
  const selected = sample !== undefined && group.samples[wanted] ? wanted : first;
  const marked = (pair ?? "")
    .split(",")
    .map((one) => Number(one) - 1)
    .filter((one) => group.samples[one]);
  const select = (i: number): void => {
    if (i !== selected) go({ sample: i + 1 }, true);
  };
  const compare = (i: number): void => {
    const next = marked.includes(i) ? marked.filter((one) => one !== i) : [...marked, i].slice(-2);
    go({ pair: next.map((one) => one + 1).join(",") || undefined }, true);
  };
  return { selected, marked, select, compare };
}

function Shown({ group, about }: { group: Answer; about: Query }) {
  const { by: asked, raw, find: search = "" } = route.value;
  const bys = groupings(group.samples);
  const by: By = bys.find((one) => one === asked) ?? bys[0] ?? "strategy";
  const clusters = useMemo(() => clustersOf(group.samples, by), [group, by]);
  const order = useMemo(() => clusters.flatMap(({ members }) => members), [clusters]);
  const { selected, marked, select, compare } = useSelection(group, order);
  const { marks, saved, write } = useMarks(group, about);
  const [help, setHelp] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const field = useRef<HTMLInputElement>(null);
  const reveal = (i: number): void => {
    const place = clusters.findIndex(({ members }) => members.indexOf(i) >= CARDS_SHOWN);
    if (place >= 0) setOpen((known) => new Set([...known, place]));
  };
  const focus = (i: number): void => {
    select(i);
    reveal(i);
    const card = document.getElementById(`sample-${i}`);
    if (card) card.focus();
    else setTimeout(() => document.getElementById(`sample-${i}`)?.focus()); // once it is there
  };
  // Before the next key can come, so that every key acts on what is selected now.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === "Escape") {
        setHelp(false);
        if (document.activeElement === field.current) focus(selected);
        return;
      }
      if (typing(event)) return;
      const by = { j: 1, ArrowRight: 1, ArrowDown: 1, k: -1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (by) focus(order[Math.max(0, Math.min(order.length - 1, order.indexOf(selected) + by))]!);
      else if (event.key === "n" && group.after !== null) go({ ...ELSEWHERE, place: group.after });
      else if (event.key === "p" && group.before !== null) go({ ...ELSEWHERE, place: group.before });
      else if (event.key === "x") compare(selected);
      else if (event.key === "s") write(selected, { ...marks[selected], star: !marks[selected]?.star });
      else if (event.key === "/") field.current?.focus();
      else if (event.key === "?") setHelp((is) => !is);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const canRender = useMemo(() => group.samples.some(({ text }) => isRenderable(text.slice(0, 4000))), [group]);
  const hasCredit =
    (group.samples.length > 0 && Object.keys(group.others).length > 0) ||
    group.samples.some(({ advantage }) => advantage !== null);
  const isRaw = raw === "1" || !canRender;
  const hits = search
    ? group.samples.filter(({ text }) => pieces(visible(text), search).some(({ found }) => found)).length
    : 0;
  const credit = hasCredit ? (
    <>
      <Panel id="credit" title="Credit" lead="Who got how much credit, and what other methods would have given.">
        <Credit group={group} clusters={clusters} selected={selected} onSelect={focus} />
      </Panel>
      <Panel
        id="why"
        title={`Why y${selected + 1} got its credit`}
        lead="Each part is a difference between the sets with this sample and all sets."
      >
        {why(group, selected).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <Parts group={group} i={selected} />
      </Panel>
    </>
  ) : null;
  // Who reads a log of training asks for credit, who reads an evaluation for the samples.
  const isTraining = group.samples.some(({ advantage }) => advantage !== null);
  return (
    <>
      <Head group={group} help={help} onHelp={() => setHelp(!help)} />
      {isTraining ? credit : null}
      {marked.length === 2 ? (
        <Compared group={group} pair={[marked[0]!, marked[1]!]} onClose={() => go({ pair: undefined })} />
      ) : null}
      <Panel id="samples" title="Samples" lead={lead(group, isRaw)}>
        <div class="settings">
          {bys.length > 1 ? (
            <Choice
              label="Group by"
              value={by}
              options={bys.map((one) => [one, one] as const)}
              onChange={(one) => go({ by: one }, true)}
            />
          ) : null}
          {canRender ? (
            <Choice
              label="Texts"
              value={isRaw ? "1" : ""}
              options={[
                ["", "formulas drawn"],
                ["1", "as they are written"],
              ]}
              onChange={(one) => go({ raw: one || undefined }, true)}
            />
          ) : null}
          <div class="field">
            <label class="field-name" for="sample-search">
              Search in the samples (/)
            </label>
            <input
              id="sample-search"
              ref={field}
              type="search"
              value={search}
              onInput={(event) => go({ find: event.currentTarget.value || undefined }, true)}
            />
            <span class="small" role="status">
              {search ? `in ${hits} of ${group.samples.length} samples` : ""}
            </span>
          </div>
        </div>
        <p class="small">
          <span role="status">{saved}</span> <a href={address("labels", about)}>Download your labels</a> as JSON Lines,
          which setrl judge-audit reads.
        </p>
        {clusters.map((cluster, place) => (
          <div key={cluster.members[0]} class="cluster">
            <ClusterHead group={group} cluster={cluster} />
            <div class="cards">
              {cluster.members.slice(0, open.has(place) || search ? undefined : CARDS_SHOWN).map((i) => (
                <Card
                  key={i}
                  group={group}
                  i={i}
                  name={clusters.length > 1 ? cluster.name : ""}
                  swatch={cluster.swatch}
                  about={about}
                  search={search}
                  isRaw={isRaw}
                  isSelected={i === selected}
                  isMarked={marked.includes(i)}
                  mark={marks[i] ?? {}}
                  onSelect={() => select(i)}
                  onCompare={() => compare(i)}
                  onMark={(mark) => write(i, mark)}
                />
              ))}
            </div>
            {cluster.members.length > CARDS_SHOWN && !search ? (
              <button type="button" onClick={() => setOpen((known) => toggledPlace(known, place))}>
                {open.has(place) ? "show fewer" : `show all ${cluster.members.length}`}
              </button>
            ) : null}
          </div>
        ))}
      </Panel>
      {isTraining ? null : credit}
      <Elsewhere group={group} about={about} />
    </>
  );
}

const ELSEWHERE = { sample: undefined, pair: undefined, other: undefined } as const;

function toggledPlace(known: ReadonlySet<number>, place: number): ReadonlySet<number> {
  const next = new Set(known);
  if (!next.delete(place)) next.add(place);
  return next;
}

function lead(group: Answer, isRaw: boolean): string {
  if (!isRaw) return `${group.samples.length} samples.`;
  const letters = `${group.shared_prefix} ${group.shared_prefix === 1 ? "letter" : "letters"}`;
  return `${group.samples.length} samples. All begin alike, with ${letters}. Faint letters are shared with at least one other sample; a bar marks where a sample leaves the others.`;
}

function Head({ group, help, onHelp }: { group: Answer; help: boolean; onHelp: () => void }) {
  const { before, after } = group;
  return (
    <Panel
      id="group"
      title={group.by_step ? `Step ${group.step}, group ${group.number + 1}` : `Problem ${group.number + 1}`}
      lead={group.by_step || group.id === group.prompt ? "The prompt." : visible(group.id)}
    >
      <div class="prompt">{group.prompt ? <Rendered text={group.prompt} /> : "(empty)"}</div>
      {group.gold === null ? null : (
        <p>
          Right answer: <strong>{visible(group.gold)}</strong>
        </p>
      )}
      <Notes notes={group.notes} />
      <div class="below">
        <button
          type="button"
          disabled={before === null}
          onClick={() => go({ ...ELSEWHERE, place: before ?? undefined })}
        >
          previous problem (p)
        </button>
        <button type="button" disabled={after === null} onClick={() => go({ ...ELSEWHERE, place: after ?? undefined })}>
          next problem (n)
        </button>
        <button type="button" aria-expanded={help} onClick={onHelp}>
          keys (?)
        </button>
      </div>
      {help ? <Help /> : null}
    </Panel>
  );
}

function ClusterHead({ group, cluster }: { group: Answer; cluster: Cluster }) {
  return (
    <h3>
      {cluster.swatch === null ? null : <Swatch cluster={cluster.swatch} />} {visible(cluster.name)}{" "}
      <small>{shareCorrect(group.samples, cluster)}</small>
    </h3>
  );
}

function Help() {
  const keys = [
    ["j k ← → ↑ ↓", "next and previous sample"],
    ["n p", "next and previous problem"],
    ["x", "mark a sample; two marked samples are compared"],
    ["s", "give a sample a star"],
    ["/", "search"],
    ["Esc", "leave the search"],
    ["?", "these keys"],
  ] as const;
  return (
    <dl class="keys">
      {keys.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
