/** What stands in the place of an answer that is not there yet, or never will be. */

import type { ComponentChildren } from "preact";
import type { Asked } from "./api";
import { visible } from "../components/visible";

interface Props<T> {
  asked: Asked<T>;
  children: (found: T) => ComponentChildren;
}

export function Status<T>({ asked, children }: Props<T>) {
  if (asked.error !== null)
    return (
      <p class="warning" role="alert">
        {visible(asked.error)}
      </p>
    );
  if (asked.found === null)
    return (
      <p class="lead" role="status">
        One moment …
      </p>
    );
  return (
    <div class={asked.waits ? "waits" : ""} aria-busy={asked.waits}>
      {children(asked.found)}
    </div>
  );
}

export function Notes({ notes }: { notes: readonly string[] }) {
  if (!notes.length) return null;
  return (
    <ul class="notes">
      {notes.map((note) => (
        <li key={note}>{visible(note)}</li>
      ))}
    </ul>
  );
}
