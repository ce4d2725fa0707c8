/** A sentence in which the first mention of each known word explains itself. */

import type { ComponentChildren } from "preact";
import type { TermName } from "../components/glossary";
import { Term } from "../components/Term";

const WORDS: readonly (readonly [RegExp, TermName])[] = [
  [/\bshifted( problems| split)?/, "shifted"],
  [/\btest( problems| split)/, "testSplit"],
  [/\b(\d+ tries|one try)/, "tries"],
  [/\bPoly-EPO\b/, "polyEpo"],
  [/\bMaxPO\b/, "maxpo"],
  [/\bGRPO\b/, "grpo"],
  [/\bthe base\b/, "base"],
  [/\bpass@(k|\d+)/, "passAtK"],
  [/\b(correct )?strategies\b/, "correctStrategies"],
  [/\bpaired\b/, "paired"],
  [/\bpoints\b/, "points"],
  [/\bvote share\b/, "voteShare"],
  [/\bmajority@(k|\d+)/, "majorityVote"],
  [/\bdead groups\b/, "deadGroups"],
  [/\bseeds?\b/, "seed"],
];

/** Words already explained are passed on, so that a page with few dots stays calm. */
export function Explained({ text, known = new Set() }: { text: string; known?: Set<TermName> }) {
  const found: ComponentChildren[] = [];
  let rest = text;
  for (let next = first(rest, known); next; next = first(rest, known)) {
    const { at, word, name } = next;
    known.add(name);
    found.push(rest.slice(0, at), <Term name={name}>{word}</Term>);
    rest = rest.slice(at + word.length);
  }
  return (
    <>
      {found}
      {rest}
    </>
  );
}

function first(text: string, known: ReadonlySet<TermName>) {
  let best: { at: number; word: string; name: TermName } | null = null;
  for (const [pattern, name] of WORDS) {
    if (known.has(name)) continue;
    const match = pattern.exec(text);
    if (match && (!best || match.index < best.at)) best = { at: match.index, word: match[0], name };
  }
  return best;
}
