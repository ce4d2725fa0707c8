/** Which training run and which step is looked at. */

import { Choice, Slider } from "../components/Controls";
import type { Arm, Run, Training } from "./api";
import { go, route } from "./route";
import { visible } from "../components/visible";

export interface Picked {
  readonly arm: Arm;
  readonly training: Training;
}

/** The arm and the seed of the address, or the first that has what is asked for. */
export function picked(run: Run, has: (training: Training) => boolean): Picked | null {
  const { arm: name, seed } = route.value;
  const arms = run.arms.filter((arm) => arm.seeds.some(has));
  const arm = arms.find((one) => one.name === name) ?? arms.at(-1);
  if (!arm) return null;
  const seeds = arm.seeds.filter(has);
  return { arm, training: seeds.find((one) => String(one.seed) === seed) ?? seeds[0]! };
}

interface Props {
  run: Run;
  at: Picked;
  has: (training: Training) => boolean;
}

export function ArmChoice({ run, at, has }: Props) {
  const arms = run.arms.filter((arm) => arm.seeds.some(has));
  return (
    <>
      <Choice
        label="Arm"
        value={at.arm.name}
        options={arms.map((arm) => [arm.name, visible(arm.name)] as const)}
        onChange={(arm) => go({ arm, place: undefined, from: undefined, seed: undefined })}
      />
      {at.arm.seeds.filter(has).length > 1 ? (
        <Choice
          label="Seed"
          value={String(at.training.seed)}
          options={at.arm.seeds.filter(has).map(({ seed }) => [String(seed), String(seed)] as const)}
          onChange={(seed) => go({ seed, place: undefined, from: undefined })}
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
