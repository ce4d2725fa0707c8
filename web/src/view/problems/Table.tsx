/** The table of problems: sorted by its heads, opened by its links. */

import { useRef } from "preact/hooks";
import { visible } from "../../components/visible";
import type { Groups as Answer } from "../api";
import { stepping, useKeys } from "../keys";
import type { Picked } from "../Pick";
import { go, hash, route } from "../route";
import { type Column, columns } from "./columns";
import { HowFar, Pages } from "./HowFar";
import { Strip } from "./Strip";

interface TableProps {
  found: Answer;
  at: Picked;
  sort: string;
  desc: string;
  show: string;
}

const PROBLEM = { key: "prompt", name: "problem", means: "What the model was given." } as const;

export function Table({ found, at, sort, desc, show }: TableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  useRows(body);
  const { rows, chosen, total } = found;
  const shown = columns(show, rows, at.training.steps.length > 1);
  return (
    <>
      <HowFar found={found} />
      {found.error === null ? null : (
        <p class="warning" role="alert">
          Only a part of the log can be read: {visible(found.error)}
        </p>
      )}
      {total > 0 && chosen === 0 ? <NoneLikeThis /> : null}
      <div class="scroll" role="region" aria-label="Table of problems" tabIndex={0}>
        <table class="rows">
          <thead>
            <tr>
              {[PROBLEM, ...shown].map((column) => (
                <Heading key={column.key} column={column} sort={sort} desc={desc} />
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
                    {key === "pass1" ? <Strip strip={row.strip} /> : null}
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Pages found={found} />
      {found.by_task ? <ByTask {...found.by_task} /> : null}
      <p class="small">{shown.map(({ means }) => means).join(" ")}</p>
      {found.notes.length ? (
        <details>
          <summary>How this log was read</summary>
          <pre class="text">{visible(found.notes.join("\n"))}</pre>
        </details>
      ) : null}
    </>
  );
}

function ByTask({ head, rows }: NonNullable<Answer["by_task"]>) {
  return (
    <div class="scroll" role="region" aria-label="All problems by task" tabIndex={0}>
      <table class="rows">
        <caption>All problems by task, with 95% intervals over problems</caption>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([task, ...cells], at) => (
            <tr key={at}>
              <th scope="row">{visible(task!)}</th>
              {cells.map((cell, place) => (
                <td key={place}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading({
  column: { key, name, means },
  sort,
  desc,
}: {
  column: Pick<Column, "key" | "name" | "means">;
  sort: string;
  desc: string;
}) {
  const isSorted = sort === key;
  const isDown = desc === "1";
  return (
    <th scope="col" class={key} aria-sort={isSorted ? (isDown ? "descending" : "ascending") : undefined}>
      <button
        type="button"
        class="sort"
        title={means}
        onClick={() => go({ sort: key, desc: isSorted && isDown ? "0" : "1", from: undefined })}
      >
        {name} <span aria-hidden="true">{isSorted ? (isDown ? "↓" : "↑") : ""}</span>
      </button>
    </th>
  );
}

const ALL = {
  show: "all",
  text: undefined,
  sort: undefined,
  desc: undefined,
  from: undefined,
  deep: undefined,
} as const;

function NoneLikeThis() {
  return (
    <p>
      No problem is like this.{" "}
      <button type="button" onClick={() => go(ALL)}>
        show all problems
      </button>
    </p>
  );
}

/** j, k and the arrows move from row to row. */
function useRows(body: { current: HTMLTableSectionElement | null }): void {
  const move = (by: 1 | -1): void => {
    const links = [...(body.current?.querySelectorAll<HTMLElement>("a") ?? [])];
    const next = links.indexOf(document.activeElement as HTMLElement) + by;
    links[Math.max(0, Math.min(links.length - 1, next))]?.focus();
  };
  useKeys({ ...stepping(move), "/": () => document.getElementById("prompt-search")?.focus() });
}
