"""Rewrites that keep what a gold means: other ways to write it, which must be accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from adversary.expressions import Style, write
from adversary.golds import Answer, latex

STYLES = {
    "dfrac": Style(fraction=r"\dfrac"),
    "slash": Style(fraction="/"),
    "dots between factors": Style(dot=r"\cdot "),
    "crosses between factors": Style(dot=r"\times "),
    "spaces": Style(space=" "),
    "left and right": Style(brackets=(r"\left(", r"\right)")),
    "terms reversed": Style(reverse=True),
    "braces": Style(braces=True),
}
WRAPPERS = {
    "dollars": "${}$",
    "displaystyle": r"\displaystyle {}",
    "thin space": r"\,{}",
    "full stop": "{}.",
    "outer braces": "{{{}}}",
}


@dataclass(frozen=True)
class Rewrite:
    """A right answer, written in another way.

    Attributes:
        way: How.
        text: The answer in LaTeX.
    """

    way: str
    text: str


def rewrites(answer: Answer) -> Iterator[Rewrite]:
    """All other ways to write a gold; none equals its plain LaTeX."""
    plain = latex(answer)
    candidates = [(way, latex(answer, style)) for way, style in STYLES.items()]
    candidates += [(way, wrapper.format(plain)) for way, wrapper in WRAPPERS.items()]
    candidates += [(way, rewrite(answer)) for way, rewrite in _OF_KINDS.items()]
    seen = {plain}
    for way, text in candidates:
        if text is not None and text not in seen:
            seen.add(text)
            yield Rewrite(way, text)


def _reordered(answer: Answer) -> str | None:
    if answer.kind not in ("set", "list", "named"):
        return None
    marks = answer.marks[::-1] if answer.kind == "named" else answer.marks
    return latex(replace(answer, parts=answer.parts[::-1], marks=marks))


def _of(kind: str, write: Callable[[Answer], str]) -> Callable[[Answer], str | None]:
    return lambda answer: write(answer) if answer.kind == kind else None


def _array(answer: Answer) -> str:
    inner = latex(answer).removeprefix(r"\begin{pmatrix}").removesuffix(r"\end{pmatrix}")
    columns = "c" * int(answer.marks[0])
    return rf"\left[\begin{{array}}{{{columns}}}{inner}\end{{array}}\right]"


def _as_interval(answer: Answer) -> str:
    end, relation = write(answer.parts[0]), answer.marks[1]
    closing, opening = ("]", "[") if relation in (r"\le", r"\ge") else (")", "(")
    return rf"(-\infty,{end}{closing}" if relation in ("<", r"\le") else rf"{opening}{end},\infty)"


_OF_KINDS: dict[str, Callable[[Answer], str | None]] = {
    "in another order": _reordered,
    "brackets of a matrix": _of("matrix", lambda a: latex(a).replace("pmatrix", "bmatrix")),
    "array": _of("matrix", _array),
    "prime in words": _of("equation", lambda a: latex(a).replace("f'", r"f^{\prime}")),
    "base in words": _of("based", lambda a: rf"{a.marks[0]}_{{\text{{{a.marks[1]}}}}}"),
    "unit missing": _of("loose unit", lambda a: latex(replace(a, marks=("",)))),
    "as an interval": _of("inequality", _as_interval),
    "union in another order": _of("union", lambda a: r"\cup".join(latex(a).split(r"\cup")[::-1])),
    "unit upright": _of("unit", lambda a: latex(a).replace(r"\text", r"\mathrm")),
    "unit with a tilde": _of("unit", lambda a: latex(a).replace(r"\text{ ", r"~\text{")),
    "minutes with prime": _of("angle", lambda a: latex(a).replace("'", r"^{\prime}")),
    "choice without brackets": _of("choice", lambda a: a.marks[0]),
    "choice as text": _of("choice", lambda a: rf"\text{{{a.marks[0]}}}"),
    "word plain": _of("word", lambda a: a.marks[0]),
    "word bold": _of("word", lambda a: rf"\textbf{{{a.marks[0]}}}"),
    "prime as a power": _of(
        "primes", lambda a: "".join((a.marks[0], "^{", r"\prime" * len(a.marks[1]), "}"))
    ),
    "cycle from another number": _of(
        "permutation", lambda a: latex(replace(a, marks=(*a.marks[1:], a.marks[0])))
    ),
    "remainder plus the modulus": _of(
        "remainder", lambda a: rf"{int(a.marks[0]) + int(a.marks[1])} \pmod{{{a.marks[1]}}}"
    ),
    "date without zeros": _of("date", lambda a: "-".join(str(int(part)) for part in a.marks)),
    "word in small letters": _of("word", lambda a: rf"\text{{{a.marks[0].lower()}}}"),
}
