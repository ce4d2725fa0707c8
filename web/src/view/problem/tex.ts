/** A formula in TeX as MathML, which browsers draw themselves: the part of TeX that models write. */

export interface Drawn {
  readonly tag: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children: readonly (Drawn | string)[];
}

/** What this reader does not know; the formula is then shown as it is written. */
export class UnknownTex extends Error {}

const node = (tag: string, ...children: (Drawn | string)[]): Drawn => ({ tag, children });
const styled = (tag: string, attributes: Record<string, string>, ...children: (Drawn | string)[]): Drawn => ({
  tag,
  attributes,
  children,
});
const row = (children: readonly Drawn[]): Drawn => (children.length === 1 ? children[0]! : node("mrow", ...children));

const pairs = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(" ").map((pair) => pair.split(":") as [string, string]));

const LETTERS = pairs(
  "alpha:α beta:β gamma:γ delta:δ epsilon:ϵ varepsilon:ε zeta:ζ eta:η theta:θ vartheta:ϑ iota:ι kappa:κ " +
    "lambda:λ mu:μ nu:ν xi:ξ pi:π rho:ρ sigma:σ tau:τ upsilon:υ phi:ϕ varphi:φ chi:χ psi:ψ omega:ω " +
    "Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ Xi:Ξ Pi:Π Sigma:Σ Phi:Φ Psi:Ψ Omega:Ω ell:ℓ infty:∞ emptyset:∅ " +
    "varnothing:∅ partial:∂ nabla:∇ hbar:ℏ aleph:ℵ Re:ℜ Im:ℑ degree:° circ:∘ prime:′ dots:… ldots:… cdots:⋯ " +
    "vdots:⋮ ddots:⋱ checkmark:✓ blacksquare:■ square:□ Box:□ angle:∠ triangle:△ top:⊤ bot:⊥",
);
const OPERATORS = pairs(
  "times:× cdot:⋅ div:÷ pm:± mp:∓ ast:∗ star:⋆ bullet:∙ le:≤ leq:≤ leqslant:⩽ ge:≥ geq:≥ geqslant:⩾ ne:≠ " +
    "neq:≠ approx:≈ equiv:≡ sim:∼ simeq:≃ cong:≅ propto:∝ ll:≪ gg:≫ in:∈ notin:∉ ni:∋ subset:⊂ subseteq:⊆ " +
    "supset:⊃ supseteq:⊇ cup:∪ cap:∩ setminus:∖ land:∧ wedge:∧ lor:∨ vee:∨ neg:¬ lnot:¬ to:→ rightarrow:→ " +
    "leftarrow:← leftrightarrow:↔ Rightarrow:⇒ Leftarrow:⇐ Leftrightarrow:⇔ implies:⟹ iff:⟺ mapsto:↦ " +
    "longrightarrow:⟶ forall:∀ exists:∃ nexists:∄ mid:∣ nmid:∤ parallel:∥ perp:⊥ oplus:⊕ otimes:⊗ " +
    "langle:⟨ rangle:⟩ lfloor:⌊ rfloor:⌋ lceil:⌈ rceil:⌉ vert:| lvert:| rvert:| Vert:‖ lVert:‖ rVert:‖ " +
    "therefore:∴ because:∵ lbrace:{ rbrace:} models:⊨ vdash:⊢ int:∫ iint:∬ oint:∮ colon::",
);
OPERATORS.colon = ":";
const LARGE = pairs(
  "sum:∑ prod:∏ coprod:∐ bigcup:⋃ bigcap:⋂ bigoplus:⨁ lim:lim max:max min:min sup:sup inf:inf gcd:gcd",
);
const FUNCTIONS = new Set(
  "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp det dim ker deg arg mod lcm Pr".split(" "),
);
const SPACES: Record<string, string> = {
  ",": ".17em",
  ":": ".22em",
  ";": ".28em",
  " ": ".3em",
  quad: "1em",
  qquad: "2em",
  "!": "0",
};
const ACCENTS = pairs(
  "overline:‾ bar:‾ hat:^ widehat:^ tilde:~ widetilde:~ vec:→ dot:˙ ddot:¨ overrightarrow:→ overbrace:⏞",
);
const FONTS = pairs(
  "mathbb:double-struck mathcal:script mathscr:script mathfrak:fraktur mathbf:bold boldsymbol:bold bm:bold",
);
const TEXTS = new Set([
  "text",
  "textbf",
  "textit",
  "textrm",
  "mathrm",
  "mbox",
  "operatorname",
  "texttt",
  "mathsf",
  "mathit",
]);
const IGNORED = new Set(
  "displaystyle textstyle limits nolimits left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr hline centering".split(
    " ",
  ),
);
const FENCES: Record<string, readonly [string, string]> = {
  matrix: ["", ""],
  pmatrix: ["(", ")"],
  bmatrix: ["[", "]"],
  vmatrix: ["|", "|"],
  Bmatrix: ["{", "}"],
  cases: ["{", ""],
  array: ["", ""],
  aligned: ["", ""],
  align: ["", ""],
  "align*": ["", ""],
  gathered: ["", ""],
  gather: ["", ""],
  "gather*": ["", ""],
  split: ["", ""],
  equation: ["", ""],
  "equation*": ["", ""],
  smallmatrix: ["", ""],
};
const LETTERS_AT_MOST = 4000; // of one formula

