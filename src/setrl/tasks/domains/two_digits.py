"""Two digits times two digits, by one of nine algorithms.

The tutorial on Poly-EPO names lattice multiplication, Karatsuba's divide and conquer and others as
strategies for "multiply two large numbers", and gives no task. Ours multiplies two digits by two,
the smallest numbers for which these algorithms differ:

    prompt  48*36=        sample  (50-2)*36=1800-72=1728

| strategy | sample |
|---|---|
| `near_round` | 48*36: (50-2)*36=1800-72=1728 |
| `partial_products` | 47*36: 40*30+40*6+7*30+7*6=1200+240+210+42=1440+252=1692 |
| `long_multiplication` | 47*36: 47*6=282,47*30=1410:282+1410=1692 |
| `lattice` | 47*36: 12,24,21,42/1,6,9,2:1692 |
| `karatsuba` | 47*36: 4*3=12,7*6=42,11*9=99,99-12-42=45:1200+450+42=1692 |
| `factorisation` | 47*36: 47*9*4=423*4=1692 |
| `squares` | 47*53: (50-3)*(50+3)=2500-9=2491 |
| `egyptian` | 47*36: 47,94,188,376,752,1504:188+1504=1692 |
| `direct` | 47*36: 1692 |

In the training split the first number ends in 8 or 9, or in 1 or 2, and near-round splitting is the
most frequent strategy. It suits only numbers that end in 8 or 9: for others the author always
forgets to multiply what is subtracted. In the shifted split all numbers end in 3 to 7. Shares and
errors are ours.

A *script* writes one strategy: it says what is fixed, and asks its page for each number that is
computed. The page of an author writes that number, right or wrong; the page of the reader reads it
from a sample. So a strategy is written and read by the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Protocol

import numpy as np
from typing_extensions import override

from setrl.tasks.domains.base import (
    Domain,
    Problem,
    Reading,
    Split,
    Written,
    draw,
    draw_problems,
    draw_training_problem,
    with_a_slip,
)
from setrl.tasks.domains.multiplication.author import Arithmetic

NUMBERS = tuple(n for n in range(11, 100) if n % 10)  # multiples of ten are too easy
PROMPT = re.compile(r"([1-9][1-9])\*([1-9][1-9])=")
WRITTEN = re.compile(r"0|-?[1-9][0-9]{0,4}")
ENDINGS = {"just_below": (8, 9), "above": (1, 2), "between": (3, 4, 5, 6, 7)}
CORPUS = {"just_below": 0.5, "above": 0.2, "between": 0.3}
TRAIN = {"just_below": 0.7, "above": 0.3}


class Page(Protocol):
    """Where a script is written, or read."""

    def say(self, fixed: str) -> None:
        """Write or read what the problem and the strategy determine."""

    def work(self, exact: int) -> int:
        """Write or read a number that is computed; return the number on the page."""


Script = Callable[[int, int, Page], None]


@dataclass
class Writing(Arithmetic):
    """The page of an author, who may slip once."""

    text: str = field(default="", init=False)

    def say(self, fixed: str) -> None:
        """Write it."""
        self.text += fixed

    def work(self, exact: int) -> int:
        """Write the number as the author computes it."""
        written = self(exact)
        self.text += str(written)
        return written


class OtherFormError(Exception):
    """A text that is not of this script's form."""


@dataclass
class Sample:
    """The page of the reader: a finished sample.

    Attributes:
        text: All of it.
        at: How much is read.
        last: The number that was read last.
        reason: The first number that is wrong, in words; "" if none is.
    """

    text: str
    at: int = 0
    last: int = 0
    reason: str = ""

    def say(self, fixed: str) -> None:
        """Pass over it.

        Raises:
            OtherFormError: If the sample goes on with something else.
        """
        if not self.text.startswith(fixed, self.at):
            raise OtherFormError
        self.at += len(fixed)

    def work(self, exact: int) -> int:
        """Read the number, and note the first one that is wrong.

        Raises:
            OtherFormError: If there is no number.
        """
        found = WRITTEN.match(self.text, self.at)
        if found is None:
            raise OtherFormError
        self.at, self.last = found.end(), int(found[0])
        if self.last != exact and not self.reason:
            self.reason = f"{self.text[: self.at]} should end with {exact}"
        return self.last


def near_round(a: int, b: int, page: Page, once: bool = False) -> None:
    """Write `(50-2)*36=1800-72=1728` for 48*36.

    `once` subtracts the rest only once, as if it were not multiplied: (50-2)*36=1800-2=1798.
    """
    rest = -a % 10
    page.say(f"({a + rest}-{rest})*{b}=")
    left = page.work((a + rest) * b)
    page.say("-")
    if once:
        page.say(str(rest))
    right = rest if once else page.work(rest * b)
    page.say("=")
    page.work(left - right)


