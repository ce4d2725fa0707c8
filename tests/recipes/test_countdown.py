"""Countdown: the exact checker, and the normal form against rewriting by enumeration."""

import itertools
import operator
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from recipes.smollm2 import countdown
from recipes.smollm2.countdown import Countdown, normal_form, parse
from setrl.tasks.domains.check import check_domain

PROMPT = "Make 33 from 3,7,11,12:"
DOMAIN = Countdown()


def trees(leaves):
    """Yield every expression with these leaves, each used once."""
    if len(leaves) == 1:
        yield leaves[0]
    for size in range(1, len(leaves)):
        for some in itertools.combinations(leaves, size):
            rest = tuple(one for one in leaves if one not in some)
            for left, right in itertools.product(list(trees(some)), list(trees(rest))):
                yield from ((operation, left, right) for operation in "+-*/")


def rewritten(tree):
    """Yield what one rule makes of an expression, at its root or inside; rules go both ways."""
    if isinstance(tree, int):
        return
    sign, left, right = tree
    yield from ((sign, one, right) for one in rewritten(left))
    yield from ((sign, left, one) for one in rewritten(right))
    if sign in "+*":
        yield sign, right, left
    for plus, minus in ("+-", "*/"):
        if sign == plus:
            if not isinstance(right, int) and right[0] in plus + minus:  # a+(b±c) = (a+b)±c
                yield right[0], (plus, left, right[1]), right[2]
            if not isinstance(left, int) and left[0] in plus + minus:  # (a±b)+c = (a+c)±b
                yield left[0], (plus, left[1], right), left[2]
                if left[0] == minus:  # (a-b)+c = a-(b-c)
                    yield minus, left[1], (minus, left[2], right)
        if sign == minus:
            if not isinstance(right, int) and right[0] in plus + minus:  # a-(b±c) = (a-b)∓c
                other = minus if right[0] == plus else plus
                yield other, (minus, left, right[1]), right[2]
            if not isinstance(left, int) and left[0] in plus + minus:  # (a±b)-c = (a-c)±b
                yield left[0], (minus, left[1], right), left[2]
                if left[0] == plus:  # (a+b)-c = a+(b-c)
                    yield plus, left[1], (minus, left[2], right)
                else:  # (a-b)-c = a-(b+c)
                    yield minus, left[1], (plus, left[2], right)
    yield from turned(tree)


def negated(tree):
    """Yield the ways to write −tree by turning one difference that is a factor of it."""
    if isinstance(tree, int):
        return
    sign, left, right = tree
    if sign == "-":
        yield "-", right, left
    if sign in "*/":
        yield from ((sign, one, right) for one in negated(left))
        yield from ((sign, left, one) for one in negated(right))


def turned(tree):
    """Yield copies in which two signs were turned, which is no change: a-b = a+(-b)."""
    sign, left, right = tree
    if sign in "*/":
        for one, two in itertools.product(negated(left), negated(right)):
            yield sign, one, two
    if sign in "+-" and not (isinstance(right, int) or right[0] in "+-"):
        yield from (("-" if sign == "+" else "+", left, one) for one in negated(right))
    if sign == "+" and not (isinstance(left, int) or left[0] in "+-"):
        yield from (("-", right, one) for one in negated(left))


def classes(all_trees):
    """Return the classes of expressions that rules lead to from each other."""
    left, found = set(all_trees), []
    while left:
        own, new = set(), {next(iter(left))}
        while new:
            own |= new
            new = {two for one in new for two in rewritten(one)} - own
        found.append(frozenset(own))
        left -= own
    return found


def by_form(all_trees):
    found = defaultdict(set)
    for tree in all_trees:
        found[form_or_none(tree)].add(tree)
    return found


def form_or_none(tree):
    try:
        return normal_form(tree)
    except ZeroDivisionError:
        return None


def test_the_normal_form_parts_all_expressions_of_three_numbers_as_the_rules_do():
    every = list(trees((2, 5, 11)))
    assert len(every) == 192
    assert {frozenset(own) for own in by_form(every).values()} == set(classes(every))


def test_rewriting_at_random_changes_no_normal_form():
    rng, every = np.random.default_rng(0), list(trees((2, 5, 7, 11)))
    for place in rng.integers(len(every), size=300):
        tree = every[place]
        form = form_or_none(tree)
        for _ in range(6):
            others = list(rewritten(tree))
            tree = others[rng.integers(len(others))] if others else tree
            assert form_or_none(tree) == form, (every[place], tree)


