/** A strategy as colour, shape and letter: any one of them is enough to tell strategies apart. */

import { DEGENERATE } from "../maths";

export const LETTERS = "ABCDEFGH";

/** The name of a strategy for readers: A … H, or –. */
export const letter = (strategy: number): string =>
  strategy === DEGENERATE ? "–" : (LETTERS[strategy] ?? `${strategy + 1}`);

export const strategyName = (strategy: number): string =>
  strategy === DEGENERATE ? "degenerate" : `strategy ${letter(strategy)}`;

/** Hues without orange, which means credit below 0 on every page. */
export const strategyColour = (strategy: number): string =>
  strategy === DEGENERATE ? "var(--degenerate)" : `var(--s${strategy % LETTERS.length})`;

const SHAPES = [
  "M12 1.5a10.5 10.5 0 1 0 0 21a10.5 10.5 0 1 0 0-21z",
  "M2.5 2.5h19v19h-19z",
  "M12 .5L24 22.5H0z",
  "M12 0L24 12L12 24L0 12z",
  "M12 .5L23.5 9L19 23H5L.5 9z",
  "M6 1.5h12l6 10.5l-6 10.5H6L0 12z",
  "M0 1.5h24L12 23.5z",
  "M7 0h10v7h7v10h-7v7H7v-7H0V7h7z",
];

export function Swatch({ strategy, size = 18 }: { strategy: number; size?: number }) {
  return (
    <span class="swatch" aria-hidden="true">
      <svg width={size} height={size} viewBox="-1 -1 26 26">
        {strategy === DEGENERATE ? (
          <circle cx="12" cy="12" r="10" class="degenerate" />
        ) : (
          <path d={SHAPES[strategy % SHAPES.length]} fill={strategyColour(strategy)} />
        )}
      </svg>
      {letter(strategy)}
    </span>
  );
}
