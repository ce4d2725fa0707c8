/** The problems of a log: searched, narrowed, sorted, and opened from the keyboard. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Choice, Panel } from "../components/Controls";
import { Term } from "../components/Term";
import { type GroupRow, type Groups as Answer, type Run, useAnswer } from "./api";
import { typing } from "./keys";
import { type Picked, picked, SamplesChoice, StepSlider } from "./Pick";
import { lookOf } from "./looks";
import { go, hash, route } from "./route";
import { Status } from "./Status";
import { visible } from "../components/visible";

const SHOW = [
  ["", "all problems"],
  ["mixed", "some right, some wrong"],
  ["right", "all right"],
  ["wrong", "all wrong"],
  ["unknown", "some not graded"],
  ["surprising", "credit against correctness"],
  ["wrong_up", "a wrong sample made more likely"],
  ["alive", "with any credit"],
  ["dead", "dead: no credit at all"],
] as const;

export function Groups({ run }: { run: Run }) {
  const { sort, desc = "1", show = "", text = "", from = "0", step = "all", deep, beside } = route.value;
  const at = picked(run);
  const query = at && { ...at.about, step, sort: sort ?? "surprise", desc, show, text, from, deep, beside };
  const isLive = run.status === "running";
  const asked = useAnswer<Answer>(
    "groups",
    query,
    (found) => found.progress !== null || (found.searched ?? 1) < 1 || isLive,
  );
  if (!at) return <p class="warning">This run has logged no samples.</p>;
  return (
    <Panel
      id="groups"
      title="Samples, problem by problem"
      lead={
        <>
          A row is a problem with all its <Term name="sample">samples</Term>
          {at.training.steps.length > 1 ? " of one step" : ""}. j and k move, Enter opens.
        </>
      }
    >
      <Settings run={run} at={at} found={asked.found} />
      <Status asked={asked}>
        {(found) => <Table found={found} at={at} sort={sort ?? "surprise"} desc={desc} show={show} />}
      </Status>
    </Panel>
  );
}

function Settings({ run, at, found }: { run: Run; at: Picked; found: Answer | null }) {
  const { show = "", text = "", step = "all", deep } = route.value;
  const { steps } = at.training;
  const narrow = (chosen: string): void =>
    go({ show: chosen, from: undefined, ...(chosen === "wrong_up" ? { sort: "wrong_up", desc: 1 } : {}) });
  return (
    <div class="settings">
      <SamplesChoice run={run} at={at} />
      {steps.length > 1 ? (
        <Choice
          label="Steps"
          value={step === "all" ? "all" : "one"}
          options={[
            ["all", "all steps"],
            ["one", "one step"],
          ]}
          onChange={(kind) => go({ step: kind === "all" ? undefined : steps[0], from: undefined })}
        />
      ) : null}
      {step === "all" ? null : (
        <StepSlider
          steps={steps}
          step={Number(step)}
          onStep={(chosen) => go({ step: chosen, from: undefined }, true)}
        />
      )}
      <Choice label="Show" value={show} options={SHOW} onChange={narrow} />
      <Besides run={run} at={at} beside={found?.beside ?? null} />
      <Search text={text} />
      <label class="check">
        <input
          type="checkbox"
          checked={deep === "1"}
          onChange={(event) => go({ deep: event.currentTarget.checked ? 1 : undefined })}
        />
        search the samples, too
      </label>
    </div>
  );
}

/** What the table is compared with: another arm of the same split. */
function Besides({ run, at, beside }: { run: Run; at: Picked; beside: string | null }) {
  const others = run.samples
    .find(({ split }) => split === at.split)!
    .arms.flatMap(({ name, seeds }) => seeds.map(({ seed }) => ({ name, seed, several: seeds.length > 1 })))
    .filter(({ name, seed }) => name !== at.arm.name || seed !== at.training.seed);
  if (!others.length) return null;
  const options = others.map(
    ({ name, seed, several }) =>
      [
        [run.id, at.split, name, seed].join("|"),
        `${lookOf(run, name).label}${several ? `, seed ${seed}` : ""}`,
      ] as const,
  );
  return (
    <Choice
      label="Compare with"
      value={beside ?? "none"}
      options={[["none", "nothing"], ...options]}
      onChange={(chosen) => go({ beside: chosen, from: undefined })}
    />
  );
}

