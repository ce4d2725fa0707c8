/** How the arms of a run are drawn: as everywhere, from the server's registry. */

import type { Look } from "../components/Curves";
import { visible } from "../components/visible";
import type { Run } from "./api";

const UNKNOWN = { hue: "var(--ink)", dash: "", symbol: "circle" } as const;

export function lookOf(run: Run, arm: string): Look {
  const found = run.looks[arm] ?? { ...UNKNOWN, label: arm };
  return { ...found, label: visible(found.label) };
}
