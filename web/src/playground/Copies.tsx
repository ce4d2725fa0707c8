/** Copies of what a panel shows: as Python code, or as a link. */

import { useState } from "preact/hooks";

export function Copies({ code }: { code: string }) {
  const [done, setDone] = useState("");
  const copy = async (what: string, text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(`${what} copied`);
    } catch {
      setDone("the browser does not allow copying: open “show the Python code” and select it");
    }
  };
  return (
    <div class="copies">
      <button type="button" onClick={() => copy("Python code", code)}>
        Copy as Python
      </button>
      <button type="button" onClick={() => copy("Link", location.href)}>
        Copy the link
      </button>
      <span role="status">{done}</span>
      <details>
        <summary>show the Python code</summary>
        <pre tabIndex={0}>{code}</pre>
      </details>
    </div>
  );
}
