/**
 * An advantage as a formula over the group: text → a function of the samples.
 *
 * The language is a part of Python, so that a formula can be copied into a function. It has no way to
 * name a sample by its place, so no formula depends on the order of a group, or on names of labels.
 */

import { choose } from "./sets";
import { isCorrect, sum } from "./samples";

/** The kinds of samples in a group, and how many samples there are of each. */
export interface Kinds {
  readonly rewards: readonly number[];
  readonly labels: readonly number[];
  readonly counts: readonly number[];
}

export interface Formula {
  readonly text: string;
  /** Whether it reads strategies. */
  readonly readsLabels: boolean;
  /** The names and functions that it uses. */
  readonly uses: ReadonlySet<string>;
  /** The advantage of each kind of sample; NaN where it is undefined. */
  readonly of: (group: Kinds) => number[];
}

/** What is wrong with a formula, and what would be right. */
export class FormulaError extends Error {}

/** A number for each kind of sample; a number of the whole group stands there for all kinds. */
type Value = readonly number[];
type Rule = (group: Kinds) => Value;

const weighted = (values: Value, { counts }: Kinds): number[] => values.map((value, i) => value * counts[i]!);
const samples = ({ counts }: Kinds): number => sum(counts);
const all = (group: Kinds, value: number): number[] => group.counts.map(() => value);

/** How many samples of its own strategy, of those that count. */
const alike =
  (counts: (reward: number) => boolean): Rule =>
  (group) =>
    group.labels.map((own) => sum(group.counts.filter((_, i) => group.labels[i] === own && counts(group.rewards[i]!))));

export const EPSILON = 1e-6;

/** Name → what it means, and its value. */
export const NAMES: Readonly<Record<string, readonly [string, Rule]>> = {
  r: ["the reward of the sample, 0 or 1", ({ rewards }) => rewards],
  N: ["the number of samples in the group", (group) => all(group, samples(group))],
  size: ["the number of samples with the sample's strategy", alike(() => true)],
  m: ["the number of right samples with the sample's strategy", alike(isCorrect)],
  eps: ["0.000001, for a divisor that may be 0", (group) => all(group, EPSILON)],
};
const OF_LABELS = ["size", "m"];

interface Known {
  readonly says: string;
  /** The fewest and the most arguments. */
  readonly takes: readonly [number, number];
  readonly of: (group: Kinds, ...values: Value[]) => Value;
}

const mean = (group: Kinds, x: Value): number => sum(weighted(x, group)) / samples(group);

const deviation =
  (less: number): Known["of"] =>
  (group, x) => {
    const centre = mean(group, x!);
    const squares = x!.map((value) => (value - centre) ** 2);
    return all(group, Math.sqrt(sum(weighted(squares, group)) / (samples(group) - less)));
  };

/** Over the group for one value; sample by sample for several. */
const extreme =
  (of: (...values: number[]) => number): Known["of"] =>
  (group, ...values) =>
    values.length === 1 ? all(group, of(...values[0]!)) : values[0]!.map((_, i) => of(...values.map((x) => x[i]!)));

const each =
  (of: (...values: number[]) => number): Known["of"] =>
  (_, ...values) =>
    values[0]!.map((_, i) => of(...values.map((x) => x[i]!)));

/** The k-th largest; NaN counts as larger than every number, as when NumPy sorts. */
function nth(group: Kinds, x: Value, k: Value): number[] {
  const sorted = x
    .flatMap((value, i) => new Array<number>(group.counts[i]!).fill(value))
    .sort((a, b) => (Number.isNaN(a) ? -1 : Number.isNaN(b) ? 1 : b - a));
  return k.map((place) => sorted[Math.trunc(place) - 1] ?? NaN);
}

/** Function → what it means, and what it computes. `where` is a part of the grammar. */
export const FUNCTIONS: Readonly<Record<string, Known>> = {
  mean: { says: "mean over the group", takes: [1, 1], of: (group, x) => all(group, mean(group, x!)) },
  sum: { says: "sum over the group", takes: [1, 1], of: (group, x) => all(group, sum(weighted(x!, group))) },
  std: { says: "standard deviation over the group, divided by N − 1", takes: [1, 1], of: deviation(1) },
  pstd: { says: "standard deviation over the group, divided by N", takes: [1, 1], of: deviation(0) },
  max: { says: "max(x): largest of the group; max(x, y): the larger one", takes: [1, 9], of: extreme(Math.max) },
  min: { says: "min(x): smallest of the group; min(x, y): the smaller one", takes: [1, 9], of: extreme(Math.min) },
  nth: { says: "nth(x, k): the k-th largest of the group", takes: [2, 2], of: (group, x, k) => nth(group, x!, k!) },
  centred: {
    says: "x minus its mean over the group",
    takes: [1, 1],
    of: (group, x) => {
      const centre = mean(group, x!);
      return x!.map((value) => value - centre);
    },
  },
  choose: { says: "choose(n, k): how many sets of k there are of n", takes: [2, 2], of: each(combinations) },
  abs: { says: "|x|", takes: [1, 1], of: each(Math.abs) },
  sqrt: { says: "√x", takes: [1, 1], of: each(Math.sqrt) },
  exp: { says: "eˣ", takes: [1, 1], of: each(Math.exp) },
  log: { says: "natural logarithm", takes: [1, 1], of: each(Math.log) },
};
export const WHERE = "where(condition, x, y): x where the condition holds, such as r == max(r), else y";

/** Sets of k out of n; 0 where there are none. */
function combinations(n: number, k: number): number {
  return n >= k && k >= 0 ? choose(Math.trunc(n), Math.trunc(k)) : 0;
}

