r"""LaTeX as tokens: each has a meaning, is known to have none, or stays and is not understood.

A token is a command (`\frac`), an escaped character (`\{`), a row break (`\\`), or one character;
spaces of all kinds are one token " ". In the text, a search for the space `\ ` also finds the end
of a row break before a space; among tokens it does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise

Tokens = list[str]

_GREEK = """
    alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi
    rho sigma tau upsilon phi varphi chi psi omega
    Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega
"""
GREEK = tuple(_GREEK.split())
"""The names of the Greek letters that are variables; π is a number."""

_TOKEN = re.compile(r"\\\\|\\[a-zA-Z]+\*?|\\.|\s+|.", re.DOTALL)

# Characters that are another way to type a command.
CHARACTERS = {
    "−": "-", "–": "-", "‑": "-", "×": r"\times", "·": r"\cdot", "⋅": r"\cdot", "÷": r"\div",
    "π": r"\pi", "∞": r"\infty", "∪": r"\cup", "∩": r"\cap", "≤": r"\le", "≥": r"\ge", "≠": r"\ne",
    "≈": r"\approx", "±": r"\pm", "∫": r"\int", "∑": r"\sum", "∏": r"\prod", "…": r"\ldots",
    "∈": r"\in", "√": r"\sqrt", "′": "'", "’": "'", "~": " ", "∶": ":", "⁄": "/", "º": "°",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\epsilon",
    "η": r"\eta", "θ": r"\theta", "λ": r"\lambda", "μ": r"\mu", "ρ": r"\rho", "σ": r"\sigma",
    "τ": r"\tau", "φ": r"\phi", "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta",
    "Θ": r"\Theta", "Λ": r"\Lambda", "Π": r"\Pi", "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi",
    "Ω": r"\Omega", "∅": r"\emptyset", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}",
    "ℚ": r"\mathbb{Q}", "∖": r"\setminus", "∧": r"\land", "∨": r"\lor", "¬": r"\neg",
    "⇒": r"\Rightarrow", "⟨": r"\langle", "⟩": r"\rangle",
}  # fmt: skip

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_WITH_EQUAL = {">": r"\ge", "<": r"\le", "!": r"\ne", r"\not": r"\ne"}

# What several tokens say in one character, or one token in several: x² → x^{2}, 1{,}234 → 1234.
_CIRCLE = r"[°º∘]|\\circ(?![a-zA-Z])|\\degree(?![a-zA-Z])"
_PRIME = r"'|′|\\prime(?![a-zA-Z])"
_SIZE = r"\\(?:left|right|[bB]igg?[lr]?)\s*"
_GROUP = r"((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*?)"  # what is in braces
_INDEX = r"[_^]\s*(\{[^{}]*\}|\w)"
_INFIX = {"choose": r"\binom", "over": r"\frac"}
_TEXT: dict[str, Callable[[re.Match[str]], str]] = {
    r"[^\x00-\x7f]": lambda m: _plain_character(m[0]),
    "[⁰¹²³⁴-⁹⁻ⁿ]+": lambda m: f"^{{{m[0].translate(_RAISED)}}}",
    r"√\s*(\d+(?:\.\d+)?|[a-zA-Z])": lambda m: rf"\sqrt{{{m[1]}}}",
    r"(?:√|\\sqrt)\s*(?:\\left)?\(([^()]*?)(?:\\right)?\)": lambda m: rf"\sqrt{{{m[1]}}}",
    "[₀-₉]+": lambda m: f"_{{{m[0].translate(_LOWERED)}}}",
    r"(?<![\d.])[1-9]\d{0,2}(?:(?:\\,|,\\! ?|\{,\})\d{3})+(?!\d)": lambda m: re.sub(
        r"\D", "", m[0]
    ),
    r"(>|<|!|\\not\s*)=(?=(\w?))": lambda m: _WITH_EQUAL[m[1].rstrip()] + " " * m[2].isalpha(),
    '["″]': lambda _: "''",
    rf"(?:(?:{_SIZE})?(?<!\\)[\[(]\s*)?\\begin\{{(?:array\}}\s*\{{[^{{}}]*|(?:small)?matrix)\}}": (
        lambda _: r"\begin{pmatrix}"
    ),
    rf"\\end\{{(?:array|(?:small)?matrix)\}}(?:\s*(?:{_SIZE})?[\])])?": lambda _: r"\end{pmatrix}",
    r"\\(begin|end)\{[bB]matrix\}": lambda m: rf"\{m[1]}{{pmatrix}}",
    rf"(?:\{{|\A){_GROUP}\\(choose|over)(?![a-zA-Z]){_GROUP}(?:\}}|\Z)": lambda m: (
        f"{{{_INFIX[m[2]]}{{{m[1]}}}{{{m[3]}}}}}"
    ),
    rf"(?:\{{\s*\}}\s*|\A|(?<=\A\$)){_INDEX}C{_INDEX}": lambda m: (  # {{}}_{{10}}C_3
        rf"\binom{{{m[1].strip('{}')}}}{{{m[2].strip('{}')}}}"
    ),
    r"\\\\\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in)\s*\]": lambda _: r"\\",
    rf"(?<!\s)\s*\^\s*(?:{_CIRCLE}|\{{\s*(?:{_CIRCLE})\s*\}})": lambda _: "°",
    rf"(?<!\s)\s*\^\s*(?:{_PRIME}|\{{(?:\s*(?:{_PRIME}))+\s*\}})": lambda m: (
        "'" * len(re.findall(_PRIME, m[0]))
    ),
}
_REWRITES = [(re.compile(pattern), written) for pattern, written in _TEXT.items()]

# Commands with the same meaning as another one.
COMMANDS = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom",
    r"\tbinom": r"\binom", r"\geq": r"\ge", r"\geqslant": r"\ge", r"\leq": r"\le",
    r"\leqslant": r"\le", r"\neq": r"\ne", r"\gt": ">", r"\lt": "<", r"\lbrace": r"\{",
    r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\lparen": "(", r"\rparen": ")",
    r"\vert": "|", r"\lvert": "|", r"\rvert": "|", r"\mid": "|", r"\%": "%", r"\ast": "*",
    r"\prime": "'", r"\colon": ":", r"\degree": "°", r"\degrees": "°", r"\textdegree": "°",
    r"\varnothing": r"\emptyset", r"\backslash": r"\setminus", r"\widehat": r"\hat",
    r"\widetilde": r"\tilde", r"\wedge": r"\land", r"\vee": r"\lor", r"\lnot": r"\neg",
    r"\implies": r"\Rightarrow", r"\dots": r"\ldots", r"\cdots": r"\ldots", r"\dotsc": r"\ldots",
    r"\pounds": "£", r"\euro": "€", r"\yen": "¥", r"\bmod": r"\pmod", r"\mod": r"\pmod",
    r"\div": "/", r"\nicefrac": r"\frac", r"\sfrac": r"\frac", r"\cr": r"\\",
    r"\lVert": r"\|", r"\rVert": r"\|", r"\Vert": r"\|", r"\top": "T", r"\intercal": "T",
}  # fmt: skip

SPACES = {
    r"\,", r"\;", r"\:", r"\>", r"\ ", r"\quad", r"\qquad", r"\thinspace", r"\medspace",
    r"\thickspace", r"\enspace",
}  # fmt: skip
NOTHING = {
    "$", r"\(", r"\)", r"\[", r"\]", r"\!", r"\displaystyle", r"\textstyle",
    r"\limits", r"\nolimits", r"\boxed", r"\fbox", r"\negthinspace",
    r"\bf", r"\it", r"\rm", r"\sf", r"\tt", r"\bfseries", r"\itshape",
    r"\tiny", r"\scriptsize", r"\footnotesize", r"\small", r"\normalsize", r"\large", r"\Large",
    r"\LARGE", r"\huge", r"\Huge",
}  # fmt: skip
SIZES = {
    r"\left", r"\right", r"\middle", r"\big", r"\Big", r"\bigg", r"\Bigg", r"\bigl", r"\bigr",
    r"\Bigl", r"\Bigr", r"\biggl", r"\biggr", r"\Biggl", r"\Biggr",
}  # fmt: skip
FONTS = {
    r"\text", r"\textbf", r"\textit", r"\textrm", r"\textsf", r"\texttt", r"\textup",
    r"\textnormal", r"\mathrm", r"\mathbf", r"\mathsf", r"\mathit", r"\mathnormal", r"\mbox",
    r"\hbox", r"\operatorname", r"\operatorname*", r"\bm", r"\boldsymbol", r"\emph", r"\underline",
}  # fmt: skip
COLORS = {r"\color", r"\textcolor", r"\colorbox"}
GAPS = {r"\hspace", r"\phantom", r"\hspace*", r"\vspace"}
_BOLD = {r"\mathbf", r"\bm", r"\boldsymbol"}
_NAMING = {r"\operatorname", r"\operatorname*", r"\mathrm", r"\text"}


def _plain_character(character: str) -> str:
    """Write a digit of any script, a fraction (⅜) or a wide character in ASCII; not ① and ፩."""
    if character.isdecimal():
        return str(int(character))
    top, slash, bottom = unicodedata.normalize("NFKC", character).partition("⁄")
    if slash and top and bottom:
        return rf"\frac{{{top}}}{{{bottom}}}"
    return top if "！" <= character <= "～" else character


def tokens(text: str) -> Tokens:
    r"""Split LaTeX into tokens, in the one way in which this package writes them.

    >>> "".join(tokens(r"$\left( \dfrac12 \right)$")), tokens(r"1 \\ 2")
    ('( \\frac{1}{2} )', ['1', ' ', '\\\\', ' ', '2'])
    """
    for pattern, written in _REWRITES:
        text = pattern.sub(written, text)
    found = [_plain(token) for token in _TOKEN.findall(text)]
    if found.count("$") == 1:  # a currency: mathematics has two
        found[found.index("$")] = r"\$"
    if not balanced(found):  # then no argument has an end
        return found
    for rewrite in _PASSES:
        found = rewrite(found)
    return found


def depths(found: Sequence[str], opening: str = "{", closing: str = "}") -> Iterator[int]:
    """Return how many brackets are open behind each token."""
    return accumulate((token in opening) - (token in closing) for token in found)


def balanced(found: Sequence[str], opening: str = "{", closing: str = "}") -> bool:
    """Whether brackets are in pairs."""
    levels = [0, *depths(found, opening, closing)]
    return min(levels) == 0 == levels[-1]


def joined(found: Sequence[str]) -> str:
    r"""Tokens as LaTeX: a space follows a command where a letter would be taken for a part of it.

    >>> joined([r"\pi", "r", "^", "2"])
    '\\pi r^2'
    """
    text = found[0] if found else ""
    for before, token in pairwise(found):
        glued = re.fullmatch(r"\\[a-zA-Z]+", before) and token[0].isalpha()
        text += (" " if glued else "") + token
    return text


def group_at(found: Sequence[str], start: int) -> int:
    """Return the end of the argument that begins at `start`: a braced group, or one token."""
    if start >= len(found) or found[start] != "{":
        return min(start + 1, len(found))
    ends = (at for at, depth in enumerate(depths(found[start:]), start + 1) if depth == 0)
    return next(ends, len(found))


def _plain(token: str) -> str:
    if token.isspace() or token in SPACES or token in "\u00a0\u202f\u2009":
        return " "
    return COMMANDS.get(token) or CHARACTERS.get(token, token)


# ------------------------------------------------------------------ passes, in their order

# found, at, kept → what is written instead of the tokens from `at` on, and where the walk goes on;
# None keeps the token. A step may change the end of `kept`, which is what is written before.
_Step = Callable[[Tokens, int, Tokens], tuple[Tokens, int] | None]


def _walk(step: _Step, found: Tokens) -> Tokens:
    kept: Tokens = []
    at = 0
    while at < len(found):
        written, at = step(found, at, kept) or ([found[at]], at + 1)
        kept += written
    return kept


def _without_dressing(found: Tokens) -> Tokens:
    r"""Drop what only changes the looks: dollar signs, sizes of brackets, negative spaces.

    Between two digits a space stays, so that \$5\$6 is not 56.
    """
    kept: Tokens = []
    dropped = False
    for at, token in enumerate(found):
        after_size = at > 0 and found[at - 1] in SIZES
        if token in NOTHING or token in SIZES or (after_size and token == "."):
            dropped |= token != r"\!"
            continue
        if dropped and token.isdecimal() and kept and kept[-1].isdecimal():
            kept.append(" ")
        dropped = False
        kept.append(token)
    return kept


def _dressed(found: Tokens, at: int, _: Tokens) -> tuple[Tokens, int] | None:
    r"""\text{cm} → cm; \operatorname{sin} → \sin; \color{red}{5} → 5; \hspace{1cm} → a space."""
    if found[at] in GAPS:
        return [" "], group_at(found, at + 1)
    if found[at] not in FONTS | COLORS:
        return None
    start = at + 1 + (found[at + 1 : at + 2] == [" "])
    start = group_at(found, start) if found[at] in COLORS else start
    end = group_at(found, start)
    inner = _bare(found[start:end])
    name = "\\" + "".join(inner)
    is_function = found[at] in _NAMING and name in FUNCTIONS | APPLIED
    if found[at] in _BOLD and re.fullmatch(r"[a-zA-Z]|\\[a-z]+", "".join(inner)):
        return [r"\mathbf", "{", *inner, "}"], end  # a vector
    return ([name] if is_function else _walk(_dressed, inner)), end


def _bare(argument: Tokens) -> Tokens:
    return argument[1:-1] if argument[:1] == ["{"] else argument


def _one_space(found: Tokens) -> Tokens:
    return [token for before, token in pairwise(["", *found]) if (before, token) != (" ", " ")]


def _arguments(found: Tokens, at: int, _: Tokens) -> tuple[Tokens, int] | None:
    r"""Braces around the arguments of \frac, \binom and \sqrt: \frac12 → \frac{1}{2}."""
    written, token = [found[at]], found[at]
    at += 1
    turns = {r"\frac": 2, r"\binom": 2, r"\sqrt": 1}.get(token, 0)
    for _turn in range(turns):
        at += found[at : at + 1] == [" "]
        if token == r"\sqrt" and found[at : at + 1] == ["["]:
            end = found.index("]", at) + 1 if "]" in found[at:] else at
            written += found[at:end]
            at = end
        end = group_at(found, at)
        if found[at:end] == ["("] or _several_digits(found, at, end, last=_turn == turns - 1):
            return written, at  # \sqrt12 and \frac123 are unclear
        if argument := found[at:end]:
            written += ["{", *_strip(_walk(_arguments, _bare(argument))), "}"]
        at = end
    return written, at


def _several_digits(found: Tokens, start: int, end: int, last: bool) -> bool:
    """Whether the last argument without braces is a digit behind which another one follows."""
    pair = [*found[start:end], *found[end : end + 1]]
    return last and end == start + 1 and len(pair) == 2 and all(token.isdecimal() for token in pair)


def _strip(found: Tokens) -> Tokens:
    """Return tokens without the one space that may be at each end."""
    return found[found[:1] == [" "] : len(found) - (found[-1:] == [" "])]


_NAMES = """
    sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth ln log exp max min gcd lcm
"""
FUNCTIONS = {rf"\{name}" for name in _NAMES.split()}
_APPLIED_NAMES = "max min gcd lcm det deg dim arg Re Im tr Tr Var Cov sgn erf rank"
APPLIED = {rf"\{name}" for name in _APPLIED_NAMES.split()}  # functions without values here

_PASSES: tuple[Callable[[Tokens], Tokens], ...] = (
    _without_dressing,
    partial(_walk, _dressed),
    _one_space,
    partial(_walk, _arguments),
)
