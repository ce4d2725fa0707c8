/** Credit that goes against correctness: correct samples that are pushed down, wrong ones up. */

import { isCorrect, type Samples } from "./samples";

export interface Quadrants {
  readonly correctUp: number[];
  readonly correctDown: number[];
  readonly wrongUp: number[];
  readonly wrongDown: number[];
  /** Samples whose advantage is 0. */
  readonly still: number[];
}

export function quadrants({ rewards }: Samples, values: readonly number[]): Quadrants {
  const found: Quadrants = { correctUp: [], correctDown: [], wrongUp: [], wrongDown: [], still: [] };
  values.forEach((value, i) => {
    const correct = isCorrect(rewards[i]!);
    if (value === 0) found.still.push(i);
    else if (value > 0) (correct ? found.correctUp : found.wrongUp).push(i);
    else (correct ? found.correctDown : found.wrongDown).push(i);
  });
  return found;
}
