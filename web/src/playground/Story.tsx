/** The page's first picture: how one strategy takes all, and what other credit keeps, in six scenes. */

import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Panel } from "../components/Controls";
import { letter, Swatch } from "../components/Swatch";
import { SignedBar } from "../components/SignedBar";
import {
  counts,
  countsDynamics,
  creditSpread,
  type Dynamics,
  effectiveNumber,
  expectedSteps,
  grpo,
  grpoDynamics,
  polyEpoDynamics,
} from "../maths";
import { RATE, SAMPLES, Shares } from "./Collapse";
import { STEPS } from "./state";

const SUCCESS = [0.9, 0.8, 0.7, 0.6, 0.5];
const EVEN = SUCCESS.map(() => 1 / SUCCESS.length);
const SIZES = [1, 2, 4, 8];
/** Seven samples of the prompt: A five times, once wrong; B and C once each, B right and C wrong. */
const GROUP = { rewards: [1, 1, 1, 1, 0, 1, 0], strategies: [0, 0, 0, 0, 0, 1, 2], answers: [0, 0, 0, 0, 1, 0, 2] };

const pathOf = (dynamics: Dynamics, setSize: number): readonly (readonly number[])[] => {
  const how = { samples: SAMPLES, setSize, alpha: 0 };
  const spread = creditSpread(dynamics, EVEN, { success: SUCCESS }, how);
  return expectedSteps(dynamics, EVEN, { success: SUCCESS }, how, RATE / spread, STEPS);
};

const paths = computed(() => ({ grpo: pathOf(grpoDynamics, 1), counts: pathOf(countsDynamics, 1) }));
/** How many strategies are left at the end, for each size of a set. */
const left = computed(() => SIZES.map((k) => ({ k, number: effectiveNumber(pathOf(polyEpoDynamics, k).at(-1)!) })));
const leftOf = (path: readonly (readonly number[])[]): string => effectiveNumber(path.at(-1)!).toFixed(1);

interface Scene {
  readonly title: string;
  readonly says: () => string;
  /** What it shows, if it trains nothing. */
  readonly still?: () => JSX.Element;
  /** The steps that it plays: of GRPO, and of concave counts. */
  readonly grpo?: readonly [number, number];
  readonly counts?: readonly [number, number];
}

const SCENES: readonly Scene[] = [
  {
    title: "one prompt",
    says: () =>
      "One prompt, five strategies that may solve it: A succeeds most often, E least often, and each has a fifth of the samples.",
    still: Prompt,
  },
  {
    title: "GRPO",
    says: () =>
      "GRPO gives every right sample the same credit, so the strategy that succeeds most often grows fastest.",
    grpo: [0, 80],
  },
  {
    title: "collapse",
    says: () =>
      `After ${STEPS} steps ${leftOf(paths.value.grpo)} strategies are left of five: GRPO has collapsed, and what only the others can solve is lost.`,
    grpo: [80, STEPS],
  },
  {
    title: "the whole group",
    says: () =>
      `Concave counts share the credit of a strategy among its right samples: after the same steps ${leftOf(paths.value.counts)} strategies are left.`,
    grpo: [STEPS, STEPS],
    counts: [0, STEPS],
  },
  {
    title: "credit",
    says: () =>
      "The reason is the credit: GRPO pays all right samples alike; concave counts pay the rare one (B) more, and never a wrong one.",
    still: CreditOfGroup,
  },
  {
    title: "what K does",
    says: () =>
      "Poly-EPO scores sets of K samples, success times variety: with K = 1 variety counts nothing, and larger sets keep more strategies.",
    still: Sizes,
  },
];

const FRAME = 60; // milliseconds
const FRAMES = 75; // of a scene, 4.5 seconds

const scene = signal(0);
const frame = signal(FRAMES); // it plays when a reader says so
const playing = signal(false);

const show = (next: number): void => {
  scene.value = next;
  frame.value = playing.value ? 0 : FRAMES;
};

function usePlay(): void {
  const on = playing.value;
  useEffect(() => {
    if (!on) return undefined;
    const timer = setInterval(() => {
      if (document.hidden) return;
      if (frame.value < FRAMES) frame.value += 1;
      else if (scene.value < SCENES.length - 1) show(scene.value + 1);
      else playing.value = false;
    }, FRAME);
    return () => clearInterval(timer);
  }, [on]);
}

