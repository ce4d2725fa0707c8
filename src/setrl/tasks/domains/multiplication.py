"""Multiplication by a decomposition: the strategy is the decomposition that is written.

The task follows Poly-EPO (arXiv:2604.17654, section 6.2b): multiply two numbers through a
decomposition, such as 343×67=(340+3)×(70−3), and count factorisation, partial products and so on as
different strategies. The paper gives no ranges, no prompts and no generator; our problems multiply
three digits by one, so that a model of half a million parameters learns the task from scratch. The
ranges, the wording, the list of strategies, their shares and the author's errors are our
reconstruction.

    prompt  298*7=        sample  (300-2)*7=2100-14=2086

| strategy | sample |
|---|---|
| `near_round` | 298*7: (300-2)*7=2100-14=2086 |
| `partial_products` | 343*7: (300+40+3)*7=2100+280+21=2380+21=2401 |
| `near_ten` | 343*9: 343*(10-1)=3430-343=3087 |
| `factorisation` | 343*6: 343*2*3=686*3=1800+240+18=2040+18=2058 |
| `doubling_halving` | 343*6: 686*3=1800+240+18=2040+18=2058 |
| `long_multiplication` | 343*7: 3*7=21,4*7+2=30,3*7+3=24:2401 |
| `repeated_addition` | 343*3: 343+343+343=686+343=1029 |
| `egyptian` | 343*5: 343,686,1372:1372+343=1715 |
| `direct` | 343*7: 2401 |

In the training split the number is just below a multiple of a hundred, and near-round splitting
is the easiest and most frequent strategy. In the shifted split it is far from a multiple of a
hundred, and the product to subtract is hard to compute. The author of the corpus nearly always
forgets to compute it, while the other strategies succeed about as often as before.

A *script* writes one strategy with a hand that may slip. The reader looks for the strategy whose
*form* a sample has, whatever its numbers, and compares the sample with what the script of this
strategy writes without a slip. So a strategy is written and read by the same lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import zip_longest

import numpy as np
from typing_extensions import override

from setrl.samples.values import DEGENERATE
from setrl.tasks.domains.base import (
    SPLITS,
    Domain,
    Hand,
    Problem,
    Reading,
    Split,
    Written,
    check_count,
    draw,
    is_held_out,
    with_a_slip,
)

NUMBERS = tuple(a for a in range(101, 1000) if a % 10)  # multiples of ten are too easy
DIGITS = tuple(range(3, 10))
DIVISORS = {4: (2, 2), 6: (2, 3), 8: (2, 4), 9: (3, 3)}
PROMPT = re.compile(r"([1-9][0-9]{2})\*([2-9])=")
LONGEST_TEXT = 100  # characters; the author writes fewer than 45
NEAR = 100  # a decomposition further than this from the number belongs to another problem

# Shares of the kinds of problem. On the shifted kinds the number is far from every hundred.
TRAIN = {"just_below": 0.6, "below": 0.34, "above": 0.06}
SHIFTED = {"between_even": 0.45, "between_odd": 0.55}
SPLIT_SHARES: dict[Split, dict[str, float]] = {"train": TRAIN, "test": TRAIN, "shifted": SHIFTED}
CORPUS_SHARES = {
    "just_below": 0.40, "below": 0.26, "above": 0.10, "between_even": 0.11, "between_odd": 0.13,
}  # fmt: skip


class Arithmetic(Hand):
    """Arithmetic as an author does it."""

    def __call__(self, exact: int) -> int:
        """Return the number that the author writes for an operation with this exact result."""
        return self._slipped(exact) if self.slips() else exact

    def _slipped(self, exact: int) -> int:
        """Return the number with one of its last three digits off by one: a forgotten carry."""
        place = 10 ** int(self.rng.integers(min(len(str(exact)), 3)))
        lower = exact - place
        return lower if lower > 0 and self.rng.random() < 0.5 else exact + place


Computes = Callable[[int], int]
"""The exact result of an operation → the number that is written; `int` never slips."""
Script = Callable[[int, int, Computes], str]


def near_round(a: int, b: int, hand: Computes, once: bool = False) -> str:
    """Write `(300-2)*7=2100-14=2086` for 298*7.

    `once` subtracts the rest only once, as if it were not multiplied: (300-2)*7=2100-2=2098.
    """
    rest = below_hundred(a)
    left = hand((a + rest) * b)
    right = rest if once else hand(rest * b)
    return f"({a + rest}-{rest})*{b}={left}-{right}={hand(left - right)}"


def near_ten(a: int, b: int, hand: Computes, once: bool = False) -> str:
    """Write `343*(10-1)=3430-343=3087` for 343*9.

    `once` subtracts the number only once for 343*7, as if 3 were 1: 343*(10-3)=3430-343=3087.
    """
    left = hand(10 * a)
    right = a if once else hand((10 - b) * a)
    return f"{a}*(10-{10 - b})={left}-{right}={hand(left - right)}"


def partial_products(a: int, b: int, hand: Computes) -> str:
    """Write `(300+40+3)*7=2100+280+21=2380+21=2401` for 343*7."""
    return f"({_sum(places(a))})*{b}={_multiplied_out(a, b, hand)}"


def factorisation(a: int, b: int, hand: Computes) -> str:
    """Write `343*2*3=686*3=1800+240+18=2040+18=2058` for 343*6; 5 and 7 lose 1 to have divisors."""
    first, second = DIVISORS.get(b) or DIVISORS.get(b - 1) or (1, b)  # 3 has none at all
    partial = hand(a * first)
    return f"{a}*{first}*{second}={partial}*{second}={_multiplied_out(partial, second, hand)}"


def doubling_halving(a: int, b: int, hand: Computes) -> str:
    """Write `686*3=1800+240+18=2040+18=2058` for 343*6; half of an odd number is rounded down."""
    doubled, halved = hand(2 * a), b // 2
    return f"{doubled}*{halved}={_multiplied_out(doubled, halved, hand)}"


def long_multiplication(a: int, b: int, hand: Computes) -> str:
    """Write `3*7=21,4*7+2=30,3*7+3=24:2401` for 343*7: from the right, with the carries."""
    carry, units, rows = 0, "", list[str]()
    for digit in reversed(str(a)):
        row = hand(int(digit) * b + carry)
        rows.append(f"{digit}*{b}+{carry}={row}" if rows else f"{digit}*{b}={row}")
        carry, units = row // 10, f"{row % 10}{units}"
    return f"{','.join(rows)}:{int(f'{carry}{units}')}"


def egyptian(a: int, b: int, hand: Computes) -> str:
    """Write `343,686,1372:1372+343=1715` for 343*5: doublings, and the sum of some of them."""
    table = [a]
    while len(table) < b.bit_length():
        table.append(hand(2 * table[-1]))
    rows = [row for power, row in enumerate(table) if b >> power & 1]
    return f"{','.join(map(str, table))}:{_added(rows[::-1], hand)}"


def repeated_addition(a: int, b: int, hand: Computes) -> str:
    """Write `343+343+343=686+343=1029` for 343*3."""
    return _added([a] * b, hand)


def direct(a: int, b: int, hand: Computes) -> str:
    """Write `2401` for 343*7, without a step."""
    return str(hand(a * b))


def _multiplied_out(x: int, y: int, hand: Computes) -> str:
    """Write the products of the digits of x with y, and their sum."""
    return _added([hand(place * y) for place in places(x)], hand)


def _added(terms: list[int], hand: Computes) -> str:
    """Write the terms, then add neighbours in pairs from the left, down to one number."""
    sums = [terms]
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [hand(sum(pair)) if len(pair) == 2 else pair[0] for pair in pairs]
        sums.append(terms)
    return "=".join(map(_sum, sums))


def _sum(terms: list[int]) -> str:
    return "+".join(map(str, terms))


def places(n: int) -> list[int]:
    """Return the digits of n times their powers of ten, without the zeros.

    >>> places(343), places(205)
    ([300, 40, 3], [200, 5])
    """
    digits = [int(digit) * 10**power for power, digit in enumerate(reversed(str(n)))]
    return [digit for digit in reversed(digits) if digit]


def below_hundred(a: int) -> int:
    """Return how far a is below the next multiple of a hundred, from 1 to 100."""
    return 100 - a % 100


_N = "[1-9][0-9]{0,4}"
_TENS = "[1-9][0-9]{0,3}0"
_SUM = rf"{_N}(?:[-+*]{_N})*"
_CHAIN = rf"(?:={_SUM})*={_N}"
_RESULT = "(?:0|[1-9][0-9]?)"
_ROW = rf"[0-9]\*(?P=b)\+[0-9]={_RESULT}"

# What a sample of a strategy looks like, whatever its numbers. The groups a and b are the factors,
# and the terms of the group split add up to a number near a, or near 2a for doubling.
FORMS = {
    name: re.compile(form)
    for name, form in {
        "near_round": rf"\((?P<split>{_TENS}-{_N})\)\*(?P<b>{_N}){_CHAIN}",
        "near_ten": rf"(?P<a>{_N})\*\(10-{_N}\){_CHAIN}",
        "partial_products": rf"\((?P<split>{_TENS}(?:\+{_N})+)\)\*(?P<b>{_N}){_CHAIN}",
        "factorisation": rf"(?P<a>{_N})(?:\*[2-9]){{2,}}{_CHAIN}",
        "doubling_halving": rf"(?P<doubled>{_N})\*(?P<halved>{_N}){_CHAIN}",
        "long_multiplication": rf"[0-9]\*(?P<b>[0-9])={_RESULT},{_ROW},{_ROW}:{_N}",
        "repeated_addition": rf"(?P<a>{_N})(?:\+(?P=a))+{_CHAIN}",
        "egyptian": rf"(?P<a>{_N})(?:,{_N}){{1,3}}:(?:{_SUM}=)*{_N}",
        "direct": _N,
    }.items()
}


def always(a: int, b: int) -> bool:
    """Suit every problem."""
    return True


def has_divisors(a: int, b: int) -> bool:
    """Return whether b is a product of smaller digits and a times the first has three digits."""
    return b in DIVISORS and a * DIVISORS[b][0] < 1000


def seems_divisible(a: int, b: int) -> bool:
    """Return whether b is 5 or 7, one more than a product of digits, and 2a has three digits."""
    return b in (5, 7) and a < 500


@dataclass(frozen=True)
class Habit:
    """How the author uses a strategy.

    Where it suits a problem, the author's errors are slips, anywhere in the steps. Where it does
    not, they are a misconception, always the same one: then the most probable text is a wrong one,
    however well a model learns to imitate the author.

    Attributes:
        script: How it is written.
        share: Its weight for problems that it suits.
        success: P(a sample is right) where it suits.
        suits: The problems that it suits.
        misfit_share: Its weight for other problems that tempt the author to use it.
        misfit_success: P(a sample is right) there.
        misconception: How a wrong sample is written there; None: with a slip.
        tempts: Those problems.
    """

    script: Script
    share: float
    success: float
    suits: Callable[[int, int], bool] = always
    misfit_share: float = 0.0
    misfit_success: float = 0.0
    misconception: Script | None = None
    tempts: Callable[[int, int], bool] = always

    def weight(self, a: int, b: int) -> float:
        """Return its weight for a problem."""
        if self.suits(a, b):
            return self.share
        return self.misfit_share if self.tempts(a, b) else 0.0

    def draft(self, a: int, b: int, rng: np.random.Generator) -> tuple[str, bool]:
        """Write a sample; return it, and whether it is right."""
        suits = self.suits(a, b)
        if rng.random() < (self.success if suits else self.misfit_success):
            return self.script(a, b, int), True
        if self.misconception is not None and not suits:
            return self.misconception(a, b, int), False
        return with_a_slip(partial(self.script, a, b), Arithmetic, rng), False


HABITS = {
    "near_round": Habit(
        near_round, 45, 0.85, lambda a, b: below_hundred(a) < 20,
        misfit_share=16, misfit_success=0.04, misconception=partial(near_round, once=True),
    ),
    "partial_products": Habit(
        partial_products, 36, 0.80, lambda a, b: a % 100 < 20,  # just above a hundred
        misfit_share=20, misfit_success=0.70,
    ),
    "near_ten": Habit(
        near_ten, 10, 0.65, lambda a, b: b >= 8,
        misfit_share=1.5, misconception=partial(near_ten, once=True),
    ),
    "factorisation": Habit(
        factorisation, 14, 0.70, has_divisors,
        misfit_share=1.5, misconception=factorisation, tempts=seems_divisible,
    ),
    "doubling_halving": Habit(
        # b is even and 2a has three digits.
        doubling_halving, 14, 0.70, lambda a, b: b % 2 == 0 and a < 500,
        misfit_share=1.5, misconception=doubling_halving, tempts=seems_divisible,
    ),
    "long_multiplication": Habit(long_multiplication, 12, 0.70),
    "repeated_addition": Habit(
        repeated_addition, 8, 0.60, lambda a, b: b <= 4,  # few copies of a are quickly added
    ),
    "egyptian": Habit(
        egyptian, 0.9, 0.55, lambda a, b: b.bit_count() <= 2,  # at most two powers of two
    ),
    "direct": Habit(direct, 4, 0.35),
}  # fmt: skip


@dataclass(frozen=True)
class Multiplication(Domain):
    """Multiply three digits by one through a decomposition; every number is checked."""

    name = "multiplication"
    vocabulary = (*"0123456789", "*", "=", "+", "-", "(", ")", ",", ":")
    max_new_tokens = 40

    @override
    def problems(self, split: Split, count: int, seed: int) -> list[Problem]:
        """Return `count` different problems: near a hundred, or far from one in the shifted split.

        The kinds come in their shares until one kind has no problem left. A longer list with the
        same seed starts with the shorter one.

        Raises:
            ValueError: If the split is unknown, or has fewer than `count` problems.
        """
        shares = SPLIT_SHARES.get(split, {})
        pools = {kind: _pool(kind, held_out=split != "train") for kind in shares}
        problems = [problem for pool in pools.values() for problem in pool]
        check_count(split, count, len(problems))
        # Weighted sampling without replacement: give each problem an exponential waiting time whose
        # rate is its weight, and take the problems in order of arrival.
        rates = np.array([shares[problem.kind] / len(pools[problem.kind]) for problem in problems])
        rng = np.random.default_rng((seed, SPLITS.index(split)))
        arrivals = rng.exponential(size=len(problems)) / rates
        return [problems[i] for i in np.argsort(arrivals)[:count]]

    @override
    def corpus_problem(self, rng: np.random.Generator) -> Problem:
        """Draw one problem of any kind, in the shares `CORPUS_SHARES`; never a held-out one."""
        pool = _pool(draw(rng, CORPUS_SHARES), held_out=False)
        return pool[int(rng.integers(len(pool)))]

    @override
    def write(self, problem: Problem, rng: np.random.Generator) -> Written:
        """Write one sample by a strategy of the author, right or wrong."""
        a, b = _factors(problem.prompt)
        weights = {name: habit.weight(a, b) for name, habit in HABITS.items()}
        strategy = draw(rng, weights)
        text, correct = HABITS[strategy].draft(a, b, rng)
        return Written(text, strategy, correct)

    @override
    def read(self, prompt: str, text: str) -> Reading:
        """Compare a sample with what its strategy writes without an error.

        A wrong number does not change the strategy. Text in none of the forms has no strategy.

        Raises:
            ValueError: If the prompt is not from this domain.
        """
        a, b = _factors(prompt)
        if len(text) > LONGEST_TEXT:
            return Reading(False, DEGENERATE, reason=f"longer than {LONGEST_TEXT} characters")
        for name, form in FORMS.items():
            found = form.fullmatch(text)
            if found is not None and _is_about(found, a, b):
                exact, answer = HABITS[name].script(a, b, int), re.split("[^0-9]", text)[-1]
                reason = _difference(text, exact)
                if not reason and answer != str(a * b):
                    reason = f"{answer} is not {a}*{b}"
                return Reading(not reason, name, answer, reason)
        return Reading(False, DEGENERATE, reason=f"not in the form of any strategy for {a}*{b}")


def _is_about(found: re.Match[str], a: int, b: int) -> bool:
    """Return whether a sample multiplies the factors of the problem, or near enough."""
    given = found.groupdict()
    if int(given.get("a", a)) != a or int(given.get("b", b)) != b:
        return False
    if "halved" in given:
        return int(given["halved"]) == b // 2 and abs(int(given["doubled"]) - 2 * a) <= NEAR
    terms = re.findall("-?[0-9]+", given.get("split", str(a)))
    return abs(sum(map(int, terms)) - a) <= NEAR


def _difference(text: str, exact: str) -> str:
    """Return where text first differs from the exact one, to the end of a number; "" if never."""
    if text == exact:
        return ""
    same = next(at for at, (x, y) in enumerate(zip_longest(text, exact)) if x != y)
    shown, right = (one[:same] + re.split("[^0-9]", one[same:])[0] for one in (text, exact))
    return f"{shown} should be {right}"


def _factors(prompt: str) -> tuple[int, int]:
    match = PROMPT.fullmatch(prompt)
    if match is None:
        raise ValueError(f"prompt must look like '343*7=', got {prompt!r}")
    return int(match[1]), int(match[2])


def kind_of(a: int, b: int) -> str:
    """Name the kind of a·b: how far a is from a hundred, or between hundreds whether b is even.

    >>> [kind_of(a, 7) for a in (298, 283, 305, 343)]
    ['just_below', 'below', 'above', 'between_odd']
    """
    if below_hundred(a) < 10:
        return "just_below"
    if below_hundred(a) < 20:
        return "below"
    if a % 100 < 20:
        return "above"
    return "between_odd" if b % 2 else "between_even"


@cache
def _pool(kind: str, held_out: bool) -> tuple[Problem, ...]:
    """Return all problems of one kind that are held out, or all that are not."""
    pairs = [(a, b) for a in NUMBERS for b in DIGITS if kind_of(a, b) == kind]
    problems = [Problem(f"{a}*{b}=", kind) for a, b in pairs]
    return tuple(problem for problem in problems if is_held_out(problem.prompt) == held_out)
