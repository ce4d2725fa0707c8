/** How two texts differ, word by word, in pieces that can be read. */

import { type ChangeObject, diffWordsWithSpace } from "diff";

export interface Piece {
  readonly text: string;
  /** The text that holds it; null: both. */
  readonly of: "one" | "other" | null;
}

const LONGEST = 1000; // milliseconds

/** The pieces of both texts in order; null if the two differ too much. */
export function difference(one: string, other: string): readonly Piece[] | null {
  const parts = diffWordsWithSpace(one, other, { timeout: LONGEST });
  return parts ? inRuns(parts) : null;
}

/** Changes with only spaces between them are one change: words of two sentences must not alternate. */
function inRuns(parts: readonly ChangeObject<string>[]): readonly Piece[] {
  const found: Piece[] = [];
  let [one, other] = ["", ""];
  const end = (): void => {
    if (one) found.push({ text: one, of: "one" });
    if (other) found.push({ text: other, of: "other" });
    [one, other] = ["", ""];
  };
  parts.forEach(({ added, removed, value }, i) => {
    const isGap = !added && !removed && !value.trim() && (one || other) && i + 1 < parts.length;
    if (!added && !removed && !isGap) {
      end();
      found.push({ text: value, of: null });
      return;
    }
    if (!added) one += value;
    if (!removed) other += value;
  });
  end();
  return found;
}
