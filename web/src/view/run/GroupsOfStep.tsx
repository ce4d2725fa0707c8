/** The way from a step of a curve to the groups that were logged in this step. */

import { useState } from "preact/hooks";
import { visible } from "../../components/visible";
import type { Run } from "../api";
import { StepSlider } from "../Pick";
import { go } from "../route";

/** The training run whose groups a click leads to: of the arms that are shown, the first that logged any. */
export interface Logged {
  readonly arm: string;
  readonly seed: number;
  readonly steps: readonly number[];
}

export function loggedGroups(run: Run, shown: readonly string[]): Logged | null {
  for (const arm of run.arms.filter(({ name }) => shown.includes(name)).reverse()) {
    const found = arm.seeds.find(({ steps }) => steps.length);
    if (found) return { arm: arm.name, seed: found.seed, steps: found.steps };
  }
  return null;
}

/** The logged step that is nearest to a step: not every step has its samples logged. */
export const nearest = (steps: readonly number[], step: number): number =>
  steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best), steps[0]!);

export const toGroups = ({ arm, seed, steps }: Logged, step: number): void =>
  go({ view: "groups", arm, seed, step: nearest(steps, step), from: undefined, place: undefined });

/** The same way to the groups of a step for readers without a mouse. */
export function GroupsOfStep({ logged }: { logged: Logged }) {
  const [step, setStep] = useState(logged.steps[0]!);
  return (
    <div class="settings">
      <StepSlider steps={logged.steps} step={step} onStep={setStep} />
      <div class="field">
        <div class="field-name">
          of {visible(logged.arm)}, seed {logged.seed}
        </div>
        <button type="button" onClick={() => toGroups(logged, step)}>
          groups of step {step}
        </button>
      </div>
    </div>
  );
}
