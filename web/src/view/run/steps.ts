/** Logged steps as points of a curve, and the steps in which nothing was learned. */

import { inARow } from "../../components/format";

export type Step = Readonly<Record<string, number | null>> & { readonly step: number };

const MOST_POINTS = 600;
const DEAD = "advantage/dead_groups"; // the share of groups without credit

interface Point {
  readonly x: number;
  readonly y: number;
}

/** At most 600 points of a curve, each the mean of the last few logged values; of more, every second, third, … one. */
export function points(steps: Iterable<Step>, name: string, window: number): readonly Point[] {
  const known = [...steps]
    .sort((a, b) => a.step - b.step)
    .flatMap((step) => (step[name] == null ? [] : [{ x: step.step, y: step[name]! }]));
  const every = Math.ceil(known.length / MOST_POINTS);
  return known
    .map(({ x }, i) => {
      const last = known.slice(Math.max(0, i + 1 - window), i + 1);
      return { x, y: last.reduce((total, { y }) => total + y, 0) / last.length };
    })
    .filter((_, i) => i % every === 0 || i === known.length - 1);
}

/** The steps in which no group had credit, so that nothing was learned. */
export const withoutCredit = (steps: Iterable<Step>): readonly number[] =>
  [...steps].filter((step) => step[DEAD] === 1).map(({ step }) => step);

const SPANS_SHOWN = 5;

/** Steps in words, neighbours together: "steps 5 to 12 and 20". */
export function inWords(steps: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const step of [...steps].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && step <= last[1] + 1) last[1] = step;
    else spans.push([step, step]);
  }
  const shown = spans.slice(0, SPANS_SHOWN).map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  const more = spans.length > shown.length ? [`${spans.length - shown.length} more spans`] : [];
  return `${steps.length === 1 ? "step" : "steps"} ${inARow([...shown, ...more])}`;
}
