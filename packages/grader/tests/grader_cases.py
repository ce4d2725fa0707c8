r"""What the grader accepts and refuses: one list for the tests and for the table of the docs.

`python packages/grader/tests/grader_cases.py` writes the table into docs/results/grader/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from setrl_grader import Reason

DOC = Path(__file__).parents[3] / "docs" / "results" / "grader" / "README.md"
BEGIN, END = "<!-- cases: begin -->", "<!-- cases: end -->"


@dataclass(frozen=True)
class Case:
    """A gold, the end of a sample, and what comes of it."""

    group: str
    gold: str
    sample: str
    reason: Reason
    units: bool = False


def boxed(group: str, gold: str, answer: str, reason: Reason, units: bool = False) -> Case:
    return Case(group, gold, rf"\boxed{{{answer}}}", reason, units)


def right(group: str, *pairs: tuple[str, str], units: bool = False) -> list[Case]:
    return [boxed(group, gold, answer, Reason.EQUAL, units) for gold, answer in pairs]


def wrong(
    group: str, *pairs: tuple[str, str], reason: Reason = Reason.DIFFERENT, units: bool = False
) -> list[Case]:
    return [boxed(group, gold, answer, reason, units) for gold, answer in pairs]


CASES = [
    *right(
        "how a number is written",
        ("1234", "1,234"),
        ("1234567", r"1{,}234{,}567"),
        ("12345", r"12\,345"),
        ("7", "007"),
        ("18", r"\$18.00"),
        ("70000", r"\$70,000."),
        ("-5", "−5"),
        ("3", r"\text{3}"),
        ("0.5", ".5"),
        ("3", "+3"),
        (r"\frac{1}{2}", r"\dfrac12"),
        (r"\frac{1}{2}", "1/2"),
        (r"\frac{1}{2}", "0.5"),
        (r"\frac{2}{4}", r"\tfrac{1}{2}"),
        (r"-\frac{1}{2}", r"\frac{-1}{2}"),
        (r"\frac{5}{2}", r"2\frac{1}{2}"),
        ("1.5e-3", r"1.5 \times 10^{-3}"),
        ("300000000", r"3 \cdot 10^8"),
        ("6.02e23", r"6.02\times10^{23}"),
        ("1000000", "10^6"),
        ("90", r"90^\circ"),
        (r"90^{\circ}", "90"),
        ("90", "90°"),
    ),
    *wrong(
        "how a number is written",
        ("1234", "1.234"),
        ("100200", "100, 200"),
        ("12", "1 2"),
        ("5", "-5"),
        (r"\frac{1}{2}", "1/3"),
    ),
    *right("percent", ("50", r"50\%"), (r"50\%", "50"), (r"50\%", "0.5"), ("0.5", r"50\%")),
    *wrong("percent", (r"50\%", "5"), (r"5\%", "0.5")),
    *right(
        "decimals and tolerance",
        (r"\frac{1}{3}", "0.333333"),
        (r"\sqrt{2}", "1.414214"),
        (r"10^{9}\sqrt{2}", "1414213562.4"),
        ("0.0000123456", r"1.23456\times 10^{-5}"),
    ),
    *wrong(
        "decimals and tolerance",
        (r"\frac{1}{3}", "0.33"),
        (r"\frac{1}{3}", "0.333334"),
        ("3.14159265", "3.1415927"),
        ("2500000.50", "2500000.51"),
        (r"\frac{2000001}{2}", "1000000.4"),
        ("1000000", "1000001"),
        ("1000000.0", "1000001"),
        (r"\sqrt{2}", "1.41"),
        ("2^{-99}", "2^{-98}"),
        (r"2^{-99}\pi", r"2^{-98}\pi"),
        ("2^{-99}x", "2^{-98}x"),
        ("x=2^{-99}", "x=2^{-98}"),
        ("(2^{-99},1)", "(2^{-98},1)"),
        ("0", "0.0000001"),
    ),
    *right(
        "algebra",
        ("x^2+1", "1+x^2"),
        (r"\frac{n(n+1)}{2}", r"\frac{n^2+n}{2}"),
        (r"\sqrt{8}", r"2\sqrt{2}"),
        (r"\frac{\pi}{3}", r"\pi/3"),
        (r"\sin\frac{\pi}{12}", r"\frac{\sqrt{6}-\sqrt{2}}{4}"),
        (r"\binom{2n}{n}", r"\frac{(2n)!}{n!^2}"),
        ("(x-1)(x+1)", "x^2-1"),
        ("e^e", "e^{e}"),
        (r"4\sqrt{13}", r"\sqrt{208}"),
        (r"\log_2 8", "3"),
        (r"\frac{1}{x}", "x^{-1}"),
    ),
    *wrong(
        "algebra",
        ("x^2+1", "x^2-1"),
        ("x", "y"),
        (r"\sqrt{2}", r"\sqrt{3}"),
        ("2n", "2m"),
        ("|x|", "x"),
    ),
    *right(
        "names and equations",
        ("5", "x=5"),
        ("x=5", "5"),
        ("f(x)=2x", "2x"),
        ("x=5", "x = 5.0"),
        ("n^2", "a_n=n^2"),
        ("2x+y=3", "y+2x=3"),
    ),
    *wrong("names and equations", ("x=5", "y=5"), ("x=5", "x=6"), ("2x+y=3", "3")),
    *wrong(
        "more than one value",
        ("3", "1+1=3"),
        ("2", "x=1+2=2"),
        ("5", "4=5"),
        ("3", "2x+z=3"),
        (r"\sqrt{2}", r"\sqrt{2}\approx 1.5"),
        ("6", r"x=5 \Rightarrow 6"),
        reason=Reason.CHAIN,
    ),
    *wrong(
        "not evaluated",
        ("9", r"\int_0^3 x^2\,dx"),
        ("55", r"\sum_{k=1}^{10} k"),
        ("120", r"\prod_{k=1}^5 k"),
        ("1", r"\lim_{x\to 0}\frac{\sin x}{x}"),
        ("5050", r"1+2+\cdots+100"),
        ("5", "2+3"),
        ("391", r"17\cdot 23\cdot 1^2"),
        ("486", r"2\cdot 3^5"),
        ("120", r"\binom{10}{3}"),
        (r"\frac{1}{2}", r"\sin 30^\circ"),
        ("x<2", "2x+3<7"),
        (r"\frac{5}{6}", r"\frac{1}{2}+\frac{1}{3}"),
        reason=Reason.UNEVALUATED,
    ),
    *right(
        "not evaluated",
        (r"\sum_{k=1}^{n} k^k", r"\sum_{k=1}^{n} k^k"),
        ("1+\\sqrt{2}", "\\sqrt{2}+1"),
        (r"3\cdot 2^{2013}", r"6\cdot 2^{2012}"),
        (r"2\times 3\times 5\times 67", "2010"),
    ),
    *right(
        "lists, sets, pairs, intervals",
        ("1,2", "2,1"),
        ("1,2", r"\{1,2\}"),
        (r"\{1,2\}", r"S=\{2,1\}"),
        ("1,2", r"1 \text{ and } 2"),
        ("1,2", r"x=1 \text{ or } x=2"),
        (r"\pm 2", "2,-2"),
        (r"2\pm\sqrt{3}", r"2+\sqrt{3}, 2-\sqrt{3}"),
        ("5", r"\{5\}"),
        ("(1,2)", r"\left(1,2\right)"),
        ("(1,2)", "(1.0, 2)"),
        ("(1,2)", "(x,y)=(1,2)"),
        ("[0,1)", r"\left[0,1\right)"),
        ("(1,2)", r"x\in(1,2)"),
        ("(1,2)", "1<x<2"),
        ("1<x<2", "(1,2)"),
        ("k \\ge 2", r"[2,\infty)"),
        (r"(2,\infty)", r"(2,+\infty)"),
        ("(1,8,19), (2,7,13)", "(2,7,13),(1,8,19)"),
        (r"(-\infty,0)\cup(0,\infty)", r"(0,\infty)\cup(-\infty,0)"),
        (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\2.0\end{pmatrix}"),
    ),
    *wrong(
        "lists, sets, pairs, intervals",
        ("(1,2)", r"S=\{1,2\}"),
        ("(1,2)", r"\{1,2\}"),
        (r"\{1,2\}", "(1,2)"),
        ("(1,2)", "1,2"),
        ("(1,2)", "[1,2]"),
        ("(1,2)", "(1,2]"),
        ("(1,2)", "(2,1)"),
        ("1,2", "1"),
        ("1,2", "1,2,3"),
        ("1,1", "1"),
        ("1,2", "(1,2)"),
        ("(1,8,19), (2,7,13)", "(1,8,19),(2,13,7)"),
        (r"\pm 2", "2"),
    ),
    *right(
        "words and choices",
        ("Yes", r"\text{yes}"),
        ("Tuesday", r"\textbf{Tuesday}"),
        ("equilateral triangle", "Equilateral Triangle."),
        ("B", "(B)"),
        ("B", r"\textbf{(B)}"),
        (r"\textbf{(D)}x(y-1)=0", "D"),
        (r"\textbf{(B)}\;7", "(B) 7"),
        (r"\textbf{(B)}\;7", "7"),
    ),
    *wrong(
        "words and choices",
        ("Yes", "No"),
        ("B", "C"),
        ("Tuesday", "Monday"),
        ("stop", "post"),
        (r"\textbf{(B)}\;7", "(C)"),
        ("5", "five"),
    ),
    *wrong(
        "units, by default", ("10", r"10\text{ cm}"), (r"10\text{ cm}", "10"), ("18", "18 dollars")
    ),
    *right("units, by default", (r"10\text{ cm}", "10 cm")),
    *right(
        "units, with units=True",
        ("10", r"10\text{ cm}"),
        (r"10\text{ cm}", "10"),
        ("18", "18 dollars"),
        ("3.5", r"3.5\,\mathrm{m}/\mathrm{s}"),
        units=True,
    ),
    *wrong(
        "units, with units=True",
        (r"10\text{ cm}", r"10\text{ m}"),
        ("10", r"11\text{ cm}"),
        units=True,
    ),
    Case(
        "boxes", "4", r"It is \boxed{3}. No: \boxed{5}." "\n" r"So it is \boxed{4}.", Reason.EQUAL
    ),
    Case("boxes", "4", r"\fbox{4}", Reason.EQUAL),
    Case("boxes", "4", r"\boxed{4}, again: \boxed{\text{4}}", Reason.EQUAL),
    Case("boxes", r"\frac{1}{2}", r"\boxed {\frac{1}{\text{2}}}", Reason.EQUAL),
    Case("boxes", "4", r"$\boxed{\boxed{4}}$", Reason.EQUAL),
    Case("boxes", "4", r"\boxed{3}. The final answer is 4.", Reason.NO_ANSWER),
    Case(
        "boxes", "4", r"\boxed{3}. The final answer is $4$. I hope it is correct.", Reason.NO_ANSWER
    ),
    Case("boxes", "4", r"\boxed{4}" "\n\nWait, it is:\n\n" r"\boxed{5}", Reason.DIFFERENT),
    Case("boxes", "4", r"\boxed{3} or \boxed{4}", Reason.SEVERAL_BOXES),
    Case("boxes", "1,2", r"\boxed{1} and \boxed{2}", Reason.EQUAL),
    Case("boxes", "2", r"\boxed{1}\boxed{2}", Reason.SEVERAL_BOXES),
    Case("boxes", "2", r"\boxed{1}," "\n" r"\boxed{2}", Reason.SEVERAL_BOXES),
    Case("boxes", "4", "The final answer is 4.", Reason.NO_BOX),
    Case("boxes", "4", r"\boxed{}", Reason.NO_BOX),
    Case("boxes", "4", r"\boxed{4} and then \boxed{\frac{1}{", Reason.CUT_OFF),
    Case("boxes", "4", r"It is $\boxed 4$.", Reason.EQUAL),
    Case("boxes", "4", r"\boxed 4+1", Reason.NO_BOX),
    *wrong("unparsable", ("4", r"\frac{}{}+)("), ("x", "2x+"), reason=Reason.UNPARSABLE),
    *wrong("unparsable", (r"\frac{}{2}", "x"), reason=Reason.BAD_GOLD),
]


def table() -> str:
    """All cases as a table in Markdown, a row for each."""
    lines = ["| gold | end of the sample | accepted? |", "|---|---|---|"]
    for group, cases in groupby(CASES, key=lambda case: case.group):
        lines.append(f"| **{group}** | | |")
        for case in cases:
            said = "yes" if case.reason == Reason.EQUAL else f"no: {case.reason}"
            lines.append(f"| {_code(case.gold)} | {_code(case.sample)} | {said} |")
    return "\n".join(lines)


def _code(text: str) -> str:
    return "`" + text.replace("\n", "⏎").replace("|", "\\|") + "`"


if __name__ == "__main__":
    before, _, rest = DOC.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    DOC.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")
