/** What is selected and compared in a group, as the address holds it. */

import { useMemo } from "preact/hooks";
import type { Group } from "../api";
import { go, route } from "../route";
import { oddest } from "./piles";

export interface Selection {
  readonly selected: number;
  readonly marked: readonly number[];
  readonly select: (i: number) => void;
  readonly compare: (i: number) => void;
}

export function useSelection(group: Group, order: readonly number[]): Selection {
  const { sample, pair } = route.value;
  const wanted = Number(sample) - 1;
  const first = useMemo(() => oddest(group.samples) ?? order[0] ?? 0, [group]);
  const selected = sample !== undefined && group.samples[wanted] ? wanted : first;
  const marked = (pair ?? "")
    .split(",")
    .map((one) => Number(one) - 1)
    .filter((one) => group.samples[one]);
  const select = (i: number): void => {
    if (i !== selected) go({ sample: i + 1 }, true);
  };
  const compare = (i: number): void => {
    const next = marked.includes(i) ? marked.filter((one) => one !== i) : [...marked, i].slice(-2);
    go({ pair: next.map((one) => one + 1).join(",") || undefined }, true);
  };
  return { selected, marked, select, compare };
}

/** What an address no longer says on another problem. */
export const ELSEWHERE = { sample: undefined, pair: undefined, other: undefined } as const;