const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
};
const OPERATORS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => a ** b,
};

const LONGEST = 300;
const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[=!<>]=|[-+*/(),<>]))/y;
const has = (table: object, name: string): boolean => Object.hasOwn(table, name);
const listed = (table: object): string => Object.keys(table).join(", ");
const plural = (count: number): string => (count === 1 ? "one value" : `${count} values`);

/**
 * Read a formula.
 *
 * Throws a `FormulaError` that names what is wrong.
 */
export function parse(text: string): Formula {
  if (text.trim() === "") throw new FormulaError("Write the advantage of a sample, such as r - mean(r).");
  if (text.length > LONGEST)
    throw new FormulaError(`A formula has at most ${LONGEST} signs; this one has ${text.length}.`);
  const tokens = tokensOf(text);
  const uses = new Set<string>();
  let at = 0;
  const taken = (...signs: string[]): string | null => (signs.includes(tokens[at]!) ? tokens[at++]! : null);

  function need(sign: string, why: string): void {
    if (!taken(sign))
      throw new FormulaError(`“${sign}” is missing ${why}${at < tokens.length ? `, before “${tokens[at]}”` : ""}.`);
  }

  const chain =
    (part: () => Rule, ...signs: string[]) =>
    (): Rule => {
      let left = part();
      for (let sign = taken(...signs); sign; sign = taken(...signs)) left = joined(OPERATORS[sign]!, left, part());
      return left;
    };

  const sums: () => Rule = chain(() => products(), "+", "-");
  const products = chain(() => signed(), "*", "/");

  function signed(): Rule {
    const sign = taken("-", "+");
    if (!sign) return power();
    const of = signed();
    return sign === "-" ? (group) => of(group).map((value) => -value) : of;
  }

  /** As in Python, −2**2 is −4, and 2**−1 is ½. */
  function power(): Rule {
    const base = atom();
    return taken("**") ? joined(OPERATORS["**"]!, base, signed()) : base;
  }

  function atom(): Rule {
    const token = tokens[at++];
    if (token === undefined)
      throw new FormulaError(`After “${tokens.at(-1)}” something is missing: a number, a name or “(”.`);
    if (/^[\d.]/.test(token)) return (group) => all(group, Number(token));
    if (/^\w/.test(token)) return named(token);
    if (token !== "(") throw new FormulaError(`“${token}” stands where a number, a name or “(” should be.`);
    const inside = sums();
    need(")", "at the end of the parentheses");
    return inside;
  }

  function named(name: string): Rule {
    uses.add(name);
    if (has(NAMES, name)) {
      if (tokens[at] === "(") throw new FormulaError(`“${name}” is a number and no function: write ${name} * (…).`);
      return NAMES[name]![1];
    }
    if (name !== "where" && !has(FUNCTIONS, name))
      throw new FormulaError(
        `“${name}” is unknown. The names are ${listed(NAMES)}; the functions are ${listed(FUNCTIONS)}, where.`,
      );
    need("(", `after ${name}, such as ${name}(r)`);
    return name === "where" ? choice() : call(name);
  }

  function call(name: string): Rule {
    const values = [sums()];
    while (taken(",")) values.push(sums());
    need(")", `at the end of ${name}(…)`);
    const { takes, of } = FUNCTIONS[name]!;
    if (values.length < takes[0] || values.length > takes[1])
      throw new FormulaError(`${name} takes ${plural(takes[0])}, not ${values.length} (${FUNCTIONS[name]!.says}).`);
    return (group) => of(group, ...values.map((value) => value(group)));
  }

  function choice(): Rule {
    const left = sums();
    const sign = taken(...Object.keys(COMPARISONS));
    if (!sign) throw new FormulaError("where(…) begins with a comparison, such as where(r == max(r), 1, 0).");
    const right = sums();
    need(",", "after the comparison of where(…)");
    const then = sums();
    need(",", "before the last part of where(condition, x, y)");
    const other = sums();
    need(")", "at the end of where(…)");
    const holds = COMPARISONS[sign]!;
    return (group) => {
      const [a, b, x, y] = [left(group), right(group), then(group), other(group)];
      return a.map((value, i) => (holds(value, b[i]!) ? x[i]! : y[i]!));
    };
  }

  const of = sums();
  if (at < tokens.length) throw new FormulaError(surplus(tokens[at]!, tokens[at - 1]!));
  return {
    text: text.trim(),
    readsLabels: OF_LABELS.some((name) => uses.has(name)),
    uses,
    of: (group) => [...of(group)],
  };
}

const joined =
  (of: (a: number, b: number) => number, left: Rule, right: Rule): Rule =>
  (group) => {
    const other = right(group);
    return left(group).map((value, i) => of(value, other[i]!));
  };

function tokensOf(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new FormulaError(unknownSign(text.slice(from).trimStart()[0]!));
    found.push(match[0].trim());
  }
  return found;
}

const INSTEAD: Readonly<Record<string, string>> = {
  "^": "a power is written **",
  "=": "a comparison is written ==, inside where(…)",
  "−": "minus is written -",
  "·": "times is written *",
  "×": "times is written *",
};

function unknownSign(sign: string): string {
  return `“${sign}” is no sign of a formula: ${INSTEAD[sign] ?? "use + - * / ** ( ) and a comma"}.`;
}

function surplus(token: string, before: string): string {
  if (has(COMPARISONS, token)) return `“${token}” may stand only inside where(condition, x, y).`;
  if (token === ")" || token === ",") return `“${token}” after “${before}” belongs to no “(”.`;
  return `Between “${before}” and “${token}” a sign is missing, such as *.`;
}
