/** What the page shows, as one value; the part of the URL after # is this value as text. */

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { LETTERS } from "../components/Swatch";
import {
  BASELINES,
  type Baseline,
  DEGENERATE,
  OBJECTIVES,
  type ObjectiveName,
  REDUCTIONS,
  type Reduction,
  SCALES,
  type Scale,
} from "../maths";

export interface Sample {
  readonly reward: number;
  readonly strategy: number;
}

/** Which sets are scored: all, some that are drawn, or some that are written out. */
export type SetChoice =
  | { readonly kind: "all" }
  | { readonly kind: "drawn"; readonly count: number; readonly seed: number }
  | { readonly kind: "listed"; readonly lists: readonly (readonly number[])[] };

export interface State {
  readonly samples: readonly Sample[];
  readonly graded: boolean;
  readonly objective: ObjectiveName;
  readonly setSize: number;
  readonly baseline: Baseline;
  readonly reduction: Reduction;
  readonly scale: Scale;
  readonly sets: SetChoice;
  readonly lambda: number;
  readonly alpha: number;
  /** Whether the bars of all methods have one scale. */
  readonly oneScale: boolean;
  /** Success of the strategies in the panels about training. */
  readonly success: readonly number[];
  /** Shares before training: even, or one strategy far ahead. */
  readonly start: "even" | "skewed";
  readonly step: number;
  /** Weight of the polychromic score in the water-filling panel. */
  readonly mixture: number;
  /** Accuracy of a group, and λ, in the panel about reward shaping. */
  readonly accuracy: number;
  readonly bonus: number;
  /** Two portfolios of strategies that are equally frequent: how many, and how often each succeeds. */
  readonly broad: { readonly count: number; readonly success: number };
  readonly narrow: { readonly count: number; readonly success: number };
  readonly chance: "problem" | "attempt";
}

export const FEWEST = 2;
export const MOST = 16;
export const STEPS = 400;

const samplesOf = (text: string): Sample[] =>
  [...text.matchAll(/([01](?:\.\d+)?)([A-H-])/g)].map(([, reward, letter]) => ({
    reward: Math.min(1, Number(reward)),
    strategy: letter === "-" ? DEGENERATE : LETTERS.indexOf(letter!),
  }));

export const START: State = {
  samples: samplesOf("1A1A1A0A1B0C0-1A"),
  graded: false,
  objective: "polychromic",
  setSize: 4,
  baseline: "all_sets",
  reduction: "mean",
  scale: "none",
  sets: { kind: "all" },
  lambda: 0.5,
  alpha: 0,
  oneScale: false,
  success: [0.9, 0.8, 0.7, 0.6, 0.5],
  start: "even",
  step: 0,
  mixture: 1,
  accuracy: 0.5,
  bonus: 1,
  broad: { count: 10, success: 0.2 },
  narrow: { count: 2, success: 0.45 },
  chance: "problem",
};

export const state = signal<State>(START);

export const change = (part: Partial<State>): void => {
  state.value = repaired({ ...state.value, ...part });
};

/**
 * Some parts of the state: whoever reads them is drawn again only when one of these changes, so that a
 * click in one panel does not draw the charts of all others.
 */
export function parts<K extends keyof State>(...keys: readonly K[]): ReadonlySignal<Pick<State, K>> {
  let last: State | null = null;
  return computed(() => {
    const [now, then] = [state.value, last];
    if (then !== null && keys.every((key) => now[key] === then[key])) return then;
    last = now;
    return now;
  });
}

/** What decides the credit of the group. */
const GROUP = [
  "samples",
  "graded",
  "objective",
  "setSize",
  "baseline",
  "reduction",
  "scale",
  "sets",
  "lambda",
  "alpha",
] as const;

export type Credit = Pick<State, (typeof GROUP)[number]>;

export const group = parts(...GROUP);

/** The largest K for which every method is defined: one sample must be outside the set. */
export const largestSet = (samples: readonly Sample[]): number => samples.length - 1;

/** The same state with numbers that fit each other: K below N, listed sets of samples that exist. */
export function repaired(next: State): State {
  const setSize = Math.max(1, Math.min(next.setSize, largestSet(next.samples)));
  const { sets } = next;
  const fits =
    sets.kind !== "listed" ||
    sets.lists.every((list) => list.length === setSize && list.every((i) => i < next.samples.length));
  return { ...next, setSize, sets: fits ? sets : { kind: "all" } };
}

/** One part of the state ↔ its text in the URL; `read` gives null for text that it cannot use. */
interface Codec<T> {
  readonly write: (value: T) => string;
  readonly read: (text: string) => T | null;
}

const written = (samples: readonly Sample[]): string =>
  samples.map(({ reward, strategy }) => `${reward}${strategy === DEGENERATE ? "-" : LETTERS[strategy]}`).join("");