def partial_products(a: int, b: int, page: Page) -> None:
    """Write `40*30+40*6+7*30+7*6=1200+240+210+42=1440+252=1692` for 47*36."""
    pairs = [(x, y) for x in _places(a) for y in _places(b)]
    page.say("+".join(f"{x}*{y}" for x, y in pairs))
    first, second, third, fourth = _list(page, "=", [x * y for x, y in pairs], "+")
    left, right = _list(page, "=", [first + second, third + fourth], "+")
    page.say("=")
    page.work(left + right)


def long_multiplication(a: int, b: int, page: Page) -> None:
    """Write `47*6=282,47*30=1410:282+1410=1692` for 47*36."""
    tens, units = _places(b)
    page.say(f"{a}*{units}=")
    first = page.work(a * units)
    page.say(f",{a}*{tens}=")
    second = page.work(a * tens)
    page.say(f":{first}+{second}=")
    page.work(first + second)


def lattice(a: int, b: int, page: Page) -> None:
    """Write `12,24,21,42/1,6,9,2:1692` for 47*36: the cells, then the sums of the diagonals."""
    (x, y), (u, v) = divmod(a, 10), divmod(b, 10)
    top, right, left, low = _list(page, "", [x * u, x * v, y * u, y * v], ",")
    sums = [
        top // 10,
        top % 10 + right // 10 + left // 10,
        right % 10 + left % 10 + low // 10,
        low % 10,
    ]
    diagonals = _list(page, "/", sums, ",")
    page.say(":")
    page.work(sum(digit * 10**place for place, digit in enumerate(reversed(diagonals))))


def karatsuba(a: int, b: int, page: Page) -> None:
    """Write `4*3=12,7*6=42,11*9=99,99-12-42=45:1200+450+42=1692`: three products, not four."""
    (x, y), (u, v) = divmod(a, 10), divmod(b, 10)
    page.say(f"{x}*{u}=")
    high = page.work(x * u)
    page.say(f",{y}*{v}=")
    low = page.work(y * v)
    page.say(",")
    one = page.work(x + y)
    page.say("*")
    other = page.work(u + v)
    page.say("=")
    both = page.work(one * other)
    page.say(f",{both}-{high}-{low}=")
    middle = page.work(both - high - low)
    page.say(f":{100 * high}+{10 * middle}+{low}=")
    page.work(100 * high + 10 * middle + low)


