/** How an arm is drawn: a colour and a dash, so that either is enough. */

const COLOURS = ["var(--plus)", "var(--minus)", "var(--s2)", "var(--s6)", "var(--ink)"];
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 3"];

export interface Look {
  readonly colour: string;
  readonly dash: string;
}

export function lookOf(arm: string, arms: readonly string[]): Look {
  if (arm === "base") return { colour: "var(--degenerate)", dash: "2 3" };
  const place = Math.max(0, arms.filter((one) => one !== "base").indexOf(arm));
  return { colour: COLOURS[place % COLOURS.length]!, dash: DASHES[(place + Math.floor(place / COLOURS.length)) % DASHES.length]! };
}
