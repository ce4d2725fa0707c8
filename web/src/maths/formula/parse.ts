/**
 * An advantage as a formula over the group: text → a function of the samples.
 *
 * The language is a part of Python, so that a formula can be copied into a function. It has no way to
 * name a sample by its place, so no formula depends on the order of a group, or on names of labels.
 */

import { all, FUNCTIONS, type Kinds, NAMES, OF_LABELS, type Rule } from "./vocabulary";

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

export const LONGEST = 300; // signs

/**
 * Read a formula.
 *
 * Throws a `FormulaError` that names what is wrong.
 */
export function parse(text: string): Formula {
  if (text.trim() === "") throw new FormulaError("Write the advantage of a sample, such as r - mean(r).");
  if (text.length > LONGEST)
    throw new FormulaError(`A formula has at most ${LONGEST} signs; this one has ${text.length}.`);
  const { of, uses } = new Reader(tokensOf(text)).whole();
  const readsLabels = OF_LABELS.some((name) => uses.has(name));
  return { text: text.trim(), readsLabels, uses, of: (group) => [...of(group)] };
}

const TOKEN = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[=!<>]=|[-+*/(),<>]))/y;

function tokensOf(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new FormulaError(unknownSign(text.slice(from).trimStart()));
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

function unknownSign(rest: string): string {
  const [sign] = rest; // a whole letter, also one of two units
  return `“${sign}” is no sign of a formula: ${INSTEAD[sign!] ?? "use + - * / ** ( ) and a comma"}.`;
}

type Operator = (a: number, b: number) => number;

const SUMS: Readonly<Record<string, Operator>> = { "+": (a, b) => a + b, "-": (a, b) => a - b };
const PRODUCTS: Readonly<Record<string, Operator>> = { "*": (a, b) => a * b, "/": (a, b) => a / b };
const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
};

/** Reads tokens by the grammar of Python's expressions, one method for each precedence. */
class Reader {
  readonly uses = new Set<string>();
  private at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  whole(): { readonly of: Rule; readonly uses: ReadonlySet<string> } {
    const of = this.sum();
    if (this.at < this.tokens.length) throw new FormulaError(this.surplus());
    return { of, uses: this.uses };
  }

  private sum(): Rule {
    return this.chain(SUMS, () => this.product());
  }

  private product(): Rule {
    return this.chain(PRODUCTS, () => this.signed());
  }

  private chain(operators: Readonly<Record<string, Operator>>, part: () => Rule): Rule {
    let left = part();
    for (let sign = this.taken(operators); sign; sign = this.taken(operators))
      left = joined(operators[sign]!, left, part());
    return left;
  }

  private signed(): Rule {
    const sign = this.taken(SUMS);
    if (!sign) return this.power();
    const of = this.signed();
    return sign === "-" ? (group) => of(group).map((value) => -value) : of;
  }

  /** As in Python, −2**2 is −4, and 2**−1 is ½. */
  private power(): Rule {
    const base = this.atom();
    return this.taken({ "**": true }) ? joined((a, b) => a ** b, base, this.signed()) : base;
  }

  private atom(): Rule {
    const token = this.tokens[this.at++];
    if (token === undefined)
      throw new FormulaError(`After “${this.tokens.at(-1)}” something is missing: a number, a name or “(”.`);
    if (/^[\d.]/.test(token)) return (group) => all(group, Number(token));
    if (/^\w/.test(token)) return this.word(token);
    if (token !== "(") throw new FormulaError(`“${token}” stands where a number, a name or “(” should be.`);
    const inside = this.sum();
    this.need(")", "at the end of the parentheses");
    return inside;
  }

  private word(name: string): Rule {
    this.uses.add(name);
    if (has(NAMES, name)) {
      if (this.tokens[this.at] === "(")
        throw new FormulaError(`“${name}” is a number and no function: write ${name} * (…).`);
      return NAMES[name]![1];
    }
    if (name !== "where" && !has(FUNCTIONS, name)) throw new FormulaError(unknownName(name));
    this.need("(", `after ${name}, such as ${name}(r)`);
    return name === "where" ? this.choice() : this.call(name);
  }

  private call(name: string): Rule {
    const values = [this.sum()];
    while (this.taken({ ",": true })) values.push(this.sum());
    this.need(")", `at the end of ${name}(…)`);
    const { takes, says, of } = FUNCTIONS[name]!;
    if (values.length < takes[0] || values.length > takes[1])
      throw new FormulaError(
        `${name} takes ${takes[0] === 1 ? "one value" : `${takes[0]} values`}, not ${values.length} (${says}).`,
      );
    return (group) => of(group, ...values.map((value) => value(group)));
  }

  private choice(): Rule {
    const left = this.sum();
    const sign = this.taken(COMPARISONS);
    if (!sign) throw new FormulaError("where(…) begins with a comparison, such as where(r == max(r), 1, 0).");
    const right = this.sum();
    this.need(",", "after the comparison of where(…)");
    const then = this.sum();
    this.need(",", "before the last part of where(condition, x, y)");
    const other = this.sum();
    this.need(")", "at the end of where(…)");
    const holds = COMPARISONS[sign]!;
    return (group) => {
      const [a, b, x, y] = [left(group), right(group), then(group), other(group)];
      return a.map((value, i) => (holds(value, b[i]!) ? x[i]! : y[i]!));
    };
  }

  /** The next token, if it is one of these signs; null if not. */
  private taken(signs: object): string | null {
    const token = this.tokens[this.at];
    return token !== undefined && has(signs, token) ? this.tokens[this.at++]! : null;
  }

  private need(sign: string, why: string): void {
    const next = this.tokens[this.at];
    if (this.taken({ [sign]: true })) return;
    throw new FormulaError(`“${sign}” is missing ${why}${next === undefined ? "" : `, before “${next}”`}.`);
  }

  private surplus(): string {
    const [before, token] = [this.tokens[this.at - 1], this.tokens[this.at]!];
    if (has(COMPARISONS, token)) return `“${token}” may stand only inside where(condition, x, y).`;
    if (token === ")" || token === ",") return `“${token}” after “${before}” belongs to no “(”.`;
    return `Between “${before}” and “${token}” a sign is missing, such as *.`;
  }
}

const has = (table: object, name: string): boolean => Object.hasOwn(table, name);

function joined(of: Operator, left: Rule, right: Rule): Rule {
  return (group) => {
    const other = right(group);
    return left(group).map((value, i) => of(value, other[i]!));
  };
}

function unknownName(name: string): string {
  const [names, functions] = [NAMES, FUNCTIONS].map((words) => Object.keys(words).join(", "));
  return `“${name}” is unknown. The names are ${names}; the functions are ${functions}, where.`;
}
