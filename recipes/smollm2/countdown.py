"""Countdown: reach a target with some of five numbers; the strategy is the form of the expression.

    prompt  Make 24 from 3,5,8,12,14:       sample  (5-3)*12

Each number may be used once, and none has to be used. The verifier computes in fractions. Two
expressions are one strategy if they differ only in what commutes or may be bracketed otherwise:
(5-3)*12 and 12*(5-3) are, (5-3)*12 and 3*8 are not.
"""

from __future__ import annotations

import ast
import operator
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
from typing_extensions import override

from setrl import DEGENERATE
from setrl.tasks.domains import Domain, Problem, Reading, Written
from setrl.tasks.domains.verifier import Verifier

Tree = int | tuple[str, "Tree", "Tree"]  # a number, or an operation and what it is applied to

NUMBERS = range(2, 16)  # without 1, with which any expression could be multiplied
GIVEN = 5
MOST = 3  # numbers that the author uses
TARGETS = range(16, 31)  # none of them is a number that is given
FEWEST = 4  # strategies of the author in a problem, so that there is diversity to keep
LONGEST = 64  # characters of a sample that are read
SPLITS = {"test": 0, "validation": 1}  # the rest of the eighths of all prompts is for training

OPERATIONS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
COMPUTED = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
PROMPT = re.compile(r"Make (\d+) from (\d+(?:,\d+)*):")