function Search({ text }: { text: string }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const waiting = setTimeout(() => typed !== text && go({ text: typed, from: undefined }, true), 250);
    return () => clearTimeout(waiting);
  }, [typed]);
  return (
    <div class="field">
      <label class="field-name" for="prompt-search">
        Search
      </label>
      <input id="prompt-search" type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  );
}

interface TableProps {
  found: Answer;
  at: Picked;
  sort: string;
  desc: string;
  show: string;
}

interface Column {
  readonly key: string;
  readonly name: string;
  readonly cell: (row: GroupRow) => string;
  /** Whether the log tells it of a row; a column that it tells of no row is left out. */
  readonly isKnown?: (row: GroupRow) => boolean;
}

const MISSING = "—";
const percent = (share: number | null): string => (share === null ? MISSING : `${Math.round(100 * share)}%`);
const number = (value: number | null): string => (value === null ? MISSING : value.toFixed(3));
const signed = (change: number | null): string =>
  change === null
    ? MISSING
    : `${change > 0 ? "+" : ""}${Math.round(100 * change)}`.replace("-", "−").replace(/^−0$/, "0");
const surprise = ({ surprise: size, wrong_up }: GroupRow): string =>
  size === null
    ? MISSING
    : size === 0
      ? "none"
      : `${size.toFixed(3)}, ${wrong_up === size ? "wrong, more likely" : "correct, less likely"}`;

const pass1 = ({ pass1: share, correct, graded, samples }: GroupRow): string => {
  if (share === null) return `${MISSING} of ${samples}`;
  return `${percent(share)} (${correct} of ${graded})${graded < samples ? `, ${samples - graded} not graded` : ""}`;
};

const columns = (show: string): readonly Column[] => [
  { key: "step", name: "step", cell: ({ step }) => String(step) },
  { key: "pass1", name: "pass@1", cell: pass1 },
  { key: "change", name: "change", cell: ({ change }) => signed(change), isKnown: ({ change }) => change !== null },
  {
    key: "strategies",
    name: "strategies",
    cell: ({ strategies }) => (strategies === null ? MISSING : String(strategies)),
    isKnown: ({ strategies }) => strategies !== null,
  },
  {
    key: "lost",
    name: "lost",
    cell: ({ lost }) => (lost === null ? MISSING : String(lost)),
    isKnown: ({ lost }) => lost !== null,
  },
  {
    key: "disagreement",
    name: "disagreement",
    cell: ({ disagreement }) => percent(disagreement),
    isKnown: ({ disagreement }) => disagreement !== null,
  },
  {
    key: "largest",
    name: "largest |A|",
    cell: ({ dead, largest }) => (dead === 1 ? "dead" : number(largest)),
    isKnown: ({ largest }) => largest !== null,
  },
  show === "wrong_up"
    ? {
        key: "wrong_up",
        name: "credit of a wrong sample",
        cell: ({ wrong_up }) => number(wrong_up),
        isKnown: ({ wrong_up }) => wrong_up !== null,
      }
    : { key: "surprise", name: "against correctness", cell: surprise, isKnown: ({ surprise: size }) => size !== null },
];

