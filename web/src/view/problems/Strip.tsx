/** The samples of a problem in one line: a colour for each strategy, tall if right and low if wrong. */

import { LETTERS, strategyColour } from "../../components/Swatch";
import { DEGENERATE } from "../../maths";

export interface Segment {
  /** The place of its strategy among the colours; −1 is none, null is unknown. */
  readonly strategy: number | null;
  readonly outcome: "right" | "wrong" | "ungraded";
  readonly samples: number;
}

const OUTCOMES: Readonly<Record<string, Segment["outcome"]>> = { "+": "right", "-": "wrong", "?": "ungraded" };

/** What the server writes of a row's samples, equal ones together. */
export function segments(strip: string): readonly Segment[] {
  const found = new Map<string, number>();
  for (const pair of strip.match(/../gsu) ?? []) found.set(pair, (found.get(pair) ?? 0) + 1);
  return [...found].map(([[sign, outcome], samples]) => ({
    strategy: sign === "?" ? null : sign === "-" ? DEGENERATE : sign!.codePointAt(0)! - LETTERS.codePointAt(0)!,
    outcome: OUTCOMES[outcome!]!,
    samples,
  }));
}

export function Strip({ strip }: { strip: string }) {
  const parts = segments(strip);
  const isNamed = parts.some(({ strategy }) => strategy !== null);
  const kind = (strategy: number | null): string =>
    strategy === DEGENERATE ? "none" : strategy !== null ? "" : isNamed ? "unknown" : "plain";
  return (
    <span class="strip" aria-hidden="true">
      {parts.map(({ strategy, outcome, samples }) => (
        <span
          key={`${strategy} ${outcome}`}
          class={`${outcome} ${kind(strategy)}`}
          style={{ flexGrow: samples, ...(strategy === null ? {} : { "--of": strategyColour(strategy) }) }}
        />
      ))}
    </span>
  );
}
