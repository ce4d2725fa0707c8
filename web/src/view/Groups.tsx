/** The groups of a step or of all steps: sorted, filtered, and opened from the keyboard. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Choice, Panel } from "../components/Controls";
import { Term } from "../components/Term";
import { type GroupRow, type Groups as Answer, type Run, useAnswer } from "./api";
import { typing } from "./keys";
import { ArmChoice, picked, StepSlider } from "./Pick";
import { go, hash, route } from "./route";
import { Status } from "./Status";
import { visible } from "../components/visible";

const hasGroups = ({ steps }: { steps: readonly number[] }): boolean => steps.length > 0;

const COLUMNS = [
  ["step", "step"],
  ["prompt", "prompt"],
  ["correct", "correct"],
  ["strategies", "strategies"],
  ["largest", "largest |A|"],
] as const;

const SURPRISE = ["surprise", "against correctness"] as const;
const WRONG_UP = ["wrong_up", "credit of a wrong sample"] as const;

const SHOW = [
  ["", "all groups"],
  ["surprising", "credit against correctness"],
  ["wrong_up", "a wrong sample made more likely"],
  ["mixed", "some correct, some wrong"],
  ["alive", "with any credit"],
  ["dead", "dead: no credit at all"],
] as const;

export function Groups({ run }: { run: Run }) {
  const { sort = "surprise", desc = "1", show = "", text = "", from = "0", step = "all" } = route.value;
  const at = picked(run, hasGroups);
  const query = at && { run: run.id, arm: at.arm.name, seed: at.training.seed, step, sort, desc, show, text, from };
  const asked = useAnswer<Answer>("groups", query);
  if (!at) return <p class="warning">This run has logged no groups.</p>;
  const steps = at.training.steps;
  return (
    <Panel
      id="groups"
      title="Groups"
      lead={
        <>
          A group is all <Term name="sample">samples</Term> of one prompt in one step. Credit against correctness is the largest{" "}
          <Term name="advantage">advantage</Term> that makes a wrong sample more likely or a correct one less likely. j and k
          move, Enter opens.
        </>
      }
    >
      <div class="settings">
        <ArmChoice run={run} at={at} has={hasGroups} />
        <Choice label="Steps" value={step === "all" ? "all" : "one"} options={[["all", "all steps"], ["one", "one step"]]}
          onChange={(kind) => go({ step: kind === "all" ? undefined : steps[0], from: undefined })} />
        {step === "all" ? null : (
          <StepSlider steps={steps} step={Number(step)} onStep={(chosen) => go({ step: chosen, from: undefined }, true)} />
        )}
        <Choice label="Show" value={show} options={SHOW} onChange={(chosen) => go({ show: chosen, from: undefined, ...(chosen === "wrong_up" ? { sort: "wrong_up", desc: 1 } : { sort: undefined, desc: undefined }) })} />
        <Search text={text} />
      </div>
      <Status asked={asked}>{(found) => <Table found={found} sort={sort} desc={desc} show={show} arm={at.arm.name} seed={at.training.seed} />}</Status>
    </Panel>
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
      <label class="field-name" for="prompt-search">Prompt contains</label>
      <input id="prompt-search" type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  );
}

interface TableProps {
  found: Answer;
  sort: string;
  desc: string;
  show: string;
  arm: string;
  seed: number;
}

function Table({ found, sort, desc, show, arm, seed }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const move = (event: KeyboardEvent) => {
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
  const { from, rows, chosen, total } = found;
  return (
    <>
      <p class="small" role="status">
        {chosen === total ? `${total.toLocaleString("en")} groups` : `${chosen.toLocaleString("en")} of ${total.toLocaleString("en")} groups`}
        {rows.length && chosen > rows.length ? `, shown: ${from + 1} to ${from + rows.length}` : ""}
      </p>
      {total > 0 && chosen === 0 ? (
        <p>
          No group is like this.{" "}
          <button type="button" onClick={() => go({ show: undefined, text: undefined, sort: undefined, desc: undefined, from: undefined })}>show all groups</button>
        </p>
      ) : null}
      <div class="scroll" role="region" aria-label="Table of groups" tabIndex={0}>
        <table class="rows">
          <thead>
            <tr>
              {[...COLUMNS, show === "wrong_up" ? WRONG_UP : SURPRISE].map(([key, name]) => (
                <th key={key} scope="col" class={key} aria-sort={sort === key ? (desc === "1" ? "descending" : "ascending") : undefined}>
                  <button type="button" class="sort" onClick={() => go({ sort: key, desc: sort === key && desc === "1" ? "0" : "1", from: undefined })}>
                    {name} <span aria-hidden="true">{sort === key ? (desc === "1" ? "↓" : "↑") : ""}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {rows.map((row) => <Row key={`${row.step}/${row.place}`} row={row} show={show} arm={arm} seed={seed} />)}
          </tbody>
        </table>
      </div>
      <div class="below">
        {from > 0 ? <button type="button" onClick={() => go({ from: Math.max(0, from - 100) })}>previous 100</button> : null}
        {from + rows.length < chosen ? <button type="button" onClick={() => go({ from: from + 100 })}>next 100</button> : null}
      </div>
    </>
  );
}

const unknown = (value: number | null, shown: (known: number) => string): string => (value === null ? "not logged" : shown(value));

function Row({ row, show, arm, seed }: { row: GroupRow; show: string; arm: string; seed: number }) {
  return (
    <tr>
      <td class="step">{row.step}</td>
      <th scope="row" class="prompt">
        <a href={hash(route.value, { view: "group", arm, seed, step: row.step, place: row.place })}>{visible(row.prompt) || "(empty)"}</a>
      </th>
      <td class="correct">{unknown(row.correct, (count) => `${count} of ${row.samples}`)}</td>
      <td class="strategies">{unknown(row.strategies, String)}</td>
      <td class="largest">{row.dead === 1 ? "dead" : unknown(row.largest, (value) => value.toFixed(3))}</td>
      <td class="surprise">
        {show === "wrong_up" ? unknown(row.wrong_up, (value) => value.toFixed(3)) : unknown(row.surprise, (value) => (value === 0 ? "none" : `${value.toFixed(3)}, ${row.wrong_up === value ? "wrong, more likely" : "correct, less likely"}`))}
      </td>
    </tr>
  );
}