function Table({ found, at, sort, desc, show }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useRows(body);
  const { rows, chosen, total } = found;
  const shown = columns(show).filter(
    ({ key, isKnown }) => (key !== "step" || at.training.steps.length > 1) && (!isKnown || rows.some(isKnown)),
  );
  return (
    <>
      <HowFar found={found} />
      {total > 0 && chosen === 0 ? (
        <p>
          No problem is like this.{" "}
          <button
            type="button"
            onClick={() =>
              go({
                show: undefined,
                text: undefined,
                sort: undefined,
                desc: undefined,
                from: undefined,
                deep: undefined,
              })
            }
          >
            show all problems
          </button>
        </p>
      ) : null}
      <div class="scroll" role="region" aria-label="Table of problems" tabIndex={0}>
        <table class="rows">
          <thead>
            <tr>
              {[{ key: "prompt", name: "problem" }, ...shown].map(({ key, name }) => (
                <th
                  key={key}
                  scope="col"
                  class={key}
                  aria-sort={sort === key ? (desc === "1" ? "descending" : "ascending") : undefined}
                >
                  <button
                    type="button"
                    class="sort"
                    onClick={() => go({ sort: key, desc: sort === key && desc === "1" ? "0" : "1", from: undefined })}
                  >
                    {name} <span aria-hidden="true">{sort === key ? (desc === "1" ? "↓" : "↑") : ""}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.map((row) => (
              <tr key={`${row.step}/${row.place}`}>
                <th scope="row" class="prompt">
                  <a href={hash(route.value, { view: "group", ...at.about, step: row.step, place: row.place })}>
                    {visible(row.prompt) || "(empty)"}
                  </a>
                </th>
                {shown.map(({ key, cell }) => (
                  <td key={key} class={key}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pages found={found} />
      <Meanings shown={shown.map(({ key }) => key)} />
      {found.notes.length ? (
        <details>
          <summary>How this log was read</summary>
          <pre class="text">{visible(found.notes.join("\n"))}</pre>
        </details>
      ) : null}
    </>
  );
}

/** j, k and the arrows move from row to row. */
function useRows(body: { current: HTMLTableSectionElement | null }): void {
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      if (event.key === "/" && !typing(event)) {
        document.getElementById("prompt-search")?.focus();
        event.preventDefault();
      }
      const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
      if (!by || typing(event)) return;
      const links = [...(body.current?.querySelectorAll<HTMLElement>("a") ?? [])];
      const next = links.indexOf(document.activeElement as HTMLElement) + by;
      links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
      event.preventDefault();
    };
    addEventListener("keydown", move);
    return () => removeEventListener("keydown", move);
  }, []);
}

function HowFar({ found: { progress, searched, chosen, total, from, rows } }: { found: Answer }) {
  const count = (many: number): string => many.toLocaleString("en");
  const left = progress?.seconds_left == null ? "" : `, about ${Math.max(1, Math.round(progress.seconds_left))} s left`;
  return (
    <>
      <p class="small" role="status">
        {chosen === total ? `${count(total)} problems` : `${count(chosen)} of ${count(total)} problems`}
        {rows.length && chosen > rows.length ? `, shown: ${count(from + 1)} to ${count(from + rows.length)}` : ""}
        {searched !== null && searched < 1 ? `; ${percent(searched)} of the problems are searched` : ""}
      </p>
      {progress ? (
        <p class="small progress">
          <progress max={1} value={progress.share} aria-label="How much of the log is read" /> The log is being read:{" "}
          {percent(progress.share)}
          {left}. What is there can be used.
        </p>
      ) : null}
    </>
  );
}

function Pages({ found: { from, rows, chosen } }: { found: Answer }) {
  return (
    <div class="below">
      {from > 0 ? (
        <button type="button" onClick={() => go({ from: Math.max(0, from - 100) })}>
          previous 100
        </button>
      ) : null}
      {from + rows.length < chosen ? (
        <button type="button" onClick={() => go({ from: from + 100 })}>
          next 100
        </button>
      ) : null}
    </div>
  );
}

const MEANINGS: Readonly<Record<string, string>> = {
  pass1: "pass@1 is the share of graded samples that are right.",
  change: "Change is the difference of pass@1 to the arm compared with, in points.",
  lost: "Lost is the number of strategies with a right sample there and none here.",
  disagreement:
    "Disagreement is the share of pairs of samples with different answers; without answers, of pairs with one right and one wrong.",
  surprise:
    "Against correctness is the largest advantage that makes a wrong sample more likely or a right one less likely.",
};

function Meanings({ shown }: { shown: readonly string[] }) {
  return <p class="small">{shown.flatMap((key) => MEANINGS[key] ?? []).join(" ")}</p>;
}
