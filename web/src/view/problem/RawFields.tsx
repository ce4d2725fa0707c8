/** All fields that the log has of a sample, asked for when they are opened. */

import { useState } from "preact/hooks";
import { visible } from "../../components/visible";
import { ask, type Query } from "../api";

export function RawFields({ about }: { about: Query }) {
  const [fields, setFields] = useState<string | null>(null);
  const load = (isOpen: boolean): void => {
    if (!isOpen || fields !== null) return;
    ask<{ fields: unknown }>("raw", about).then(
      ({ fields: found }) =>
        setFields(
          found === null ? "Logs of this tool are shown in their own pages only." : JSON.stringify(found, null, 1),
        ),
      (error: unknown) => setFields((error as Error).message),
    );
  };
  return (
    <details onToggle={(event) => load(event.currentTarget.open)}>
      <summary>All fields of the log</summary>
      {fields === null ? null : <pre class="text">{visible(fields)}</pre>}
    </details>
  );
}
