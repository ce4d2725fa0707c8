/** The command that made the run, to copy. */

import { useState } from "preact/hooks";
import { Panel } from "../components/Controls";

export function Command({ text }: { text: string }) {
  const [state, setState] = useState("copy");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("select it and press Ctrl+C"),
    );
  return (
    <Panel id="command" title="Do it again" lead="The exact command of this run.">
      <pre class="command" tabIndex={0}>
        {text}
      </pre>
      <button type="button" onClick={() => void copy()} aria-live="polite">
        {state}
      </button>
    </Panel>
  );
}
