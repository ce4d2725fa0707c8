/** How an arm is drawn: a colour, a dash and a symbol, so that any of them is enough. */

import type { Look } from "../components/Curves";
import { visible } from "../components/visible";

const HUES = ["var(--plus)", "var(--minus)", "var(--s2)", "var(--s6)", "var(--ink)"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 3"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star"];

export function lookOf(arm: string, arms: readonly string[]): Look {
  const label = visible(arm);
  if (arm === "base") return { label, hue: "var(--degenerate)", dash: "2 3", symbol: "cross" };
  const place = Math.max(0, arms.filter((one) => one !== "base").indexOf(arm));
  const round = place + Math.floor(place / HUES.length);
  return { label, hue: HUES[place % HUES.length]!, dash: DASHES[round % DASHES.length]!, symbol: SYMBOLS[round % SYMBOLS.length]! };
}
