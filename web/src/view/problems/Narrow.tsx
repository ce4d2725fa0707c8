/** Which problems are listed: of which samples, steps and kinds, compared with what, found by which text. */

import { useEffect, useState } from "preact/hooks";
import { Choice } from "../../components/Controls";
import type { Groups as Answer, Run } from "../api";
import { lookOf } from "../looks";
import { type Picked, SamplesChoice, StepSlider } from "../Pick";
import { go, route } from "../route";

const SHOW = [
  ["all", "all problems"],
  ["mixed", "some right, some wrong"],
  ["right", "all right"],
  ["wrong", "all wrong"],
  ["unknown", "some not graded"],
  ["surprising", "credit against correctness"],
  ["wrong_up", "credit for a wrong sample"],
  ["alive", "with any credit"],
  ["dead", "dead: no credit at all"],
] as const;

/** What is shown first: where samples differ, credit says something. */
export const MIXED = "mixed";

export function Narrow({ run, at, found }: { run: Run; at: Picked; found: Answer | null }) {
  const { show = MIXED, text = "", step = "all", deep } = route.value;
  const { steps } = at.training;
  const narrow = (chosen: string): void =>
    go({ show: chosen, from: undefined, ...(chosen === "wrong_up" ? { sort: "wrong_up", desc: 1 } : {}) });
  return (
    <div class="settings">
      <SamplesChoice run={run} at={at} />
      {steps.length > 1 ? (
        <Choice
          label="Steps"
          value={step === "all" ? "all" : "one"}
          options={[
            ["all", "all steps"],
            ["one", "one step"],
          ]}
          onChange={(kind) => go({ step: kind === "all" ? undefined : steps[0], from: undefined })}
        />
      ) : null}
      {step === "all" ? null : (
        <StepSlider
          steps={steps}
          step={Number(step)}
          onStep={(chosen) => go({ step: chosen, from: undefined }, true)}
        />
      )}
      <Choice label="Show" value={show} options={SHOW} onChange={narrow} />
      <Besides run={run} at={at} beside={found?.beside ?? null} />
      <Search text={text} />
      <label class="check">
        <input
          type="checkbox"
          checked={deep === "1"}
          onChange={(event) => go({ deep: event.currentTarget.checked ? 1 : undefined })}
        />
        search the samples, too
      </label>
    </div>
  );
}

/** What the table is compared with: another arm of the same split. */
function Besides({ run, at, beside }: { run: Run; at: Picked; beside: string | null }) {
  const others = run.samples
    .find(({ split }) => split === at.split)!
    .arms.flatMap(({ name, seeds }) => seeds.map(({ seed }) => ({ name, seed, several: seeds.length > 1 })))
    .filter(({ name, seed }) => name !== at.arm.name || seed !== at.training.seed);
  if (!others.length) return null;
  const options = others.map(
    ({ name, seed, several }) =>
      [
        [run.id, at.split, name, seed].join("|"),
        `${lookOf(run, name).label}${several ? `, seed ${seed}` : ""}`,
      ] as const,
  );
  return (
    <Choice
      label="Compare with"
      value={beside ?? "none"}
      options={[["none", "nothing"], ...options]}
      onChange={(chosen) => go({ beside: chosen, from: undefined })}
    />
  );
}

function Search({ text }: { text: string }) {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const waiting = setTimeout(() => typed !== text && go({ text: typed, from: undefined }, true), 250);
    return () => clearTimeout(waiting);
  }, [typed]);
  return (
    <div class="field">
      <label class="field-name" for="prompt-search">
        Search
      </label>
      <input id="prompt-search" type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
    </div>
  );
}
