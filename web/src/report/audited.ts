/** What an audit of a judge holds, and how its comparisons and measures are called. */

import { decimal } from "../components/format";

interface Estimate {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly groups: number;
}

/** What `setrl judge-audit` writes into audit.json. */
export interface Found {
  readonly judge?: string;
  readonly file?: string;
  readonly method?: string;
  readonly set_size?: number;
  readonly groups?: number;
  readonly orders?: number;
  readonly judgements_unknown?: number;
  readonly strategies?: Estimate;
  readonly agreement: Readonly<Record<string, Readonly<Record<string, Estimate>>>>;
  /** Comparison → measure → a value for each group; older files lack it. */
  readonly by_group?: Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>;
  readonly prompts?: readonly string[];
  readonly examples?: readonly Example[];
}

/** A group on which the judge contradicts itself: each sample's label in every order. */
export interface Example {
  readonly group: number;
  readonly prompt: string;
  readonly samples: readonly {
    readonly text: string;
    readonly labels: readonly (number | null)[];
    readonly gold: number | null;
  }[];
}

export const AGAINST: Readonly<Record<string, string>> = {
  itself: "itself, in other orders of the samples",
  pairwise: "the judge of pairs",
  gold: "the gold labels",
};
export const SHORT: Readonly<Record<string, string>> = { itself: "itself", pairwise: "pairs", gold: "gold" };
/** Measure → its name, and what it says. */
export const MEASURES: Readonly<Record<string, readonly [string, string]>> = {
  adjusted_rand: ["adjusted Rand index", "1: the same partition; 0: as alike as by chance."],
  f1: ["F1 of pairs", "Pairs of samples that are together in both, as a share of those that are together in one."],
  flips: ["flips", "The share of samples that must change their label for the two to be equal."],
  signs_changed: ["signs changed", "The share of samples whose advantage gets another sign."],
  advantage_change: ["change of advantages", "How far the advantages move, relative to their size; 0: not at all."],
  precision: ["precision of pairs", "Of the pairs that the judge puts together, those that belong together."],
  recall: ["recall of pairs", "Of the pairs that belong together, those that the judge puts together."],
};

export const shown = (value: number | null | undefined): string => (value == null ? "unknown" : decimal(value));
export const interval = (one: Estimate | undefined): string =>
  one ? `${shown(one.value)} [${shown(one.low)}, ${shown(one.high)}]` : "not measured";
