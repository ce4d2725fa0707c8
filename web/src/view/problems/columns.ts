/** The columns of the table of problems: what they are called, what they mean, and their cells. */

import { decimal } from "../../components/format";
import type { GroupRow } from "../api";

export interface Column {
  readonly key: string;
  readonly name: string;
  /** What the head of the column says, in a sentence. */
  readonly means: string;
  readonly cell: (row: GroupRow) => string;
  /** Whether the log tells it of a row; a column that it tells of no row is left out. */
  readonly isKnown?: (row: GroupRow) => boolean;
}

const MISSING = "—";
export const percent = (share: number | null): string => (share === null ? MISSING : `${Math.round(100 * share)}%`);
const number = (value: number | null): string => (value === null ? MISSING : decimal(value));
const signed = (change: number | null): string =>
  change === null
    ? MISSING
    : `${change > 0 ? "+" : ""}${Math.round(100 * change)}`.replace("-", "−").replace(/^−0$/, "0");
const surprise = ({ surprise: size, wrong_up }: GroupRow): string =>
  size === null
    ? MISSING
    : size === 0
      ? "none"
      : `${decimal(size)}, ${wrong_up === size ? "wrong, but positive" : "correct, but negative"}`;

const pass1 = ({ pass1: share, correct, graded, samples }: GroupRow): string => {
  if (share === null) return `${MISSING} of ${samples}`;
  return `${percent(share)} (${correct} of ${graded})${graded < samples ? `, ${samples - graded} not graded` : ""}`;
};

const COLUMNS: readonly Column[] = [
  {
    key: "step",
    name: "step",
    means: "The step of training that drew the samples.",
    cell: ({ step }) => String(step),
  },
  {
    key: "pass1",
    name: "pass@1",
    means:
      "pass@1 is the share of graded samples that are right. The samples stand above it, with a colour for each strategy of the problem, the commonest first: tall is right, low is wrong, dashed is not graded; hatched has no strategy, and striped an unknown one.",
    cell: pass1,
  },
  {
    key: "change",
    name: "change",
    means: "Change is the difference of pass@1 to the arm compared with, in points.",
    cell: ({ change }) => signed(change),
    isKnown: ({ change }) => change !== null,
  },
  {
    key: "strategies",
    name: "strategies",
    means: "Strategies is how many different strategies the samples have, right or wrong.",
    cell: ({ strategies }) => (strategies === null ? MISSING : String(strategies)),
    isKnown: ({ strategies }) => strategies !== null,
  },
  {
    key: "lost",
    name: "lost",
    means: "Lost is the number of strategies with a right sample in the arm compared with and none here.",
    cell: ({ lost }) => (lost === null ? MISSING : String(lost)),
    isKnown: ({ lost }) => lost !== null,
  },
  {
    key: "disagreement",
    name: "disagreement",
    means:
      "Disagreement is the share of pairs of samples with different answers; without answers, of pairs with one right and one wrong.",
    cell: ({ disagreement }) => percent(disagreement),
    isKnown: ({ disagreement }) => disagreement !== null,
  },
  {
    key: "largest",
    name: "largest |A|",
    means:
      "|A| is the size of an advantage, the credit of a sample, without its sign; “dead” is a problem whose samples all have an advantage of 0.",
    cell: ({ dead, largest }) => (dead === 1 ? "dead" : number(largest)),
    isKnown: ({ largest }) => largest !== null,
  },
];

const AGAINST: Column = {
  key: "surprise",
  name: "against correctness",
  means:
    "Against correctness is the largest advantage that is positive for a wrong sample or negative for a right one.",
  cell: surprise,
  isKnown: ({ surprise: size }) => size !== null,
};

const WRONG_UP: Column = {
  key: "wrong_up",
  name: "credit of a wrong sample",
  means: "Credit of a wrong sample is the largest positive advantage of one.",
  cell: ({ wrong_up }) => number(wrong_up),
  isKnown: ({ wrong_up }) => wrong_up !== null,
};

/** The columns that say something of some row. */
export const columns = (show: string, rows: readonly GroupRow[], hasSteps: boolean): readonly Column[] =>
  [...COLUMNS, show === "wrong_up" ? WRONG_UP : AGAINST].filter(
    ({ key, isKnown }) => (key !== "step" || hasSteps) && (!isKnown || rows.some(isKnown)),
  );
