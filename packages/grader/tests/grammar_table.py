"""What the grader reads, from its own tables.

`python packages/grader/tests/grammar_table.py` writes it into docs/grader.md. The examples are read
when the table is written, so that it says what the grammar does.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from pathlib import Path

from setrl_grader import grammar, python_syntax, tokens, units
from setrl_grader.marks import MARKS
from setrl_grader.normal_form import normal_form

DOC = Path(__file__).parents[3] / "docs" / "grader.md"
BEGIN, END = "<!-- grammar: begin -->", "<!-- grammar: end -->"

STATEMENTS = (
    "1, 2", "1 or 2", r"2\pm\sqrt{3}", "(1,2)", "(1,2]", r"\{1,2\}", r"\langle 1,2\rangle",
    r"\begin{bmatrix}1&2\\3&4\end{bmatrix}", "x+y=2", r"1<x\le 2", r"x\in[0,1]",
    r"(0,1)\cup(2,\infty)", r"\{x\mid x>1\}", "2:3:4", r"50\%", "x^2+1",
    r"\begin{cases}x=1\\y=2\end{cases}",
)  # fmt: skip
EXPRESSIONS = (
    "12.5", "1.5 million", r"0.1\overline{6}", r"0.\bar{6}", "0.(36)", r"2\frac{1}{2}",
    "2 1/2", "x_{1}'", r"\pi", "dx", "f(x)",
    "f'(x)", "f^2(x)", "f^{(3)}", "1,234", "1.5e-3", r"0.1666\ldots", "2[x]",
    "x+1", "2xy", r"\frac{x}{2}", "x/2", "x^2", "-x", r"\sqrt[3]{x}", r"\binom{n}{k}",
    r"{n \choose k}", "{}_{n}C_k", "2[x+1]", "n!", "n!!", "|x|", r"\lfloor x\rfloor",
    r"\lceil x\rceil", r"30^\circ",
    r"\log_{2} x", r"\sin^2 x", r"\sin^{-1} x", r"\gcd(a,b)", r"\vec{a}\times\vec{b}",
    r"\frac{dy}{dx}",
)  # fmt: skip
UNREAD = (
    r"\int_0^1 x\,dx", r"\sum_{k=1}^{n} k^2", r"\lim_{x\to 0} x", "1/2x", "x2",
    r"\frac{d}{dx}x^2", r"3\frac{4}{2}", r"\mathbb{Z}", r"\forall x", "]0,1[", "0xFF",
    r"\begin{cases}x\end{cases}",
)  # fmt: skip
_OPS = {"/": "quotient", "*": "product", "+": "sum", "-": "negative", "^": "power",
        "apply": "function without a value", "!": "factorial",
        "!!": "double factorial", "abs": "absolute value", "log": "logarithm of a base",
        "binom": "binomial coefficient", "floor": "rounded down", "ceil": "rounded up"}  # fmt: skip


def kind_of(example: str) -> str:
    """Return what an example is read as."""
    part = grammar.parse(normal_form(example))
    if part.tree is None:
        size = f" {part.marks}" if part.kind == "matrix" else ""
        return part.kind + size
    op = part.tree.op
    return _OPS.get(op, f"function `{op}`" if op.startswith("\\") else op)


def code(*texts: str) -> str:
    return " ".join(f"`{text}`".replace("|", "\\|") for text in texts)


def productions() -> dict[str, str]:
    """Return the rules in the grammar's docstring, by name."""
    rules = re.findall(r"^    (\w+) +=( .*)$", inspect.getdoc(grammar) or "", re.MULTILINE)
    return {name: rule.strip() for name, rule in rules}


def table() -> str:
    """Return the grammar, its examples, and the names that have a meaning, as Markdown."""
    lines = ["```text", *(f"{name:9} = {rule}" for name, rule in productions().items()), "```", ""]
    read = defaultdict(list)
    for each in (*STATEMENTS, *EXPRESSIONS):
        read[kind_of(each)].append(each)
    lines += ["| read as | written |", "|---|---|"]
    lines += [f"| {kind} | {code(*examples)} |" for kind, examples in read.items()]
    lines += [f"| {name} | {code(mark.example)} |" for name, mark in MARKS.items()]
    lines += [f"| text, which equals only the same text | {code(*UNREAD)} |"]
    names = [*python_syntax.FUNCTIONS, *python_syntax.WRITTEN, *python_syntax.NAMES]
    python = [name for name in names if name.lower() not in tokens.GREEK]
    known = {
        "between members": sorted(grammar.SEPARATORS),
        "relations": sorted(grammar.RELATIONS),
        "between sets": sorted(grammar.SETS),
        "brackets": grammar.BRACKETS,
        "functions": sorted(tokens.FUNCTIONS - tokens.APPLIED),
        "functions without values": sorted(tokens.APPLIED),
        "accents, which make another letter": sorted(grammar.ACCENTS),
        "units": sorted(units.UNITS),
        "names of Python and SymPy": python,
    }
    lines += ["", "| names and signs | all of them |", "|---|---|"]
    lines += [f"| {name} | {code(*each)} |" for name, each in known.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    before, _, rest = DOC.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    DOC.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")