const number = (low: number, high: number, whole = false): Codec<number> => ({
  write: String,
  read: (text) => {
    const value = Number(text);
    const usable = text !== "" && value >= low && value <= high && (!whole || Number.isInteger(value));
    return usable ? value : null;
  },
});

const oneOf = <T extends string>(names: readonly T[]): Codec<T> => ({
  write: (value) => value,
  read: (text) => names.find((name) => name === text) ?? null,
});

const flag: Codec<boolean> = { write: (value) => (value ? "1" : "0"), read: (text) => text === "1" };

/** Numbers between commas, each with its own codec. */
function list<T>(parts: readonly Codec<number>[], make: (values: number[]) => T, of: (value: T) => number[]): Codec<T> {
  return {
    write: (value) => of(value).join(","),
    read: (text) => {
      const values = text.split(",").map((part, at) => parts[at]?.read(part) ?? null);
      return values.length === parts.length && values.every((value) => value !== null)
        ? make(values as number[])
        : null;
    },
  };
}

const chance = number(0, 1);
const successes: Codec<readonly number[]> = {
  write: (values) => values.join(","),
  read: (text) => {
    const values = text.split(",").map(number(0.05, 1).read);
    return values.length >= 2 && values.length <= LETTERS.length && !values.includes(null)
      ? (values as number[])
      : null;
  },
};

const portfolio = list(
  [number(1, 10, true), chance],
  ([count, success]) => ({ count: count!, success: success! }),
  ({ count, success }) => [count, success],
);

const setsCodec: Codec<SetChoice> = {
  write: (sets) => {
    if (sets.kind === "all") return "all";
    if (sets.kind === "drawn") return `${sets.count},${sets.seed}`;
    return sets.lists.map((members) => members.map((i) => i + 1).join(".")).join("_");
  },
  read: (text) => {
    if (text === "all") return { kind: "all" };
    const drawn = /^(\d{1,5}),(\d{1,9})$/.exec(text);
    if (drawn) {
      const count = Math.max(2, Number(drawn[1]));
      return { kind: "drawn", count, seed: Number(drawn[2]) };
    }
    if (!/^\d+(\.\d+)*(_\d+(\.\d+)*)+$/.test(text) || text.length > 2000) return null;
    const lists = text.split("_").map((members) => members.split(".").map((i) => Number(i) - 1));
    const proper = lists.every((members) => members.every((i) => i >= 0) && new Set(members).size === members.length);
    return proper ? { kind: "listed", lists } : null;
  },
};

const CODECS: { readonly [K in keyof State]: readonly [string, Codec<State[K]>] } = {
  samples: [
    "s",
    {
      write: written,
      read: (text) => {
        const samples = samplesOf(text);
        const usable = samples.length >= FEWEST && samples.length <= MOST && written(samples) === text;
        return usable ? samples : null;
      },
    },
  ],
  graded: ["g", flag],
  objective: ["f", oneOf(Object.keys(OBJECTIVES) as ObjectiveName[])],
  setSize: ["k", number(1, MOST - 1, true)],
  baseline: ["b", oneOf(BASELINES)],
  reduction: ["r", oneOf(REDUCTIONS)],
  scale: ["d", oneOf(SCALES)],
  sets: ["sets", setsCodec],
  lambda: ["l", number(0, 10)],
  alpha: ["a", chance],
  oneScale: ["one", flag],
  success: ["q", successes],
  start: ["from", oneOf(["even", "skewed"])],
  step: ["t", number(0, STEPS, true)],
  mixture: ["mix", number(0.05, 1)],
  accuracy: ["p", chance],
  bonus: ["bonus", number(0.05, 4)],
  broad: ["p1", portfolio],
  narrow: ["p2", portfolio],
  chance: ["luck", oneOf(["problem", "attempt"])],
};

/** The state as text: only what differs from the start. */
export function encode(value: State): string {
  return (Object.keys(CODECS) as (keyof State)[])
    .map((key) => [CODECS[key][0], textOf(key, value), textOf(key, START)] as const)
    .filter(([, now, usual]) => now !== usual)
    .map(([name, now]) => `${name}=${now}`)
    .join("&");
}

function textOf<K extends keyof State>(key: K, value: State): string {
  return CODECS[key][1].write(value[key]);
}

/** The state of a text; parts that cannot be read are as at the start. */
export function decode(text: string): State {
  const found: Record<string, unknown> = { ...START };
  for (const part of text.split("&")) {
    const [name, value] = [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)];
    for (const [key, [known, codec]] of Object.entries(CODECS)) {
      const read = known === name ? (codec as Codec<unknown>).read(value) : null;
      if (read !== null) found[key] = read;
    }
  }
  return repaired(found as unknown as State);
}
