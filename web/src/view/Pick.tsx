/** Which samples are looked at: split, arm, seed and step. */

import { Choice, Slider } from "../components/Controls";
import type { Run, Sampled } from "./api";
import { lookOf } from "./looks";
import { go, route } from "./route";
import { visible } from "../components/visible";

type SampledArm = Sampled["arms"][number];

export interface Picked {
  readonly split: string;
  readonly arm: SampledArm;
  readonly training: SampledArm["seeds"][number];
  /** What a question about these samples names. */
  readonly about: {
    readonly run: string;
    readonly split: string | undefined;
    readonly arm: string;
    readonly seed: number;
  };
}

/** The samples of the address, or the first ones that there are: of training, if there are any. */
export function picked(run: Run): Picked | null {
  const { split: wanted = "", arm: name, seed } = route.value;
  const sampled = run.samples.find(({ split }) => split === wanted) ?? run.samples[0];
  const arm = sampled?.arms.find((one) => one.name === name) ?? sampled?.arms.at(-1);
  const training = arm?.seeds.find((one) => String(one.seed) === seed) ?? arm?.seeds[0];
  if (!sampled || !arm || !training) return null;
  const about = { run: run.id, split: sampled.split || undefined, arm: arm.name, seed: training.seed };
  return { split: sampled.split, arm, training, about };
}

const ELSEWHERE = { place: undefined, from: undefined, sample: undefined, pair: undefined } as const;

const OF_FILES: Readonly<Record<string, string>> = { given: "the logs", credited: "logs with credit, by setrl credit" };

const splitName = (run: Run, split: string): string =>
  (run.kind === "files" ? OF_FILES[split] : undefined) ?? (split ? `evaluation: ${visible(split)}` : "training");

export function SamplesChoice({ run, at }: { run: Run; at: Picked }) {
  const arms = run.samples.find(({ split }) => split === at.split)!.arms;
  return (
    <>
      {run.samples.length > 1 ? (
        <Choice
          label="Samples of"
          value={at.split}
          options={run.samples.map(({ split }) => [split, splitName(run, split)] as const)}
          onChange={(split) => go({ ...ELSEWHERE, split: split || undefined, step: undefined, beside: undefined })}
        />
      ) : null}
      {arms.length > 1 ? (
        <Choice
          label="Arm"
          value={at.arm.name}
          options={arms.map(({ name }) => [name, lookOf(run, name).label] as const)}
          onChange={(arm) => go({ ...ELSEWHERE, arm, seed: undefined })}
        />
      ) : null}
      {at.arm.seeds.length > 1 ? (
        <Choice
          label="Seed"
          value={String(at.training.seed)}
          options={at.arm.seeds.map(({ seed }) => [String(seed), String(seed)] as const)}
          onChange={(seed) => go({ ...ELSEWHERE, seed })}
        />
      ) : null}
    </>
  );
}

interface StepProps {
  steps: readonly number[];
  step: number;
  onStep: (step: number) => void;
}

export function StepSlider({ steps, step, onStep }: StepProps) {
  const place = Math.max(0, steps.indexOf(step));
  return (
    <Slider
      label="Step"
      value={place}
      min={0}
      max={Math.max(steps.length - 1, 0)}
      step={1}
      format={(at) => String(steps[at] ?? "")}
      onInput={(at) => onStep(steps[at]!)}
    />
  );
}
