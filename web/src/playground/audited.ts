/** The audits that the page shows: of the formula, and of the published ones, one after the other. */

import { computed, effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Audit, audit, type Formula, FormulaError, parse } from "../maths";
import published from "./published.json";
import { parts } from "./state";

const now = parts("formula", "groupSize");
const size = parts("groupSize");

const read = computed((): { readonly formula: Formula } | { readonly wrong: string } => {
  try {
    return { formula: parse(now.value.formula) };
  } catch (error) {
    if (error instanceof FormulaError) return { wrong: error.message };
    throw error;
  }
});

/** Why a formula that can be read has no audit; null if it has one. */
const refused = signal<string | null>(null);
/** What is wrong with the formula; null if nothing is. */
export const error = computed(() => ("wrong" in read.value ? read.value.wrong : refused.value));

/** The audit of the last formula that could be read; null before there is one. */
export const audited = signal<Audit | null>(null);
/** The audits of the published formulas; null where one is still to come. */
export const beside = signal<readonly (Audit | null)[]>([]);

/** Whether the panel is on the screen: audits would make the pictures above it stutter. */
const seen = signal(false);
const PAUSE = 150; // milliseconds without a key before a formula is audited

/** Runs work later, and drops it if something newer comes first. */
function later(start: () => (() => boolean) | null, pause: number): void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const next = start();
    clearTimeout(waiting);
    const turn = (): void => {
      if (next?.()) waiting = setTimeout(turn, 0);
    };
    if (next) waiting = setTimeout(turn, pause);
  });
}

later(() => {
  const [found, { groupSize }] = [read.value, now.value];
  if (!seen.value || "wrong" in found) return null;
  return () => {
    try {
      audited.value = audit(found.formula, groupSize);
      refused.value = null;
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      refused.value = error.message;
    }
    return false;
  };
}, PAUSE);

later(() => {
  const { groupSize } = size.value;
  if (!seen.value) return null;
  const found: Audit[] = [];
  beside.value = [];
  return () => {
    found.push(audit(parse(published[found.length]!.formula), groupSize));
    beside.value = [...found];
    return found.length < published.length;
  };
}, 2 * PAUSE);

/** A place that is audited from the first time that it is on the screen. */
export function useSeen() {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry!.isIntersecting) seen.value = true;
    });
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  return place;
}
