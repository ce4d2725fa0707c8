/** What the page holds without its script: a click sorts the tables, and copies the command. */

import { render } from "preact";
import { useState } from "preact/hooks";

/** Give every table of numbers buttons in its head. */
export function sortTables(): void {
  const hint = document.createElement("p");
  hint.className = "note screen";
  hint.textContent = "Choose the head of a column to sort by it.";
  document.querySelector(".numbers > h2")?.after(hint);
  for (const table of document.querySelectorAll<HTMLTableElement>(".numbers table")) {
    const heads = [...table.tHead!.rows[0]!.cells];
    const first = [...table.tBodies[0]!.rows];
    if (first.length < 2) continue;
    for (const [at, head] of heads.entries()) {
      const button = document.createElement("button");
      button.type = "button";
      button.title = at > 0 ? "sort by this column" : "sort as at first";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, heads, first));
      head.append(button);
    }
  }
}

/** Largest first, then smallest first; the names of the arms bring the first order back. */
function sort(
  table: HTMLTableElement,
  head: HTMLTableCellElement,
  heads: readonly HTMLTableCellElement[],
  first: readonly HTMLTableRowElement[],
): void {
  const at = head.cellIndex;
  const isUp = head.ariaSort === "descending";
  for (const one of heads) one.ariaSort = null;
  if (at > 0) head.ariaSort = isUp ? "ascending" : "descending";
  const rows = at > 0 ? first.toSorted((a, b) => compared(valueIn(a, at), valueIn(b, at), isUp)) : first;
  table.tBodies[0]!.append(...rows);
}

const valueIn = (row: HTMLTableRowElement, at: number): number => parseFloat(row.cells[at]!.dataset.value ?? "");

/** What is missing is last, whatever the order. */
function compared(a: number, b: number, isUp: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return isUp ? a - b : b - a;
}

export function copyCommands(): void {
  for (const command of document.querySelectorAll<HTMLElement>("pre.command")) {
    const place = document.createElement("div");
    command.after(place);
    render(<Copy text={command.textContent!} />, place);
  }
}

function Copy({ text }: { text: string }) {
  const [state, setState] = useState("copy");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("select it and press Ctrl+C"),
    );
  return (
    <button type="button" class="copy" onClick={() => void copy()} aria-live="polite">
      {state}
    </button>
  );
}
