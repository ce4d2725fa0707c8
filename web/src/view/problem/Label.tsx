/** A reader's label and note of a sample; they are saved when the field is left. */

import type { Mark } from "../api";

export function Label({ mark, onMark }: { mark: Mark; onMark: (mark: Mark) => void }) {
  const { strategy = "", note = "" } = mark;
  const field = (name: "strategy" | "note", label: string, value: string) => (
    <label class="own">
      <span class="field-name">{label}</span>
      <input
        value={value}
        maxLength={1000}
        onChange={(event) => onMark({ ...mark, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <details open={Boolean(strategy || note)}>
      <summary>Your label and note</summary>
      {field("strategy", "strategy, in your words", strategy)}
      {field("note", "note", note)}
    </details>
  );
}