/** A formula as MathML's children of `math`; throws `UnknownTex`. */
export function mathml(tex: string): Drawn {
  if (tex.length > LETTERS_AT_MOST) throw new UnknownTex("too long");
  const tokens = tex.match(/\\[a-zA-Z]+|\\[^]|[0-9]+(?:\.[0-9]+)?|\s+|[^]/gu) ?? [];
  return new Reader(tokens).whole();
}

class Reader {
  private at = 0;
  constructor(private readonly tokens: string[]) {}

  whole(): Drawn {
    const found = this.lines(() => this.peek() === undefined);
    return found.length === 1 && found[0]!.length === 1 ? row(found[0]![0]!) : table(found, "left");
  }

  private peek(): string | undefined {
    while (this.tokens[this.at]?.trim() === "") this.at++;
    return this.tokens[this.at];
  }

  private next(): string {
    this.peek();
    return this.any();
  }

  /** The next token, also a space. */
  private any(): string {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new UnknownTex("the formula ends too early");
    return token;
  }

  /** Cells of lines, up to an end. */
  private lines(isEnd: () => boolean): Drawn[][][] {
    const found: Drawn[][][] = [[[]]];
    while (!isEnd()) {
      const token = this.peek();
      if (token === "&") found.at(-1)!.push([]);
      else if (token === "\\\\") found.push([[]]);
      else {
        found
          .at(-1)!
          .at(-1)!
          .push(...this.scripted());
        continue;
      }
      this.at++;
    }
    if (found.length > 1 && found.at(-1)!.every((cell) => !cell.length)) found.pop();
    return found;
  }

  private group(): Drawn {
    if (this.peek() !== "{") {
      this.splitNumber();
      return row(this.atom());
    }
    this.at++;
    const found: Drawn[] = [];
    while (this.peek() !== "}") found.push(...this.scripted());
    this.at++;
    return row(found);
  }

  /** An argument without braces is one digit: \\frac12 is a half. */
  private splitNumber(): void {
    const token = this.peek();
    if (token && /^\d./.test(token)) this.tokens.splice(this.at, 1, token[0]!, token.slice(1));
  }

  private scripted(): Drawn[] {
    const base = this.atom();
    let [below, above]: [Drawn | null, Drawn | null] = [null, null];
    while (["^", "_", "'"].includes(this.peek() ?? "")) {
      const kind = this.next();
      if (kind === "'") above = above ? node("mrow", above, node("mo", "′")) : node("mo", "′");
      else if (kind === "^") above = above ? node("mrow", above, this.group()) : this.group();
      else below = this.group();
    }
    if (!below && !above) return base;
    const whole = row(base);
    const isLarge = whole.attributes?.movablelimits === "true";
    if (below && above) return [node(isLarge ? "munderover" : "msubsup", whole, below, above)];
    return [below ? node(isLarge ? "munder" : "msub", whole, below) : node(isLarge ? "mover" : "msup", whole, above!)];
  }

  private atom(): Drawn[] {
    const token = this.next();
    if (token === "{") {
      this.at--;
      return [this.group()];
    }
    if (token === "}" || token === "&") throw new UnknownTex(token);
    if (token.startsWith("\\")) return this.command(token.slice(1));
    if (/^\d/.test(token)) return [node("mn", token)];
    if (/^\p{L}/u.test(token)) return [node("mi", token)];
    return [node("mo", token === "-" ? "−" : token === "*" ? "∗" : token)];
  }

