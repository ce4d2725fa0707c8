r"""The parts of a problem: what stands behind few-shot examples, question, options, formulas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from setrl_grader.grammar import parse
from setrl_grader.names import is_name
from setrl_grader.normal_form import normal_form
from setrl_grader.trees import Part

MAX_LENGTH = 20_000  # characters of a problem: its end is read
MAX_FORMULAS = 100  # the last ones
_EXAMPLE = re.compile(
    r"^[\s#*]*(?:problem|question|exercise|task|input|q)\b[\s\d]*[*:.]",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWERED = re.compile(  # which ends an example
    r"^[\s#*]*(?:(?:final\s+)?answer|solution|output|response|a)\b\s*[*:.]|####|\banswer is\b"
    r"|\\boxed\{.*\d",
    re.IGNORECASE | re.MULTILINE,
)
_OPTIONS = re.compile(
    r"(?<![\w)])\(A\)(?=.*\(B\)(?:.*\(C\)|(?:(?![.?]\s).)*\Z))|^\s*A[.):]\s(?=.*^\s*B[.):]\s)",
    re.MULTILINE | re.DOTALL,
)
_FONT_OF_OPTION = re.compile(r"\\(?:textbf|text|textrm|mathrm|mathbf)\s*\{\s*(\([A-J]\))\s*\}")
_OPTION = re.compile(
    r"(?<![\w)])\(([A-J])\)\s*|(?:^|(?<=\s))(?:\*\*)?([A-J])(?:[.:](?:\*\*)?\s+|\)\s*)",
    re.MULTILINE,
)
_BETWEEN = r"(?:\\q?quad|\\\\|\\[ ;,]|[~$\s])"
_AROUND = re.compile(rf"\A{_BETWEEN}+|{_BETWEEN}+\Z")
_CHOOSE = re.compile(
    r"\bwhich of\b(?! the following)[^.?!]{0,60}?[\d$\\][^?!]*\b(?:and|or)\b", re.IGNORECASE
)
_OPERAND = r"(?:[\w.^(){}\[\]√]|\\[a-zA-Z]+)+(?:\\?%)?"
_PLAIN = re.compile(  # a formula without dollar signs
    rf"[-+−]?{_OPERAND}(?:\s*(?:[-+−–±*/=<>·⋅×÷≤≥])\s*{_OPERAND})*"
)
_NO_FORMULA = re.compile(r"(?<!\\)[a-zA-Z]{4,}|\A[a-zA-Z]+\Z")
FORMULA = re.compile(
    r"\$\$((?:[^$]|\\\$)+)\$\$|\$((?:[^$\\]|\\.)+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL
)
_SIDES = re.compile(  # what is between the lines of a display
    r"\\\\|&|\\(?:tag|text|begin|end)\s*\{[^{}]*\}|\\q?quad"
)
ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*\{[a-z]+\*?\}")
_ASKS = (
    r"\b(?i:find|determine|compute|calculate|evaluate|solve\s+for|what(?:'s|\s+(?:is|are))?"
    r"|give|state|express|work\s+out|write\s+down|how\s+(?:large|big)\s+is|which\s+number\s+is"
    r"|range\s+of|for\s+which(?=\s+(?:real\s+)?(?:values?|numbers?)\b))\b"
)
_NOUN = (  # what may be said of a name that is asked for
    r"(?i:the|its|all|both|each|exact|possible|real|positive|negative|non-?negative|ordered|unordered"
    r"|smallest|largest|least|greatest|maximum|minimum|values?|numbers?|integers?|primes?|pairs?"
    r"|triples?|tuples?|points?|coordinates|solutions?|roots?|angles?|sides?|segments?|lengths?|measures?"
    r"|ranges?|ratios?|sums?|products?|functions?|parameters?|constants?|coefficients?"
    r"|(?:diagonals?|altitudes?|medians?|chords?|edges?)(?!\s+of\b)|general\s+terms?"
    r"|unknowns?|with justification|of|and|or|(?<=values )for|(?<=range )for)"
)
_AMOUNT_OF = re.compile(  # what is no value of the letter behind it
    r"(?:number|sum|product|ratio|coefficient)s?\s+of\b", re.IGNORECASE
)
_PIECE = re.compile(
    rf"(?P<ask>{_ASKS})|(?P<formula>{FORMULA.pattern})|\b(?P<name>(?!a\b|I\b|s\))[a-zA-Z])\b(?!['-])"
    rf"|(?P<noun>{_NOUN}\b)|(?P<other>[\w.?!:;]+)",
    re.DOTALL,
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_QUESTIONS = (
    re.compile(r"\b(?:find|determine|compute|calculate|evaluate|solve|what|how)\b", re.IGNORECASE),
    re.compile(r"\b(?:give|state|express|write|which|put|list|sort)\b", re.IGNORECASE),
)
_IN = re.compile(r"(?:in|to|as)\b[^,]{1,60},\s*\Z", re.IGNORECASE)
_GIVEN = re.compile(r",?\s+(?:if|given|when|where|knowing|such that|so that)\b.*", re.I | re.S)


def problem_of(prompt: object) -> str:
    r"""Return the text of a problem: of the last message of a user, behind few-shot examples.

    >>> problem_of("Problem: 1+1\nSolution: 2\n\nProblem: 1+2\nSolution:").strip()
    '1+2\nSolution:'
    >>> problem_of([{"role": "user", "content": "1+2"}, {"role": "assistant", "content": "So"}])
    '1+2'
    """
    if isinstance(prompt, str):
        text = _without_examples(prompt)
        return text if len(text) <= MAX_LENGTH else text[-MAX_LENGTH:].partition("\n")[2]
    given = prompt if isinstance(prompt, list | tuple) else []
    asked: list[str] = []
    for each in given:
        if isinstance(each, Mapping):
            text, is_reply = text_of(each, "\n"), each.get("role") == "assistant"
            asked = [] if is_reply and _ANSWERED.search(text) else [*asked, text * (not is_reply)]
    return problem_of("\n".join(filter(None, asked)))


def text_of(message: object, joint: str = "") -> str:
    """Return plain text, or the text of a message without its other blocks."""
    content = message.get("content") if isinstance(message, Mapping) else message
    blocks = content if isinstance(content, list | tuple) else [content]
    texts = (_of_block(each) for each in blocks)
    return joint.join(each for each in texts if isinstance(each, str))


def _of_block(block: object) -> object:
    is_text = isinstance(block, Mapping) and block.get("type", "text") == "text"
    return block.get("text") if is_text else block  # type: ignore[attr-defined]


def _without_examples(prompt: str) -> str:
    """Return what is behind the last example, which has a heading and an answer."""
    found = list(_EXAMPLE.finditer(prompt))
    for one, other in reversed([*pairwise(found)]):
        if _ANSWERED.search(prompt[one.end() : other.start()]):
            return prompt[other.end() :]
    return prompt


def stem_of(problem: str) -> str:
    """Return what a problem gives: no options, and nothing if it asks "which of A and B"."""
    if _CHOOSE.search(problem):
        return ""
    return problem[: found.start()] if (found := _OPTIONS.search(problem)) else problem


@lru_cache(maxsize=1024)
def question_of(problem: str) -> str:
    """Return what a problem asks, without conditions, and all that stands behind it.

    >>> question_of("If 20% of 50 are gone, how many are left? Give a number.")
    'how many are left? Give a number.'
    """
    sentences = _SENTENCE.split(problem.strip())
    numbered = [*enumerate(sentences)]
    for asks, order in zip(_QUESTIONS, (reversed(numbered), numbered), strict=True):
        for at, sentence in order:
            if found := asks.search(sentence):
                start = 0 if _IN.match(sentence[: found.start()]) else found.start()
                asked = _GIVEN.sub("", sentence[start:])
                return " ".join([asked, *sentences[at + 1 :]])
    return sentences[-1]


@lru_cache(maxsize=1024)
def options_of(problem: str) -> dict[str, str]:
    r"""Return the normal form of each option of a problem.

    >>> options_of(r"Which? $\textbf{(A) }x=0\qquad \textbf{(B)}\ 1$")
    {'A': 'x=0', 'B': '1'}
    """
    text = _FONT_OF_OPTION.sub(r" \1 ", problem)
    found = [*_OPTION.finditer(text)]
    letters = "".join(each[1] or each[2] for each in found)
    at = letters.rfind("AB")
    if at < 0:
        return {}
    ends = [each.start() for each in found[at + 1 :]] + [len(text)]
    options = zip("ABCDEFGHIJ", letters[at:], found[at:], ends, strict=False)
    texts = (
        (letter, text[each.end() : end]) for name, letter, each, end in options if name == letter
    )
    return {
        letter: normal_form(_AROUND.sub("", _AROUND.sub("", behind).partition("\n")[0]))
        for letter, behind in texts
    }


@lru_cache(maxsize=1024)
def formulas_of(problem: str) -> tuple[Part, ...]:
    """Return the formulas of a problem, those in no dollar signs too, each also by its lines."""
    text = ENVIRONMENT.sub(" ; ", FORMULA.sub(" ; ", problem))
    plain = [each.rstrip(".,:;?") for each in _PLAIN.findall(text)]
    found = [each for each in plain if not _NO_FORMULA.search(each)] + marked_in(problem)
    found += [each.rstrip("=_? ") for each in found if each.rstrip("_? ").endswith("=")]
    pieces = dict.fromkeys(piece for each in found for piece in (each, *_SIDES.split(each)))
    return tuple(parse(normal_form(each)) for each in [*pieces][-MAX_FORMULAS:])


def marked_in(problem: str) -> list[str]:
    """Return the formulas between dollar signs, or in LaTeX's brackets."""
    return [inside_of(each.groups()) for each in FORMULA.finditer(problem)][-MAX_FORMULAS:]


def inside_of(groups: Sequence[str | None]) -> str:
    """Return the one of several groups that matched."""
    return next(filter(None, groups), "")


@lru_cache(maxsize=1024)
def asked_formulas(problem: str) -> tuple[str, ...]:
    """Return the formulas behind "find" with only a noun between; x is none in "the sum of x".

    >>> asked_formulas("Find $x$."), asked_formulas("Find the number of $n$.")
    (('x',), ())
    """
    found, asking, lone = list[str](), False, True
    for piece in _PIECE.finditer(problem):
        ends = not re.match(r"-|\w", problem[piece.end() :])  # unlike the $n$-th
        if (piece["formula"] or piece["name"]) and ends:
            formula = normal_form(inside_of((*piece.groups()[2:6], piece["name"])))
            of_letters = is_name(parse(formula)) or parse(formula).kind in ("()", "list")
            found += [formula] * (asking and (lone or not of_letters))
        elif piece["noun"]:
            lone = lone and not _AMOUNT_OF.match(problem, piece.start())
        else:
            asking, lone = bool(piece["ask"]), True
    return tuple(found)
