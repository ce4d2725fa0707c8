/** The samples of a problem side by side with its samples elsewhere, folded by strategy or answer. */

import { type Group, type Place, useAnswer } from "../api";
import { Status } from "../Status";
import { verdictOf } from "./Card";
import { groupings, type Pile, PileName, pilesOf } from "./piles";
import { nameOf } from "./places";
import { Rendered } from "./Rendered";

const FOLDED = 600; // letters of a sample
const SAMPLES_SHOWN = 12;

export function Beside({
  group,
  place,
  split,
}: {
  group: Group;
  place: Place | undefined;
  split: string | number | undefined;
}) {
  const asked = useAnswer<Group>(
    "group",
    place ? { run: place.run, split, arm: place.arm, seed: place.seed, step: place.step, place: place.place } : null,
  );
  if (!place) return <p class="warning">These samples are not listed (any more).</p>;
  return (
    <Status asked={asked}>
      {(other) => (
        <div class="beside">
          <Column title="These samples" group={group} />
          <Column title={nameOf(place)} group={other} />
        </div>
      )}
    </Status>
  );
}

function Column({ title, group }: { title: string; group: Group }) {
  const by = groupings(group.samples)[0] ?? "strategy";
  return (
    <div>
      <h3>{title}</h3>
      {pilesOf(group.samples, by).map((pile) => (
        <Folded key={pile.members[0]} group={group} pile={pile} />
      ))}
    </div>
  );
}

function Folded({ group, pile }: { group: Group; pile: Pile }) {
  const { members } = pile;
  return (
    <details>
      <summary>
        <PileName group={group} pile={pile} />
      </summary>
      {members.slice(0, SAMPLES_SHOWN).map((i) => {
        const sample = group.samples[i]!;
        return (
          <div key={i} class="card">
            <p class="small">
              y{i + 1} {verdictOf(sample)}
            </p>
            <Rendered text={sample.text.slice(0, FOLDED)} />
            {sample.length > FOLDED ? (
              <p class="small">… {(sample.length - FOLDED).toLocaleString("en")} letters more</p>
            ) : null}
          </div>
        );
      })}
      {members.length > SAMPLES_SHOWN ? <p class="small">{members.length - SAMPLES_SHOWN} more like these.</p> : null}
    </details>
  );
}
