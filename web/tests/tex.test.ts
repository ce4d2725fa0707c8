/** Formulas and code in samples. */

import { expect, it } from "vitest";
import { partsOf } from "../src/view/problem/Rendered";
import { type Drawn, mathml, UnknownTex } from "../src/view/problem/tex";

const short = (drawn: Drawn): string =>
  drawn.tag === "mspace"
    ? ""
    : `${drawn.tag}(${drawn.children.map((one) => (typeof one === "string" ? one : short(one))).join(" ")})`;

it.each([
  ["x", "mi(x)"],
  ["-12.5", "mrow(mo(−) mn(12.5))"],
  ["x^2_i", "msubsup(mi(x) mi(i) mn(2))"],
  ["x^{10}", "msup(mi(x) mn(10))"],
  ["f''", "msup(mi(f) mrow(mo(′) mo(′)))"],
  ["\\frac{1}{n+1}", "mfrac(mn(1) mrow(mi(n) mo(+) mn(1)))"],
  ["\\frac12", "mfrac(mn(1) mn(2))"],
  ["\\sqrt[3]{x}", "mroot(mi(x) mn(3))"],
  ["\\sum_{i=1}^n i", "mrow(munderover(mo(∑) mrow(mi(i) mo(=) mn(1)) mi(n)) mi(i))"],
  ["\\left( a \\right.", "mrow(mo(() mi(a))"],
  ["\\text{if } x \\le 4", "mrow(mtext(if ) mi(x) mo(≤) mn(4))"],
  ["\\boxed{\\pi}", "mrow(mi(π))"],
  ["\\mathbb{R}", "mstyle(mi(ℝ))"],
  [
    "\\begin{cases} 1 & x \\\\ 2 & y \\end{cases}",
    "mrow(mo({) mtable(mtr(mtd(mn(1)) mtd(mi(x))) mtr(mtd(mn(2)) mtd(mi(y)))))",
  ],
  ["a &= b \\\\ &= c \\\\", "mtable(mtr(mtd(mi(a)) mtd(mo(=) mi(b))) mtr(mtd() mtd(mo(=) mi(c))))"],
  ["\\not= \\{1\\}", "mrow(mo(\u003d\u0338) mo({) mn(1) mo(}))"],
])("%s", (tex, wanted) => {
  expect(short(mathml(tex))).toBe(wanted);
});

it.each([
  "\\nope",
  "{",
  "}",
  "\\frac{1}",
  "x^",
  "\\begin{tikz}\\end{tikz}",
  "\\begin{cases} 1",
  "\\href{javascript:alert(1)}{x}",
])("what is not known is refused, never guessed: %s", (tex) => expect(() => mathml(tex)).toThrow(UnknownTex));

it("a formula that is too long is shown as it is written", () =>
  expect(() => mathml("x".repeat(5000))).toThrow(UnknownTex));

const kinds = (text: string): string[] =>
  partsOf(text).map((part) => `${part.kind}:${part.kind === "maths" ? part.tex : part.text}`);

it.each([
  ["costs $5 or $6", ["text:costs $5 or $6"]],
  ["a $x$ b", ["text:a ", "maths:x", "text: b"]],
  ["\\(x\\) and \\[y\\]", ["maths:x", "text: and ", "maths:y"]],
  ["$$x$$ \\boxed{\\frac{1}{2}}", ["maths:x", "text: ", "maths:\\boxed{\\frac{1}{2}}"]],
  ["```py\nprint('$x$')\n```\nend", ["code:print('$x$')\n", "text:\nend"]],
  ["```\nnever closed $x$", ["code:never closed $x$"]],
  ["use `a*b` **now**", ["text:use ", "code:a*b", "text: ", "strong:now"]],
  ["## Step 1\nx", ["strong:Step 1", "text:\nx"]],
  ["\\begin{align}a&=b\\end{align}", ["maths:\\begin{align}a&=b\\end{align}"]],
  ["an open \\( and $ sign", ["text:an open \\( and $ sign"]],
])("%j", (text, wanted) => expect(kinds(text)).toEqual(wanted));
