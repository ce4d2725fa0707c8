/** Groups that are worth looking at, and what to look for. */

import { decode, type State } from "./state";

interface Preset {
  readonly name: string;
  readonly title: string;
  readonly note: string;
  readonly state: State;
}

const preset = (name: string, title: string, text: string, note: string): Preset => ({
  name,
  title,
  note,
  state: decode(text),
});

export const PRESETS: readonly Preset[] = [
  preset(
    "eight",
    "A rare way pays more",
    "",
    "A common way of working (A) and one other that succeeds (B). Change a reward or a strategy and watch who gains. GRPO gives y1 and y5 the same credit; concave counts give y5, the only right B, more, and no wrong sample any. Poly-EPO pays the rare wrong samples, too.",
  ),
  preset(
    "worked",
    "Three sets by hand",
    "s=1A1B0C1A&k=2&r=sum&sets=1.3_2.4_1.2",
    "Three sets of two are scored by hand: {y1, y3} = 0.5, {y2, y4} = 1 and {y1, y2} = 1. Their mean is 0.833, and the sums of the last column are −0.167, +0.333, −0.333 and +0.167.",
  ),
  preset(
    "rare-wrong",
    "A wrong sample gets paid",
    "s=1A1A1A1A1A1A1A0B",
    "Poly-EPO pays the wrong sample, because it makes every one of its sets more varied, and pushes all seven correct samples down a little. That is how it explores, and it is a risk if the strategy stays wrong.",
  ),
  preset(
    "monoculture",
    "Nothing left to teach",
    "s=1A1A1A1A1A1A1A1A",
    "All samples are correct and all use one strategy. Every set has the same score, so no method that compares sets has anything to teach. Give one sample another strategy.",
  ),
  preset(
    "white-light",
    "All ways at once",
    "s=1A1B1C1D1E1F1G1H",
    "All samples are correct in different ways: every set has the best polychromic score, 1, and nothing needs to change.",
  ),
  preset(
    "judge-noise",
    "The judge errs once",
    "s=1A1A1A1A1A1B0A0C",
    "Suppose that y6 really uses strategy A and the judge gave it the letter B by mistake. Poly-EPO and concave counts pay it as if it were new. Set y6 back to A and see how much of its credit was the judge's mistake.",
  ),
];
