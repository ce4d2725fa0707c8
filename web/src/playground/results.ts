/** Everything that the page shows of a group, computed from the state. */

import { computed, signal } from "@preact/signals";
import { inARow } from "../components/format";
import {
  advantages,
  choose,
  counts,
  decompose,
  type Decomposition,
  type Drawn,
  drawSets,
  fromLists,
  grpo,
  isCorrect,
  maxpo,
  type Method,
  OBJECTIVES,
  polyEpo,
  Random,
  type Samples,
  setMeans,
  type SetMeans,
  allSets,
  type Sets,
  shaping,
  spread,
  type Spread,
} from "../maths";
import type { TermName } from "../components/glossary";
import { type Credit, group } from "./state";

/** The sample that the reader points at; null for none. */
export const pointed = signal<number | null>(null);

export const samplesOf = ({ samples }: Pick<Credit, "samples">): Samples => {
  const rewards = samples.map(({ reward }) => reward);
  const strategies = samples.map(({ strategy }) => strategy);
  // Correct samples give the right answer; wrong ones of a strategy share a wrong answer.
  const answers = samples.map(({ reward, strategy }) => (isCorrect(reward) ? 0 : strategy + 2));
  return { rewards, strategies, answers };
};

/** The sets that are scored where not all are; null where every set counts. */
export function drawnSets({ samples, setSize, sets }: Credit): Drawn | null {
  const n = samples.length;
  if (sets.kind === "all") return null;
  if (sets.kind === "listed") {
    // A worked example lists no smaller sets: there all of them count.
    return { sets: fromLists(sets.lists), smaller: null };
  }
  const random = new Random(sets.seed);
  if (sets.count >= choose(n, setSize)) return null;
  const drawn = drawSets(n, setSize, sets.count, random);
  const fewer = setSize > 1 && sets.count < choose(n, setSize - 1);
  return { sets: drawn, smaller: fewer ? drawSets(n, setSize - 1, sets.count, random) : null };
}

const methodOf = ({ objective, setSize, baseline, reduction, scale }: Credit): Method => ({
  objective,
  setSize,
  baseline,
  reduction,
  scale,
});

export interface Column {
  readonly key: string;
  readonly title: string;
  readonly term: TermName;
  readonly values: readonly number[];
}

export interface ScoredSets {
  readonly sets: Sets;
  readonly scores: Float64Array;
  readonly means: SetMeans;
}

export const results = computed(() => {
  const now = group.value;
  const samples = samplesOf(now);
  const drawn = drawnSets(now);
  return { samples, drawn, columns: columns(now, samples, drawn), scored: scored(now, samples, drawn) };
});

/** Only while its panel is read: the decomposition scores all sets three times. */
export const decomposition = computed<Decomposition>(() => {
  const { samples, drawn } = results.value;
  return decompose(samples, group.value.setSize, drawn?.sets ?? null);
});

/** Only while its panel is read, and only where sets are drawn: many draws, to see how they differ. */
export const overDraws = computed<Spread | null>(() => {
  const now = group.value;
  return now.sets.kind === "drawn" && results.value.drawn
    ? spread(results.value.samples, methodOf(now), now.sets.count)
    : null;
});

function columns(now: Credit, samples: Samples, drawn: Drawn | null): Column[] {
  const { setSize: k, lambda, alpha } = now;
  return [
    { key: "grpo", title: "GRPO", term: "grpo", values: grpo(samples) },
    { key: "shaping", title: "Reward shaping", term: "shaping", values: shaping(samples, lambda) },
    { key: "poly", title: "Poly-EPO", term: "polyEpo", values: polyEpo(samples, k, drawn) },
    { key: "maxpo", title: "MaxPO", term: "maxpo", values: maxpo(samples, k, drawn) },
    { key: "counts", title: "Concave counts", term: "counts", values: counts(samples, alpha) },
    { key: "chosen", title: "Your choice", term: "chosen", values: advantages(samples, methodOf(now), drawn) },
  ];
}

function scored(now: Credit, samples: Samples, drawn: Drawn | null): ScoredSets {
  const objective = OBJECTIVES[now.objective];
  const sets = drawn?.sets ?? allSets(samples.rewards.length, now.setSize);
  return {
    sets,
    scores: objective(samples, sets),
    means: setMeans(objective, samples, now.setSize, drawn?.sets ?? null),
  };
}

/** Names of samples in a sentence: y1, y2 and y5. */
export const listed = (indices: readonly number[]): string => inARow(indices.map((i) => `y${i + 1}`)) || "none";