def factorisation(a: int, b: int, page: Page) -> None:
    """Write `47*9*4=423*4=1692` for 47*36: the largest digit that leaves a digit comes first."""
    first = _divisor(b)
    page.say(f"{a}*{first}*{b // first}=")
    partly = page.work(a * first)
    page.say(f"*{b // first}=")
    page.work(partly * (b // first))


def squares(a: int, b: int, page: Page) -> None:
    """Write `(50-3)*(50+3)=2500-9=2491` for 47*53."""
    middle, apart = (a + b) // 2, abs(a - b) // 2
    page.say(f"({middle}-{apart})*({middle}+{apart})=")
    left = page.work(middle**2)
    page.say("-")
    right = page.work(apart**2)
    page.say("=")
    page.work(left - right)


def egyptian(a: int, b: int, page: Page) -> None:
    """Write `47,94,188,376,752,1504:188+1504=1692` for 47*36: doublings, and some of them added."""
    table = [a]
    page.say(str(a))
    while len(table) < b.bit_length():
        page.say(",")
        table.append(page.work(2 * table[-1]))
    rows = [row for power, row in enumerate(table) if b >> power & 1]
    page.say(f":{'+'.join(map(str, rows))}")
    total, *rows = rows
    while rows:
        page.say("=")
        total = page.work(total + rows.pop(0))
        page.say("".join(f"+{row}" for row in rows))


def direct(a: int, b: int, page: Page) -> None:
    """Write `1692` for 47*36, without a step."""
    page.work(a * b)


def _places(n: int) -> tuple[int, int]:
    return n - n % 10, n % 10


def _list(page: Page, before: str, exact: list[int], between: str) -> list[int]:
    """Write or read several numbers, with a sign before the first and between them."""
    found = []
    for place, number in enumerate(exact):
        page.say(between if place else before)
        found.append(page.work(number))
    return found


def _divisor(b: int) -> int:
    """Return the largest digit that divides b and leaves a digit; 0 if there is none.

    >>> _divisor(36), _divisor(14), _divisor(37)
    (9, 7, 0)
    """
    return next((d for d in range(9, 1, -1) if b % d == 0 and 1 < b // d < 10), 0)


@dataclass(frozen=True)
class Habit:
    """How the author uses a strategy.

    Attributes:
        script: How it is written.
        share: Its weight for problems that it suits.
        success: P(a sample is right) where it suits.
        suits: The problems that it suits; elsewhere it is written only if `misfit` is not 0.
        misfit: Its weight for other problems, where the author has the misconception.
        misconception: How it is written there, always wrong.
    """

    script: Script
    share: float
    success: float
    suits: Callable[[int, int], bool] = lambda a, b: True
    misfit: float = 0.0
    misconception: Script | None = None

    def weight(self, a: int, b: int) -> float:
        """Return its weight for a problem."""
        return self.share if self.suits(a, b) else self.misfit

    def draft(self, a: int, b: int, rng: np.random.Generator) -> tuple[str, bool]:
        """Write a sample; return it, and whether it is right."""
        if self.misconception and not self.suits(a, b):
            return _written(self.misconception, a, b, Writing(rng)), False
        if rng.random() < self.success:
            return _written(self.script, a, b, Writing(rng)), True
        return with_a_slip(partial(_written, self.script, a, b), Writing, rng), False


def _written(script: Script, a: int, b: int, page: Writing) -> str:
    script(a, b, page)
    return page.text


HABITS = {
    "near_round": Habit(
        near_round, 40, 0.85, lambda a, b: a % 10 > 7,
        misfit=14, misconception=partial(near_round, once=True),
    ),
    "partial_products": Habit(partial_products, 16, 0.70),
    "long_multiplication": Habit(long_multiplication, 14, 0.75),
    "lattice": Habit(lattice, 8, 0.65),
    "karatsuba": Habit(karatsuba, 6, 0.60),
    "factorisation": Habit(factorisation, 10, 0.70, lambda a, b: _divisor(b) > 0),
    "squares": Habit(
        squares, 60, 0.70, lambda a, b: (a + b) % 10 == 0 and 0 < abs(a - b) < 20
    ),
    "egyptian": Habit(egyptian, 3, 0.55, lambda a, b: b.bit_count() <= 3),
    "direct": Habit(direct, 4, 0.25),
}  # fmt: skip


@dataclass(frozen=True)
class TwoDigits(Domain):
    """Multiply two digits by two through an algorithm, every number of which is checked."""

    name = "two_digits"
    vocabulary = (*"0123456789", "*", "=", "+", "-", "(", ")", ",", ":", "/")
    max_new_tokens = 64

    @override
    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems; in the shifted split, no number is near a ten."""
        shares = {"between": 1.0} if split == "shifted" else TRAIN
        prompts = (f"{a}*{b}=" for kind in shares for a in _first(kind) for b in NUMBERS)
        return draw_problems(lambda rng: _problem(rng, shares), prompts, split, count, seed)

    @override
    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem of any kind; never a held-out one."""
        return draw_training_problem(lambda rng: _problem(rng, CORPUS), rng)

    @override
    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write one sample by a strategy of the author, right or wrong."""
        a, b = _factors(problem.prompt)
        strategy = draw(rng, {name: habit.weight(a, b) for name, habit in HABITS.items()})
        text, correct = HABITS[strategy].draft(a, b, rng)
        return Written(text, strategy, correct)

    @override
    def read(self, prompt: str, text: str) -> Reading:
        """Check each number of a sample that has the form of a strategy.

        Raises:
            ValueError: If the prompt is not from this domain.
        """
        a, b = _factors(prompt)
        for name, page in _readings(a, b, text):
            return Reading(not page.reason, name, str(page.last), page.reason)
        return Reading(False, None, reason="not in the form of any strategy that suits the numbers")


def _readings(a: int, b: int, text: str) -> Iterator[tuple[str, Sample]]:
    """Yield the strategies whose form a text has, and how it is read."""
    for name, habit in HABITS.items():
        page = Sample(text)
        if not habit.weight(a, b):
            continue
        try:
            habit.script(a, b, page)
        except OtherFormError:
            continue
        if page.at == len(text):
            yield name, page


def _problem(rng: np.random.Generator, shares: dict[str, float]) -> Problem:
    kind = draw(rng, shares)
    a, b = (numbers[int(rng.integers(len(numbers)))] for numbers in (_first(kind), NUMBERS))
    return Problem(f"{a}*{b}=", kind)


@cache
def _first(kind: str) -> tuple[int, ...]:
    """Return the first numbers of a kind of problem."""
    return tuple(a for a in NUMBERS if a % 10 in ENDINGS[kind])


def _factors(prompt: str) -> tuple[int, int]:
    found = PROMPT.fullmatch(prompt)
    if found is None:
        raise ValueError(f"prompt must look like '47*36=', got {prompt!r}")
    return int(found[1]), int(found[2])