  private command(name: string): Drawn[] {
    if (name in LETTERS) return [node("mi", LETTERS[name]!)];
    if (name in OPERATORS) return [node("mo", OPERATORS[name]!)];
    if (name in LARGE) return [styled("mo", { movablelimits: "true" }, LARGE[name]!)];
    if (FUNCTIONS.has(name)) return [node("mi", name), styled("mspace", { width: ".17em" })];
    if (name in SPACES) return [styled("mspace", { width: SPACES[name]! })];
    if (IGNORED.has(name)) {
      if ((name === "left" || name === "right") && this.peek() === ".") this.at++;
      return [];
    }
    if (TEXTS.has(name)) return [node("mtext", this.letters())];
    if (name in FONTS)
      return [
        styled(
          "mstyle",
          { mathvariant: FONTS[name]!, class: FONTS[name]! },
          styledLetters(this.letters(), FONTS[name]!),
        ),
      ];
    if (name in ACCENTS) return [node("mover", this.group(), styled("mo", { stretchy: "true" }, ACCENTS[name]!))];
    switch (name) {
      case "frac":
      case "dfrac":
      case "tfrac":
      case "cfrac":
        return [node("mfrac", this.group(), this.group())];
      case "binom":
      case "dbinom":
        return [node("mo", "("), styled("mfrac", { linethickness: "0" }, this.group(), this.group()), node("mo", ")")];
      case "sqrt":
        return [this.root()];
      case "boxed":
      case "fbox":
        return [styled("mrow", { class: "boxed" }, this.group())];
      case "underline":
        return [styled("mrow", { class: "underlined" }, this.group())];
      case "underbrace":
        return [node("munder", this.group(), node("mo", "⏟"))];
      case "pmod":
        return [node("mo", "("), node("mi", "mod"), styled("mspace", { width: ".3em" }), this.group(), node("mo", ")")];
      case "bmod":
        return [node("mo", "mod")];
      case "not":
        return [node("mo", `${textOf(row(this.atom()))}\u0338`)];
      case "begin":
        return [this.environment()];
      case "{":
      case "}":
      case "$":
      case "%":
      case "#":
      case "&":
      case "_":
        return [node("mo", name)];
      case "|":
        return [node("mo", "‖")];
      default:
        throw new UnknownTex(`\\${name}`);
    }
  }

  private root(): Drawn {
    if (this.peek() !== "[") return node("msqrt", this.group());
    this.at++;
    const degree: Drawn[] = [];
    while (this.peek() !== "]") degree.push(...this.scripted());
    this.at++;
    return node("mroot", this.group(), row(degree));
  }

  /** The letters of an argument. */
  private letters(): string {
    if (this.peek() !== "{") return this.next();
    this.at++;
    let [depth, text] = [1, ""];
    for (;;) {
      const token = this.any();
      depth += token === "{" ? 1 : token === "}" ? -1 : 0;
      if (!depth) return text;
      if (token !== "{" && token !== "}") text += token.startsWith("\\") ? token.slice(1) : token;
    }
  }

  private environment(): Drawn {
    const name = this.letters();
    const fences = FENCES[name];
    if (!fences) throw new UnknownTex(`\\begin{${name}}`);
    if (name === "array" && this.peek() === "{") this.letters();
    const found = this.lines(() => this.peek() === "\\end");
    this.at++;
    if (this.letters() !== name) throw new UnknownTex(`\\end of ${name}`);
    const inside = table(found, name === "cases" || name.startsWith("align") ? "left" : "center");
    const fence = (text: string): Drawn[] => (text ? [styled("mo", { stretchy: "true" }, text)] : []);
    return row([...fence(fences[0]), inside, ...fence(fences[1])]);
  }
}

const table = (lines: readonly (readonly (readonly Drawn[])[])[], align: string): Drawn =>
  styled(
    "mtable",
    { columnalign: align },
    ...lines.map((cells) => node("mtr", ...cells.map((cell) => node("mtd", ...cell)))),
  );

const textOf = (drawn: Drawn): string =>
  drawn.children.map((one) => (typeof one === "string" ? one : textOf(one))).join("");

const DOUBLE: Record<string, string> = { C: "ℂ", H: "ℍ", N: "ℕ", P: "ℙ", Q: "ℚ", R: "ℝ", Z: "ℤ" };

const styledLetters = (text: string, font: string): Drawn =>
  node("mi", font === "double-struck" ? [...text].map((one) => DOUBLE[one] ?? one).join("") : text);
