/** The prompt and the right answer of a problem, the way to its neighbours, and the keys. */

import { useState } from "preact/hooks";
import { Panel } from "../../components/Controls";
import { visible } from "../../components/visible";
import type { Group } from "../api";
import { useKeys } from "../keys";
import { go } from "../route";
import { Notes } from "../Status";
import { Rendered } from "./Rendered";
import { ELSEWHERE } from "./selection";

export function Head({ group }: { group: Group }) {
  const [help, setHelp] = useState(false);
  const to = (place: number | null) => () => {
    if (place !== null) go({ ...ELSEWHERE, place });
  };
  useKeys({
    n: to(group.after),
    p: to(group.before),
    "?": () => setHelp(!help),
    Escape: () => setHelp(false),
  });
  return (
    <Panel
      id="group"
      title={group.by_step ? `Step ${group.step}, group ${group.number + 1}` : `Problem ${group.number + 1}`}
      lead={group.by_step || group.id === group.prompt ? "The prompt." : visible(group.id)}
    >
      <div class="prompt">{group.prompt ? <Rendered text={group.prompt} /> : "(empty)"}</div>
      {group.gold === null ? null : (
        <p>
          Right answer: <strong>{visible(group.gold)}</strong>
        </p>
      )}
      <Notes notes={group.notes} />
      <div class="below">
        <button type="button" disabled={group.before === null} onClick={to(group.before)}>
          previous problem (p)
        </button>
        <button type="button" disabled={group.after === null} onClick={to(group.after)}>
          next problem (n)
        </button>
        <button type="button" aria-expanded={help} onClick={() => setHelp(!help)}>
          keys (?)
        </button>
      </div>
      {help ? <Help /> : null}
    </Panel>
  );
}

const KEYS = [
  ["j k ← → ↑ ↓", "next and previous sample"],
  ["n p", "next and previous problem"],
  ["x", "mark a sample; two marked samples are compared"],
  ["/", "search"],
  ["Esc", "leave the search"],
  ["?", "these keys"],
] as const;

function Help() {
  return (
    <dl class="keys">
      {KEYS.map(([key, does]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  );
}
