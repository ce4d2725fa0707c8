/** Two samples of a group, word by word. */

import { useMemo } from "preact/hooks";
import { Panel } from "../../components/Controls";
import { visible } from "../../components/visible";
import type { Group } from "../api";
import { difference } from "./difference";

interface Props {
  group: Group;
  pair: readonly [number, number];
  onClose: () => void;
}

export function Compared({ group, pair: [one, other], onClose }: Props) {
  const pieces = useMemo(
    () => difference(visible(group.samples[one]!.text), visible(group.samples[other]!.text)),
    [group, one, other],
  );
  return (
    <Panel
      id="compared"
      title={`y${one + 1} and y${other + 1}`}
      lead={`Struck out: only in y${one + 1}. Underlined: only in y${other + 1}.`}
    >
      {pieces ? (
        <pre class="text compared">
          {pieces.map(({ text, of }, i) =>
            of === "other" ? <ins key={i}>{text}</ins> : of === "one" ? <del key={i}>{text}</del> : text,
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
