/** What `setrl report` puts into the page. */

import { signal } from "@preact/signals";
import type { Found } from "./audited";
import { toggled } from "../components/toggled";
import type { OutcomeTable } from "./Outcomes";

export interface Arm {
  readonly key: string;
  readonly label: string;
  readonly hue: string;
  readonly dash: string;
  readonly symbol: string;
}

/** A place on the x-axis, a value, and the ends of its interval. */
export type Row = readonly [x: number, value: number, low?: number | null, high?: number | null];
export type BandRow = readonly [x: number, low: number | null, high: number | null];
export type ByArm<T> = Readonly<Record<string, T>>;

export interface OverK {
  readonly name: string;
  readonly label: string;
  readonly share: boolean;
  readonly values: ByArm<readonly Row[]>;
  readonly differences: ByArm<readonly Row[]>;
  readonly bands: ByArm<readonly BandRow[]>;
  readonly difference_bands: ByArm<readonly BandRow[]>;
}

export interface Split {
  readonly split: string;
  readonly title: string;
  readonly reference: string | null;
  readonly metrics: readonly OverK[];
}

export interface OverSteps {
  readonly key: string;
  readonly label: string;
  readonly share: boolean;
  /** What the curves are over, where it is not the page's steps. */
  readonly x?: { readonly label: string; readonly name: string };
  readonly curves: ByArm<{
    readonly steps: readonly number[];
    readonly mean: readonly (number | null)[];
    readonly seeds: readonly (readonly (number | null)[])[];
  }>;
}

export interface Shares {
  readonly fills: Readonly<Record<string, string>>;
  readonly arms: readonly {
    readonly arm: string;
    readonly steps: readonly number[];
    readonly shares: Readonly<Record<string, readonly number[]>>;
  }[];
}

export interface StepTime {
  readonly arm: string;
  readonly step: number;
  readonly parts: Readonly<Record<string, number>>;
}

export interface Frontier {
  readonly split: string;
  readonly k: number;
  readonly points: ByArm<Readonly<Record<string, readonly [number, number | null, number | null]>>>;
}

export interface Solved {
  readonly split: string;
  readonly problems: number;
  readonly alone: number;
  readonly unsolved: number;
  readonly numbers: ByArm<number>;
  readonly examples: readonly {
    readonly prompt: string;
    readonly rates: ByArm<number>;
    readonly winner: string;
    readonly correct: number;
    readonly samples: readonly {
      readonly seed: number | null;
      readonly strategy: string | null;
      readonly text: string | null;
    }[];
  }[];
}

/** The page of a comparison of language models. */
export interface Comparison {
  readonly kind: "comparison";
  readonly name: string;
  readonly reference: string | null;
  readonly level: number;
  readonly verdict: readonly string[];
  readonly arms: readonly Arm[];
  readonly splits: readonly Split[];
  readonly training: readonly OverSteps[];
  /** Metrics that never changed, with their value. */
  readonly constant: readonly string[];
  readonly smoothing: number;
  readonly shares: readonly Shares[];
  readonly time: { readonly headline: string; readonly arms: readonly StepTime[] } | null;
  readonly frontiers: readonly Frontier[];
  readonly solved: readonly Solved[];
  /** The length at which texts are cut, and the commands that show all of them. */
  readonly letters: number;
  readonly views: readonly string[];
}

/** The page of a control run. */
export interface Control {
  readonly kind: "control";
  readonly name: string;
  readonly verdict: readonly string[];
  readonly arms: readonly Arm[];
  readonly outcomes: OutcomeTable;
  readonly training: readonly OverSteps[];
  readonly shown_at_first: readonly string[];
  readonly time: readonly {
    readonly arm: string;
    readonly runs: number;
    readonly steps: number;
    readonly seconds: number | null;
  }[];
}

/** The page of an audit of a judge. */
export interface Audited {
  readonly kind: "audit";
  readonly name: string;
  readonly verdict: readonly string[];
  readonly arms: readonly Arm[];
  readonly audit: Found;
}

export const page = JSON.parse(document.getElementById("data")!.textContent!) as Comparison | Control | Audited;

const byKey = new Map(page.arms.map((arm) => [arm.key, arm]));

export const armOf = (key: string): Arm => byKey.get(key)!;

const MANY = 10;

/** Of a run with many arms, those that are not drawn before a reader asks for them. */
const hiddenAtFirst = (): string[] => {
  if (page.kind !== "control" || page.arms.length <= MANY) return [];
  return page.arms.map(({ key }) => key).filter((key) => !page.shown_at_first.includes(key));
};

/** The arms that a reader has switched off, in all plots. */
export const hidden = signal<ReadonlySet<string>>(new Set(hiddenAtFirst()));

export function toggle(key: string): void {
  hidden.value = toggled(hidden.value, key);
}
