/** The page of one problem: its prompt, who got how much credit and why, its samples, where else it was sampled. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, type Group, type Groups, type Query, type Run, useAnswer } from "../api";
import { type Picked, picked, SamplesChoice, StepSlider } from "../Pick";
import { go, hash, route } from "../route";
import { Status } from "../Status";
import { type By, groupings, pilesOf } from "./piles";
import { Compared } from "./Compared";
import { CreditPanels } from "./Credit";
import { Elsewhere } from "./Elsewhere";
import { Head } from "./Head";
import { Samples } from "./Samples";
import { useSelection } from "./selection";

const LIST = {
  view: "groups",
  place: undefined,
  step: undefined,
  sample: undefined,
  pair: undefined,
  other: undefined,
} as const;

export function Problem({ run }: { run: Run }) {
  const { step, place, k, method } = route.value;
  const at = picked(run);
  const chosen = at && step !== undefined && place !== undefined;
  const size = k ?? at?.arm.set_size ?? undefined;
  const asked = useAnswer<Group>("group", chosen ? { ...at.about, step, place, set_size: size, method } : null);
  useEffect(() => {
    if (at && !chosen) void toStep(at, at.training.steps[0]!, 0);
  }, [chosen, at?.split, at?.arm.name]);
  if (!at) return <p class="warning">This run has logged no samples.</p>;
  return (
    <>
      <p>
        <a href={hash(route.value, LIST)}>All problems</a>
      </p>
      <div class="settings">
        <SamplesChoice run={run} at={at} />
        {at.training.steps.length > 1 ? (
          <StepSlider
            steps={at.training.steps}
            step={Number(step)}
            onStep={(target) => void toStep(at, target, asked.found?.number ?? 0)}
          />
        ) : null}
      </div>
      <Status asked={asked}>
        {(group) => <Shown key={`${at.arm.name}/${group.step}/${group.place}`} group={group} about={at.about} />}
      </Status>
    </>
  );
}

/** Go to the group of a step with a number, or to its first one if the step has fewer groups. */
async function toStep({ about }: Picked, step: number, number: number): Promise<void> {
  const rowOf = (from: number) =>
    ask<Groups>("groups", { ...about, step, from }).then(
      ({ rows }) => rows[0],
      () => undefined,
    );
  const row = (await rowOf(number)) ?? (await rowOf(0));
  if (row) go({ step, place: row.place }, true);
}

function Shown({ group, about }: { group: Group; about: Query }) {
  const bys = groupings(group.samples);
  const by: By = bys.find((one) => one === route.value.by) ?? bys[0] ?? "strategy";
  const piles = useMemo(() => pilesOf(group.samples, by), [group, by]);
  const order = useMemo(() => piles.flatMap(({ members }) => members), [piles]);
  const selection = useSelection(group, order);
  const [focused, setFocused] = useState<{ readonly i: number } | null>(null);
  const { selected, marked, select } = selection;
  const onSelect = (i: number): void => {
    select(i);
    setFocused({ i }); // a new object, so that the same sample gets the focus again
  };
  const credit = <CreditPanels group={group} piles={piles} selected={selected} onSelect={onSelect} />;
  // Who reads a log of training asks for credit, who reads an evaluation for the samples.
  const isTraining = group.samples.some(({ advantage }) => advantage !== null);
  return (
    <>
      <Head group={group} />
      {isTraining ? credit : null}
      {marked.length === 2 ? (
        <Compared group={group} pair={[marked[0]!, marked[1]!]} onClose={() => go({ pair: undefined })} />
      ) : null}
      <Samples
        group={group}
        about={about}
        bys={bys}
        by={by}
        piles={piles}
        order={order}
        selection={selection}
        focused={focused}
        onFocus={onSelect}
      />
      {isTraining ? null : credit}
      <Elsewhere group={group} about={about} />
    </>
  );
}
