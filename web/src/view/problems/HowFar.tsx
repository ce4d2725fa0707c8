/** How many problems are shown, how far the log is read, and the way to the next ones. */

import type { Groups as Answer } from "../api";
import { go } from "../route";
import { percent } from "./columns";

export function HowFar({ found: { progress, searched, chosen, total, from, rows } }: { found: Answer }) {
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

export function Pages({ found: { from, rows, chosen } }: { found: Answer }) {
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
