r"""Letters for math-verify, whose parser forgets case, indices and primes: R → b, x_1 → c, f' → g.

Both texts of a comparison are renamed alike, so that what differs stays different.
"""

from __future__ import annotations

import re

_UPPER = "Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega"
_OPERATORS = "sum|prod|int|iint|oint|lim|log|max|min|bigcup|bigcap|sup|inf"
_NAME = re.compile(
    r"\\(?:begin|end|mathbb|mathcal|mathfrak|mathscr)\{[^{}]*\}"  # groups that are not letters
    rf"|\\(?:{_OPERATORS})(?![a-zA-Z])"
    r"|(?P<name>(?:\\[a-zA-Z]++|[a-zA-Z])(?:_(?:\{[^{}]*\}|\w))?'*)"
)
_PLAIN = re.compile(rf"\\(?!(?:{_UPPER})\Z)[a-zA-Z]+\Z|[a-z]\Z")  # what the parser keeps apart
_SAFE = "abcghjkmnopqrstuvwxyzl"  # not d (as in dx), e, f (applied), i


def plain_letters(gold: str, answer: str) -> tuple[str, str]:
    r"""Two normal forms with one small letter for each name that is more than a small letter.

    >>> plain_letters("R^2-r^2", "x_1")
    ('a^2-r^2', 'b')
    """
    used = set(re.findall(r"(?<![\\a-zA-Z])[a-z](?![a-zA-Z])", gold + " " + answer))
    free = (letter for letter in _SAFE if letter not in used)
    new: dict[str, str] = {}

    def rename(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None or _PLAIN.match(name):
            return found[0]
        if name not in new:
            new[name] = next(free, name)
        return new[name]

    return _NAME.sub(rename, gold), _NAME.sub(rename, answer)