@dataclass(frozen=True)
class Countdown(Domain):
    """Write one expression with the value of the target.

    The author writes as people play: all that is computed on the way is a positive integer. It
    first draws whether it uses two numbers or three, as far as both do, then one of the strategies
    with so many.
    """

    name = "countdown"
    splits = ("train", "validation", "test")
    vocabulary = (*"0123456789+-*/(),:", "Make ", " from ")
    max_new_tokens = 12
    chat = False

    @override
    def problems(self, split: str, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems of a split; a longer list starts with the shorter one.

        Raises:
            ValueError: If the split is unknown, or seems to have fewer problems.
        """
        if split not in self.splits:
            raise ValueError(f"split must be one of {', '.join(self.splits)}, got {split!r}")
        rng, tries = np.random.default_rng((seed, self.splits.index(split))), 0
        found: dict[str, Problem] = {}
        while len(found) < count:
            problem = _draw(rng)
            tries += 1
            if split_of(problem.prompt) == split:
                found.setdefault(problem.prompt, problem)
            if tries > 1000 + 100 * count:
                raise ValueError(f"{split} has hardly more than {len(found)} problems, got {count}")
        return list(found.values())

    @override
    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem of the split for training."""
        while True:
            problem = _draw(rng)
            if split_of(problem.prompt) == "train":
                return problem

    @override
    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write a right expression, with the sides of + and * in any order."""
        target, numbers = parse_prompt(problem.prompt)
        by_size = defaultdict(list)
        for form, tree in solutions(numbers)[target].items():
            by_size[len(list(leaves(tree)))].append((form, tree))
        some = by_size[list(by_size)[rng.integers(len(by_size))]]
        form, tree = some[rng.integers(len(some))]
        return Written(written(tree, rng), form, True)

    @override
    def read(self, prompt: str, text: str) -> Reading:
        """Check an expression exactly; wrong expressions of given numbers have a strategy, too.

        Raises:
            ValueError: If the prompt is not from this domain.
        """
        target, numbers = parse_prompt(prompt)
        try:
            tree = parse(text)
            value = evaluated(tree)
        except (ValueError, ZeroDivisionError) as error:
            return Reading(False, DEGENERATE, reason=str(error))
        if other := Counter(leaves(tree)) - Counter(numbers):
            return Reading(False, DEGENERATE, reason=f"{min(other)} is not given, or used twice")
        reason = "" if value == target else f"the value is {value}, not {target}"
        form = normal_form(tree)
        return Reading(not reason, form, form, reason)


def split_of(prompt: str) -> str:
    """Return the split of a prompt, which its text alone decides."""
    eighth = zlib.crc32(prompt.encode()) % 8
    return next((split for split, own in SPLITS.items() if own == eighth), "train")


def parse_prompt(prompt: str) -> tuple[int, tuple[int, ...]]:
    """Return the target and the numbers.

    Raises:
        ValueError: If the prompt is not from this domain.
    """
    found = PROMPT.fullmatch(prompt)
    if found is None:
        raise ValueError(f"prompt must look like 'Make 24 from 3,5,8,12,14:', got {prompt!r}")
    return int(found[1]), tuple(map(int, found[2].split(",")))


def parse(text: str) -> Tree:
    """Return the tree of an expression of +, -, *, / and positive integers.

    >>> parse("3*7 + 12")
    ('+', ('*', 3, 7), 12)

    Raises:
        ValueError: If the text is anything else.
    """
    text = text.strip()
    if len(text) > LONGEST or not re.fullmatch(r"[0-9+*/() -]+", text):
        raise ValueError("not an expression such as 3*7+12")
    try:
        return _tree(ast.parse(text, mode="eval").body)
    except SyntaxError:
        raise ValueError("not an expression such as 3*7+12") from None


def _tree(node: ast.expr) -> Tree:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)], _tree(node.left), _tree(node.right)
    raise ValueError("has more than +, -, *, / and numbers")


def leaves(tree: Tree) -> Iterator[int]:
    """Yield the numbers of an expression."""
    if isinstance(tree, int):
        yield tree
    else:
        yield from leaves(tree[1])
        yield from leaves(tree[2])


def evaluated(tree: Tree) -> Fraction:
    """Return the exact value.

    Raises:
        ZeroDivisionError: If it divides by 0.
    """
    if isinstance(tree, int):
        return Fraction(tree)
    left, right = evaluated(tree[1]), evaluated(tree[2])
    if tree[0] == "/" and not right:
        raise ZeroDivisionError("divides by 0")
    return COMPUTED[tree[0]](left, right)


def normal_form(tree: Tree) -> str:
    """Return the name that all commuted and re-associated copies of an expression share.

    A difference is a sum with a negative term, a quotient a product with an inverse factor, and a
    sign belongs to a whole product: so 12-(7-3) and 3+(12-7) are one, as (2-5)*(3-7) and
    (7-3)*(5-2) are.

    >>> normal_form(parse("7*3+12")), normal_form(parse("12-(7-3)")), normal_form(parse("8/(4/2)"))
    ('12+3*7', '12+3-7', '2*8/4')

    Raises:
        ZeroDivisionError: If it divides by 0.
    """
    sign, text = _sum(tree)
    return text if sign > 0 else f"-({text})"


def _sum(tree: Tree) -> tuple[int, str]:
    """Return the sign of a sum, and the sum with this sign taken out: its value is not negative."""
    terms = sorted(_terms(tree), key=lambda term: (term[1], -term[0]))
    value = evaluated(tree)
    sign = (value > 0) - (value < 0) or terms[0][0]
    added = [text for own, text in terms if own == sign]
    taken = [text for own, text in terms if own != sign]
    return sign, "+".join(added) + "".join(f"-{text}" for text in taken)


def _terms(tree: Tree) -> list[tuple[int, str]]:
    """Return the terms of a sum, each with its sign."""
    if isinstance(tree, int) or tree[0] in "*/":
        return [_product(tree)]
    side = 1 if tree[0] == "+" else -1
    return _terms(tree[1]) + [(side * sign, text) for sign, text in _terms(tree[2])]


def _product(tree: Tree) -> tuple[int, str]:
    """Return the sign of a product, and the product of its factors without signs."""
    factors = _factors(tree)
    above = sorted(text for power, _, text in factors if power > 0)
    below = sorted(text for power, _, text in factors if power < 0)
    sign = 1 if sum(own < 0 for _, own, _ in factors) % 2 == 0 else -1
    return sign, "*".join(above) + "".join(f"/{text}" for text in below)


def _factors(tree: Tree) -> list[tuple[int, int, str]]:
    """Return the factors of a product: power 1 or −1, sign, text."""
    if isinstance(tree, int):
        return [(1, 1, str(tree))]
    if tree[0] in "+-":
        sign, text = _sum(tree)
        return [(1, sign, f"({text})")]
    side = 1 if tree[0] == "*" else -1
    right = [(side * power, sign, text) for power, sign, text in _factors(tree[2])]
    return _factors(tree[1]) + right


def written(tree: Tree, rng: np.random.Generator) -> str:
    """Return an expression as text, with few brackets and the sides of + and * in any order."""
    if isinstance(tree, int):
        return str(tree)
    operation, left, right = tree
    if operation in "+*" and rng.random() < 0.5:
        left, right = right, left
    texts = [written(left, rng), written(right, rng)]
    inside = [left, right]
    for place, one in enumerate(inside):
        loose = {"+": "", "-": "+-" if place else "", "*": "+-", "/": "+-*/" if place else "+-"}
        tight = isinstance(one, int) or one[0] not in loose[operation]
        texts[place] = texts[place] if tight else f"({texts[place]})"
    return operation.join(texts)


def _draw(rng: np.random.Generator) -> Problem:
    """Draw different numbers, and a target that enough strategies reach."""
    while True:
        numbers = tuple(sorted(rng.choice(NUMBERS, GIVEN, replace=False).tolist()))
        targets = [one for one in TARGETS if len(solutions(numbers)[one]) >= FEWEST]
        if targets:
            target = targets[rng.integers(len(targets))]
            return Problem(f"Make {target} from {','.join(map(str, numbers))}:")


@cache
def solutions(numbers: tuple[int, ...]) -> dict[int, dict[str, Tree]]:
    """Return target → normal form → an expression, for all that the author may write.

    Args:
        numbers: The numbers that are given, all different.
    """
    found: dict[int, dict[str, Tree]] = {target: {} for target in TARGETS}
    for size in range(2, MOST + 1):
        for some in combinations(numbers, size):
            for form, (tree, value) in _expressions(some).items():
                if value in found:
                    found[value][form] = tree
    return found


@cache
def _expressions(numbers: tuple[int, ...]) -> dict[str, tuple[Tree, int]]:
    """Return normal form → expression and value, for all that use each of the numbers once."""
    if len(numbers) == 1:
        return {str(numbers[0]): (numbers[0], numbers[0])}
    found: dict[str, tuple[Tree, int]] = {}
    for left, right in _parts(numbers):
        for one, a in _expressions(left).values():
            for two, b in _expressions(right).values():
                for tree, value in _joined(one, a, two, b):
                    found.setdefault(normal_form(tree), (tree, value))
    return found


def _parts(numbers: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield each way to part numbers in two; the first number is always on the left."""
    first, rest = numbers[:1], numbers[1:]
    for size in range(len(rest)):
        for more in combinations(rest, size):
            yield first + more, tuple(one for one in rest if one not in more)


def _joined(one: Tree, a: int, two: Tree, b: int) -> Iterator[tuple[Tree, int]]:
    """Yield what one operation makes of two expressions with the values a and b."""
    yield ("+", one, two), a + b
    yield ("*", one, two), a * b
    if a != b:
        yield ("-", *((one, two) if a > b else (two, one))), abs(a - b)
    if a % b == 0:
        yield ("/", one, two), a // b
    if b % a == 0:
        yield ("/", two, one), b // a


_verifier = Verifier(Countdown())
correct = _verifier.correct  # for TRL: 1 for right samples, else 0
strategy = _verifier.strategy  # for TRL: the normal form, −1 where there is none