def test_expressions_of_one_form_are_one_function_of_their_numbers():
    rng, every = np.random.default_rng(1), list(trees((2, 5, 7, 11)))
    some = [every[place] for place in rng.integers(len(every), size=3000)]
    values = {one: Fraction(int(rng.integers(10**6)), 10**6 + 3) for one in (2, 5, 7, 11)}
    for own in by_form(some).values():
        assert len({value(tree, values) for tree in own}) == 1


def value(tree, values):
    if isinstance(tree, int):
        return values[tree]
    left, right = value(tree[1], values), value(tree[2], values)
    how = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
    return how[tree[0]](left, right)


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("12+7*3", "(3*7)+12", True),
        ("12-(7-3)", "3+12-7", True),
        ("(2-5)*(3-7)", "(7-3)*(5-2)", True),
        ("8/(4/2)", "2*8/4", True),
        ("12-(3-7)*2", "12+2*(7-3)", True),
        ("12+7*3", "11*3", False),
        ("3*(7+2)", "3*7+3*2", False),  # what is distributed is another way to compute
        ("7-3", "3-7", False),
        ("8/4", "4/8", False),
    ],
)
def test_which_copies_are_one(one, two, same):
    assert (normal_form(parse(one)) == normal_form(parse(two))) is same


@pytest.mark.parametrize(
    ("text", "right", "strategy"),
    [
        ("3*11", True, "11*3"),
        (" 12+3*7\n", True, "12+3*7"),
        ("(12-(3/(7-7)))", False, -1),
        ("3*7+12+11", False, "11+12+3*7"),
        ("3*3+12*2", False, -1),
        ("11*3=33", False, -1),
        ("33", False, -1),
        ("-3*-11", False, -1),
        ("11**3", False, -1),
        ("11//3", False, -1),
        ("3*011", False, -1),
        ("3×11", False, -1),
        ("3*11 # yes", False, -1),
        ("", False, -1),
        ("(" * 40, False, -1),
    ],
)
def test_what_is_right_and_which_strategy_it_has(text, right, strategy):
    reading = DOMAIN.read(PROMPT, text)
    assert (reading.correct, reading.strategy) == (right, strategy)
    assert bool(reading.reason) is not right


def test_fractions_on_the_way_are_exact():
    assert DOMAIN.read("Make 21 from 3,7,9,12:", "7/(3/9)").correct
    reading = DOMAIN.read("Make 21 from 3,7,9,12:", "9*7/3+3/12")
    assert reading.reason == "3 is not given, or used twice"
    assert DOMAIN.read("Make 21 from 3,7,9,12:", "9*7/12+3").reason == "the value is 33/4, not 21"


def test_it_keeps_the_rules_of_domains():
    assert check_domain(DOMAIN) == []
    assert DOMAIN.problems("test", 30, 5)[:10] == DOMAIN.problems("test", 10, 5)
    with pytest.raises(ValueError, match="split must be one of"):
        DOMAIN.problems("shifted", 1, 0)


def test_problems_have_at_least_four_strategies_and_their_author_uses_all():
    rng = np.random.default_rng(0)
    for problem in DOMAIN.problems("validation", 5, 0):
        target, numbers = countdown.parse_prompt(problem.prompt)
        forms = countdown.solutions(numbers)[target]
        assert len(forms) >= countdown.FEWEST
        written = [DOMAIN.write(problem, rng) for _ in range(300)]
        assert {one.strategy for one in written} == set(forms)
        for one in written:
            reading = DOMAIN.read(problem.prompt, one.text)
            assert reading.correct
            assert reading.strategy == one.strategy


def test_solutions_are_all_expressions_of_few_numbers_in_positive_integers():
    numbers = (2, 3, 5, 9, 14)
    found = defaultdict(set)
    for size in (2, 3):
        for some in itertools.combinations(numbers, size):
            for tree in trees(some):
                result = whole(tree)
                if result in countdown.TARGETS:
                    found[result].add(normal_form(tree))
    mine = {target: set(forms) for target, forms in countdown.solutions(numbers).items() if forms}
    assert mine == found


def whole(tree):
    """Return the value if all on the way is a positive integer, else None."""
    if isinstance(tree, int):
        return tree
    left, right = whole(tree[1]), whole(tree[2])
    if left is None or right is None:
        return None
    if tree[0] == "/":
        return left // right if left % right == 0 else None
    return {"+": left + right, "-": left - right if left > right else None, "*": left * right}[
        tree[0]
    ]


def test_functions_for_trl_read_both_columns():
    columns = {"prompts": [PROMPT] * 3, "completions": ["3*11", "12+3*7", "3*7"]}
    assert countdown.correct(**columns) == [1.0, 1.0, 0.0]
    assert countdown.strategy(**columns) == ["11*3", "12+3*7", "3*7"]
    assert countdown.strategy(prompts=[PROMPT], completions=["no idea"]) == [-1]
