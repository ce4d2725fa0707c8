/** The samples of a group in piles, one for each strategy or for each answer. */

import { Swatch } from "../../components/Swatch";
import { visible } from "../../components/visible";
import type { Group, Sample } from "../api";

export interface Pile {
  readonly name: string;
  /** Its place among the colours; −1 is degenerate, null has none. */
  readonly swatch: number | null;
  readonly members: readonly number[];
}

export type By = "strategy" | "answer";

/** What a log can be grouped by, what tells most first. */
export function groupings(samples: readonly Sample[]): readonly By[] {
  const has = (by: By): boolean => samples.some((sample) => (by === "answer" ? sample.answer : sample.label) !== null);
  return (["strategy", "answer"] as const).filter(has);
}

/** Samples by strategy or answer, the most frequent first; what is degenerate or unknown comes last. */
export function pilesOf(samples: readonly Sample[], by: By = "strategy"): readonly Pile[] {
  const members = new Map<string | number | null, number[]>();
  const keyOf = ({ label, answer }: Sample) => (by === "answer" ? answer : label);
  samples.forEach((sample, i) => members.set(keyOf(sample), [...(members.get(keyOf(sample)) ?? []), i]));
  const rank = (key: string | number | null): number => (key === null ? 2 : key === -1 ? 1 : 0);
  const order = [...members].sort(([a, of], [b, than]) => rank(a) - rank(b) || than.length - of.length);
  return order.map(([key, of], i) => ({
    name: key === null && order.length === 1 ? "all samples" : nameOf(key, by, samples[of[0]!]!),
    swatch: key === null ? null : key === -1 ? -1 : i,
    members: of,
  }));
}

function nameOf(key: string | number | null, by: By, first: Sample): string {
  if (key === null) return by === "answer" ? "no answer read" : "strategy not logged";
  if (by === "answer") return String(key);
  return key === -1 ? "degenerate" : (first.strategy ?? "strategy");
}

/** How many samples of a pile are right, in words. */
function shareCorrect(samples: readonly Sample[], { members }: Pile): string {
  const known = members.filter((i) => samples[i]!.correct !== null);
  if (!known.length) return members.length === 1 ? "1 sample" : `${members.length} samples`;
  return `${known.filter((i) => samples[i]!.correct).length} of ${known.length} correct`;
}

/** The sample to explain first: the wrong one with the most credit, else the correct one with the least. */
export function oddest(samples: readonly Sample[]): number | null {
  const odd = samples.flatMap((sample, i) =>
    sample.against ? [{ i, isWrong: !sample.correct, size: Math.abs(sample.advantage ?? 0) }] : [],
  );
  odd.sort((a, b) => Number(b.isWrong) - Number(a.isWrong) || b.size - a.size);
  return odd[0]?.i ?? null;
}

/** The sign and the name of a pile, and how many of its samples are right. */
export function PileName({ group, pile }: { group: Group; pile: Pile }) {
  return (
    <>
      {pile.swatch === null ? null : <Swatch strategy={pile.swatch} />} {visible(pile.name)}{" "}
      <small>{shareCorrect(group.samples, pile)}</small>
    </>
  );
}
