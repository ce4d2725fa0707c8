"""Read a sample: which strategy its steps follow, and whether every step is correct.

A *chain* is a sequence of expressions joined by "=". Its first expression identifies the strategy;
every expression must equal the product and must follow from the one before it by one operation of
written arithmetic. Two strategies are not chains: long multiplication is a list of rows with
carries, and the Egyptian method starts with a table of doublings. No text has two of these forms.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod

from setrl.tasks.domains.base import Reading
from setrl.tasks.domains.multiplication.expressions import (
    NUMBER,
    Expression,
    Factor,
    follows,
    parse_chain,
)

LONGEST_TEXT = 100  # characters; the author writes fewer than 45
NEAR = 100  # a decomposition further than this from the number belongs to another problem

_RESULT = "(0|[1-9][0-9]?)"
_ROW = rf"([0-9])\*([0-9])={_RESULT}"
_CARRIED = rf"([0-9])\*([0-9])\+([0-9])={_RESULT}"
ROWS = re.compile(rf"{_ROW},{_CARRIED},{_CARRIED}:({NUMBER})")
TABLE = re.compile(rf"({NUMBER}(?:,{NUMBER}){{1,3}}):([0-9+=]+)")

Factors = tuple[int, int]


def read(factors: Factors, text: str) -> Reading:
    """Verify one sample and name its strategy; None if the text has no known form."""
    if len(text) > LONGEST_TEXT:
        return _degenerate(f"longer than {LONGEST_TEXT} characters")
    if rows := ROWS.fullmatch(text):
        return _read_rows(factors, [int(number) for number in rows.groups()])
    if table := TABLE.fullmatch(text):
        return _read_table(factors, [int(row) for row in table[1].split(",")], table[2])
    return _read_chain(factors, parse_chain(text))


def _read_chain(factors: Factors, chain: list[Expression]) -> Reading:
    a, b = factors
    if not chain:
        return _degenerate("not a chain of sums and products")
    if not chain[-1].is_number:
        return _degenerate("the last expression is not a number")
    strategy = "direct" if len(chain) == 1 else _strategy_of(factors, chain[0])
    if strategy is None:
        return _degenerate(f"{chain[0].text} is not a known decomposition of {a}*{b}")
    # Doubling and halving is a step from the question; other strategies rewrite the question.
    question = parse_chain(f"{a}*{b}") if strategy == "doubling_halving" else []
    reason = _wrong_value(factors, chain) or _wrong_step(question + chain) or _circle(a, b, chain)
    return _reading(strategy, chain[-1].value, reason)


def _strategy_of(factors: Factors, first: Expression) -> str | None:
    """Return the strategy that the first expression identifies, or None."""
    a, b = factors
    if first.is_plain_sum and set(first.values) == {a} and first.size > 1:
        return "repeated_addition"
    if first.plain_factors:
        return _strategy_of_numbers(a, b, first.plain_factors)
    if len(first.factors) == 2:
        return _strategy_of_split(a, b, *first.factors)
    return None


def _strategy_of_numbers(a: int, b: int, numbers: list[int]) -> str | None:
    """Name the strategy of a product of numbers: 686*3, or 343*2*3 with the number itself in it."""
    if len(numbers) == 2:
        is_doubled = _is_doubled(a, b, numbers) or _is_doubled(b, a, numbers)
        return "doubling_halving" if is_doubled else None
    is_factored = numbers[-1] == a and all(1 < n < 10 for n in numbers[:-1])
    return "factorisation" if len(numbers) > 2 and is_factored else None


def _is_doubled(a: int, b: int, numbers: list[int]) -> bool:
    """Return whether the numbers are twice a and half of b; one of the two may be wrong."""
    return any(
        (x == 2 * a and abs(y - b // 2) <= NEAR) or (y == b // 2 and abs(x - 2 * a) <= NEAR)
        for x, y in (numbers, numbers[::-1])
    )


def _strategy_of_split(a: int, b: int, left: Factor, right: Factor) -> str | None:
    """Name the strategy of a product with a split number: (300-2)*7, (300+40+3)*7, 343*(10-3)."""
    split, kept = (left, right) if len(right) == 1 else (right, left)
    if kept == (a,) and split[0] == 10 and len(split) == 2 and split[1] < 0:
        return "near_ten"
    if kept != (b,) or split[0] % 10 or abs(sum(split) - a) > NEAR:
        return None
    if all(part > 0 for part in split):
        return "partial_products"
    return "near_round" if len(split) == 2 else None


def _wrong_value(factors: Factors, chain: list[Expression]) -> str:
    """Name the first expression that is not equal to the product; "" if all are equal."""
    for expression in chain:
        if expression.value != prod(factors):
            return f"{expression.text} is not {factors[0]}*{factors[1]}"
    return ""


def _wrong_step(chain: list[Expression]) -> str:
    """Name the first expression that does not follow from the one before it; "" if all do."""
    for previous, current in pairwise(chain):
        if not follows(previous, current):
            return f"{current.text} does not follow from {previous.text} in one step"
    return ""


def _circle(a: int, b: int, chain: list[Expression]) -> str:
    """Name the first product that repeats an earlier one or the question; "" if none does."""
    seen = [sorted((a, b))]
    for expression in chain:
        if expression.plain_factors in seen:
            return f"{expression.text} repeats an earlier product"
        if expression.plain_factors:
            seen.append(expression.plain_factors)
    return ""


def _read_rows(factors: Factors, numbers: list[int]) -> Reading:
    """Read long multiplication: the digits from the right, each times b, plus the carry."""
    units, m, first, tens, n, carry, second, hundreds, p, last_carry, third, total = numbers
    a, b = factors
    if {m, n, p} != {b} or abs(100 * hundreds + 10 * tens + units - a) > NEAR:
        return _degenerate(f"not the rows of {a}*{b}")
    checks = {
        f"not the digits of {a}": 100 * hundreds + 10 * tens + units == a,
        f"{units}*{b} is not {first}": units * b == first,
        f"{carry} is not the carry of {first}": carry == first // 10,
        f"{tens}*{b}+{carry} is not {second}": tens * b + carry == second,
        f"{last_carry} is not the carry of {second}": last_carry == second // 10,
        f"{hundreds}*{b}+{last_carry} is not {third}": hundreds * b + last_carry == third,
        f"{total} is not {a}*{b}": total == a * b,
    }
    return _reading("long_multiplication", total, _first_failure(checks))


def _read_table(factors: Factors, table: list[int], text: str) -> Reading:
    """Read the Egyptian method: doublings of the number, then those that make up the factor."""
    chain = parse_chain(text)
    if table[0] != factors[0] or not chain or not chain[-1].is_number:
        return _degenerate(f"not a table of doublings for {factors[0]}*{factors[1]}")
    rows = chain[0].values
    checks = {
        "a row is not twice the one before": all(2 * x == y for x, y in pairwise(table)),
        "a row is added that is not in the table": set(rows) <= set(table),
        "a row is added twice": len(set(rows)) == len(rows),
    }
    reason = _first_failure(checks) or _wrong_value(factors, chain) or _wrong_step(chain)
    return _reading("egyptian", chain[-1].value, reason)


def _first_failure(checks: dict[str, bool]) -> str:
    return next((reason for reason, holds in checks.items() if not holds), "")


def _reading(strategy: str, answer: int, reason: str) -> Reading:
    return Reading(not reason, strategy, str(answer), reason)


def _degenerate(reason: str) -> Reading:
    return Reading(False, None, reason=reason)
