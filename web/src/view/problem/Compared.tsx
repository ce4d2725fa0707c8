/** Two samples of a group, word by word. */

import { diffWordsWithSpace } from "diff";
import { useMemo } from "preact/hooks";
import { Panel } from "../../components/Controls";
import type { Group } from "../api";
import { visible } from "../../components/visible";

interface Props {
  group: Group;
  pair: readonly [number, number];
  onClose: () => void;
}

export function Compared({ group, pair: [one, other], onClose }: Props) {
  const parts = useMemo(
    () => diffWordsWithSpace(visible(group.samples[one]!.text), visible(group.samples[other]!.text), { timeout: 1000 }),
    [group, one, other],
  );
  return (
    <Panel
      id="compared"
      title={`y${one + 1} and y${other + 1}`}
      lead={`Struck out: only in y${one + 1}. Underlined: only in y${other + 1}.`}
    >
      {parts ? (
        <pre class="text compared">
          {parts.map((part, i) =>
            part.added ? <ins key={i}>{part.value}</ins> : part.removed ? <del key={i}>{part.value}</del> : part.value,
          )}
        </pre>
      ) : (
        <p>The two differ too much to be compared word by word.</p>
      )}
      <button type="button" onClick={onClose}>
        close
      </button>
    </Panel>
  );
}
