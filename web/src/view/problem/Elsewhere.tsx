/** The same problem in other runs, arms, seeds and steps; one of them side by side with this one. */

import { Panel } from "../components/Controls";
import { Swatch } from "../components/Swatch";
import { type Elsewhere as Answer, type Group, type Place, type Query, useAnswer } from "./api";
import { type Cluster, clustersOf, groupings, shareCorrect } from "./clusters";
import { Rendered } from "./Rendered";
import { go, hash, route } from "./route";
import { Status } from "./Status";
import { visible } from "../components/visible";
import { verdictOf } from "./Card";

const SHOWN = 30;
const FOLDED = 600; // letters of a sample
const SAMPLES_SHOWN = 12;

const keyOf = ({ run, arm, seed, step, place }: Place): string => [run, seed, step, place, arm].join("|");

const nameOf = ({ name, arm, seed, step, by_step }: Place): string =>
  `${visible(name)}, ${visible(arm)}, seed ${seed}${by_step ? `, step ${step}` : ""}`;

export function Elsewhere({ group, about }: { group: Group; about: Query }) {
  const query = { ...about, step: group.step, place: group.place };
  const asked = useAnswer<Answer>("elsewhere", query, ({ unread }) => unread > 0);
  const { other } = route.value;
  return (
    <Panel
      id="elsewhere"
      title="The same problem elsewhere"
      lead="In other arms, seeds, steps and runs of this folder."
    >
      <Status asked={asked}>
        {(found) => (
          <>
            <Places found={found} group={group} other={other} />
            {other ? (
              <Beside
                key={other}
                group={group}
                place={found.places.find((place) => keyOf(place) === other)}
                split={about.split}
              />
            ) : null}
          </>
        )}
      </Status>
    </Panel>
  );
}

function Places({
  found: { places, left_out, unread },
  other,
}: {
  found: Answer;
  group: Group;
  other: string | undefined;
}) {
  return (
    <>
      {unread ? (
        <p class="small" role="status">
          {unread === 1 ? "One log is" : `${unread} logs are`} still being read.
        </p>
      ) : null}
      {!places.length && !unread ? <p>It was sampled nowhere else.</p> : null}
      {places.length ? (
        <div class="scroll" role="region" aria-label="Where the problem was sampled" tabIndex={0}>
          <table class="rows">
            <thead>
              <tr>
                <th scope="col">samples</th>
                <th scope="col">correct</th>
                <th scope="col">strategies</th>
                <th scope="col">show</th>
              </tr>
            </thead>
            <tbody>
              {places.slice(0, SHOWN).map((place) => (
                <tr key={keyOf(place)}>
                  <th scope="row" class="prompt">
                    <a
                      href={hash(
                        { view: "group" },
                        {
                          run: place.run,
                          split: route.value.split,
                          arm: place.arm,
                          seed: place.seed,
                          step: place.step,
                          place: place.place,
                        },
                      )}
                    >
                      {nameOf(place)}
                    </a>
                  </th>
                  <td>{place.correct === null ? "—" : `${place.correct} of ${place.graded}`}</td>
                  <td>{place.strategies ?? "—"}</td>
                  <td>
                    <button
                      type="button"
                      aria-pressed={other === keyOf(place)}
                      aria-label={`side by side with ${nameOf(place)}`}
                      onClick={() => go({ other: other === keyOf(place) ? undefined : keyOf(place) })}
                    >
                      side by side
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
      {left_out + Math.max(0, places.length - SHOWN) ? (
        <p class="small">{left_out + places.length - SHOWN} more are not listed.</p>
      ) : null}
    </>
  );
}

function Beside({
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
      {clustersOf(group.samples, by).map((cluster) => (
        <Folded key={cluster.members[0]} group={group} cluster={cluster} />
      ))}
    </div>
  );
}

function Folded({ group, cluster }: { group: Group; cluster: Cluster }) {
  const { members, swatch, name } = cluster;
  return (
    <details>
      <summary>
        {swatch === null ? null : <Swatch cluster={swatch} size={14} />} {visible(name)}{" "}
        <small>{shareCorrect(group.samples, cluster)}</small>
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
