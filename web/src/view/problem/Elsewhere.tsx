/** The same problem in other runs, arms, seeds and steps; one of them side by side with this one. */

import { Panel } from "../../components/Controls";
import { type Elsewhere as Answer, type Group, type Query, useAnswer } from "../api";
import { Beside } from "./Beside";
import { go, hash, route } from "../route";
import { Status } from "../Status";
import { keyOf, nameOf } from "./places";

const SHOWN = 30;

export function Elsewhere({ group, about }: { group: Group; about: Query }) {
  const query = { ...about, step: group.step, place: group.place };
  const asked = useAnswer<Answer>("elsewhere", query, ({ unread }) => unread > 0);
  const { other } = route.value;
  return (
    <Panel
      id="elsewhere"
      title="The same problem elsewhere"
      lead="In other arms, seeds, steps and runs of this folder: how many of the graded samples are correct there, and how many strategies they have."
    >
      <Status asked={asked}>
        {(found) => (
          <>
            <Places found={found} other={other} />
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

function Places({ found: { places, left_out, unread }, other }: { found: Answer; other: string | undefined }) {
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
                <th scope="col" class="control">
                  show
                </th>
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
                  <td class="control">
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
