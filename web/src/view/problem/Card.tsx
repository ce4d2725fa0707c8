/** One sample: its text, its grade and why, and what the log says of it. */

import { SignedBar } from "../../components/SignedBar";
import { Swatch } from "../../components/Swatch";
import { visible } from "../../components/visible";
import type { Group, Query, Sample } from "../api";
import { CardText } from "./CardText";
import { largest, opposes } from "./against";
import { RawFields } from "./RawFields";

export interface CardProps {
  group: Group;
  i: number;
  swatch: number | null;
  name: string;
  about: Query;
  search: string;
  isRaw: boolean;
  isSelected: boolean;
  isMarked: boolean;
  onSelect: () => void;
  onCompare: () => void;
}

export const verdictOf = ({ correct, reward }: Sample): string => {
  if (correct === null) return reward === null ? "not graded" : "not known to be correct";
  return correct ? "✓ correct" : "✗ wrong";
};

export function Card(props: CardProps) {
  const { group, i, swatch, name, about, isSelected, isMarked, onSelect, onCompare } = props;
  const sample = group.samples[i]!;
  const verdict = verdictOf(sample);
  return (
    <div
      id={`sample-${i}`}
      class={isSelected ? "card selected" : "card"}
      role="group"
      tabIndex={0}
      aria-label={`y${i + 1}, ${verdict}`}
      onFocus={onSelect}
    >
      <div class="head">
        <strong>y{i + 1}</strong> {swatch === null ? null : <Swatch strategy={swatch} size={14} />}{" "}
        <span class="small">{visible(name)}</span> <span>{verdict}</span>
        {sample.reward !== null && sample.reward !== Number(sample.correct) ? (
          <span class="small">reward {Number(sample.reward.toFixed(3))}</span>
        ) : null}
        {sample.answer !== null && sample.answer !== name ? (
          <span class="small">answer {visible(sample.answer)}</span>
        ) : null}
        {sample.advantage === null ? null : (
          <SignedBar
            value={sample.advantage}
            largest={largest(group.samples.map(({ advantage }) => advantage))}
            against={opposes(sample.correct, sample.advantage)}
          />
        )}
      </div>
      <CardText {...props} />
      {sample.why_wrong ? <p class="note">Wrong, because {visible(sample.why_wrong)}.</p> : null}
      <div class="below">
        <button type="button" aria-pressed={isMarked} onClick={onCompare} aria-label={`mark y${i + 1} to compare it`}>
          compare (x)
        </button>
      </div>
      <RawFields about={{ ...about, step: group.step, place: group.place, sample: i }} />
    </div>
  );
}