export function Story() {
  usePlay();
  const at = SCENES[scene.value]!;
  return (
    <Panel id="story" title="What GRPO loses, and what other credit keeps" lead={at.says()}>
      <div class="stage">{at.still ? <at.still /> : <Training of={at} />}</div>
      <Controls />
    </Panel>
  );
}

function Training({ of: { grpo: steps, counts: other } }: { of: Scene }) {
  const share = Math.min(1, frame.value / (FRAMES * 0.75)); // the last part of a scene is to read it
  const step = ([from, to]: readonly [number, number]): number => Math.round(from + share * (to - from));
  return (
    <div class="charts two">
      <Shares title="GRPO" path={paths.value.grpo} success={SUCCESS} step={step(steps!)} />
      {other ? (
        <Shares title="Concave counts, α = 0" path={paths.value.counts} success={SUCCESS} step={step(other)} />
      ) : (
        <Prompt />
      )}
    </div>
  );
}

const Strategy = ({ strategy }: { strategy: number }) => (
  <th scope="row">
    <Swatch strategy={strategy} size={14} />
    <span class="hidden">strategy {letter(strategy)}</span>
  </th>
);

/** A share of a whole as a bar. */
const Share = ({ of, text }: { of: number; text: string }) => (
  <>
    <span class="left-bar">
      <span style={{ width: `${100 * of}%` }} />
    </span>{" "}
    {text}
  </>
);

function Prompt() {
  return (
    <table class="story-credit bars">
      <caption>Five strategies before training</caption>
      <thead>
        <tr>
          <th scope="col">strategy</th>
          <th scope="col">of all samples</th>
          <th scope="col">succeeds</th>
        </tr>
      </thead>
      <tbody>
        {SUCCESS.map((rate, a) => (
          <tr key={a}>
            <Strategy strategy={a} />
            <td>{percent(EVEN[a]!)}</td>
            <td>
              <Share of={rate} text={percent(rate)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const percent = (share: number): string => `${Math.round(100 * share)}%`;

const COLUMNS = [
  ["GRPO", grpo(GROUP)],
  ["Concave counts", counts(GROUP, 0)],
] as const;

function CreditOfGroup() {
  return (
    <table class="story-credit">
      <caption>Seven samples of one prompt</caption>
      <thead>
        <tr>
          <th scope="col">strategy</th>
          <th scope="col">right?</th>
          {COLUMNS.map(([name]) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {GROUP.rewards.map((reward, i) => (
          <tr key={i}>
            <Strategy strategy={GROUP.strategies[i]!} />
            <td>{reward ? "✓" : "✗"}</td>
            {COLUMNS.map(([name, values]) => (
              <td key={name}>
                <SignedBar value={values[i]!} largest={Math.max(...values.map(Math.abs))} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sizes() {
  return (
    <table class="story-credit bars">
      <caption>
        Strategies that are left after {STEPS} steps, of {SUCCESS.length}: {SUCCESS.map((_, a) => letter(a)).join(", ")}
      </caption>
      <thead>
        <tr>
          <th scope="col">K</th>
          <th scope="col">effective strategies</th>
        </tr>
      </thead>
      <tbody>
        {left.value.map(({ k, number }) => (
          <tr key={k}>
            <th scope="row">{k}</th>
            <td>
              <Share of={number / SUCCESS.length} text={number.toFixed(2)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Controls() {
  const last = SCENES.length - 1;
  const play = (): void => {
    if (!playing.value && scene.value === last && frame.value >= FRAMES) scene.value = 0;
    if (!playing.value) frame.value = 0;
    playing.value = !playing.value;
  };
  return (
    <div class="player">
      <button type="button" class="primary" onClick={play}>
        {playing.value ? "❚❚ pause" : "▶ play"}
      </button>
      <div class="segments" role="group" aria-label="Scene">
        {SCENES.map(({ title }, i) => (
          <button key={title} type="button" aria-pressed={i === scene.value} onClick={() => show(i)}>
            {i + 1}
            <span class="scene-name"> {title}</span>
          </button>
        ))}
      </div>
      <a href="#credit" onClick={toCredit}>
        Now try it yourself
      </a>
    </div>
  );
}

/** The address holds the state of the page, so the link must not change it. */
function toCredit(event: MouseEvent): void {
  event.preventDefault();
  const credit = document.getElementById("credit");
  credit?.querySelector("details")?.setAttribute("open", "");
  credit?.scrollIntoView();
}
