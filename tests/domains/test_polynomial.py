import ast
import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from setrl import DEGENERATE
from setrl.tasks.domains import Polynomial, corpus
from setrl.tasks.domains.polynomial import (
    ALL_X_SHARES,
    FAVOURITES,
    RARE_X,
    _problem,
    _prompts,
    slip_chance,
)

DOMAIN = Polynomial()
COUNT = 12_000


@pytest.fixture(scope="module")
def rows():
    return list(corpus(DOMAIN, COUNT, seed=0))


@cache
def curve_and_excluded(prompt):
    """The relation by Python's own arithmetic, independently of the domain's parser."""
    relation, excluded = re.fullmatch(r"y=(.*), x!=(.*): ", prompt).groups()
    expression = re.sub(r"(?<=\d)x", "*x", relation).replace("^", "**")
    code = compile(expression, prompt, "eval")
    return (lambda x: eval(code, {"x": x})), {int(x) for x in excluded.split(",")}


def is_right(prompt, text):
    """A point in its normal form, on the curve, at an allowed x."""
    try:
        x, y = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return False
    curve, excluded = curve_and_excluded(prompt)
    return text == f"({x}, {y})" and y == curve(x) and x not in excluded


def corruptions(text):
    for at in range(len(text)):
        yield text[:at]
        yield text[:at] + text[at + 1 :]
        for character in "0123456789-+(), .x":
            yield text[:at] + character + text[at + 1 :]
            yield text[:at] + character + text[at:]
    for more in ("0", "1", ")", " ", "\n", text, ", 3", "x!=4: "):
        yield text + more


def test_corrupted_samples_are_right_only_if_they_are_points_of_the_curve(rows):
    for problem, written in rows[:50]:
        for text in corruptions(written.text):
            assert DOMAIN.read(problem.prompt, text).correct == is_right(problem.prompt, text), text


def test_written_samples_by_the_independent_check(rows):
    for problem, written in rows[:5000]:
        assert written.correct == is_right(problem.prompt, written.text)


def test_every_integer_point_is_right():
    prompt = "y=-2x^2+x-7, x!=4: "
    for x in range(-99, 100):
        reading = DOMAIN.read(prompt, f"({x}, {-2 * x * x + x - 7})")
        assert reading.correct == (x != 4)
        assert reading.strategy == f"x={x}"


@pytest.mark.parametrize(
    ("text", "correct", "strategy", "reason"),
    [
        ("(2, 21)", True, "x=2", ""),
        ("(2, 22)", False, "x=2", "at x=2 the curve has y=21, not 22"),
        ("(4, 51)", False, "x=4", "x=4 is excluded"),
        ("(02, 21)", False, DEGENERATE, "not a point such as (2, 21)"),
        ("(-0, 7)", False, DEGENERATE, "not a point such as (2, 21)"),
        ("(2,21)", False, DEGENERATE, "not a point such as (2, 21)"),
        ("(2, 21)\n", False, DEGENERATE, "not a point such as (2, 21)"),
        ("(100, 20307)", False, DEGENERATE, "not a point such as (2, 21)"),
    ],
)
def test_reading_says_why(text, correct, strategy, reason):
    reading = DOMAIN.read("y=2x^2+3x+7, x!=4: ", text)
    assert (reading.correct, reading.strategy, reading.reason) == (correct, strategy, reason)
    assert reading.answer == (text if strategy != DEGENERATE else None)


def test_a_slip_is_the_same_choice_of_x_but_another_point():
    texts = ("(2, 21)", "(2, 20)")
    prompt = "y=2x^2+3x+7, x!=4: "
    assert [DOMAIN.read(prompt, text).strategy for text in texts] == ["x=2", "x=2"]
    by_point = Polynomial(strategy="point")
    assert tuple(by_point.read(prompt, text).strategy for text in texts) == texts
    with pytest.raises(ValueError, match="strategy must be 'x' or 'point', got 'y'"):
        Polynomial(strategy="y")


def test_writer_labels_points_when_asked():
    by_point = Polynomial(strategy="point")
    for problem, written in corpus(by_point, 500, seed=0):
        assert written.strategy == written.text
        assert by_point.read(problem.prompt, written.text).strategy == written.text


@pytest.mark.parametrize(
    ("prompt", "at_2"),
    [
        ("y=x^2, x!=-4: ", 4),
        ("y=-x^2-x-1, x!=-4,9: ", -7),
        ("y=3x^2-9, x!=7: ", 3),
        ("y=-x, x!=7: ", -2),
        ("y=7x+1, x!=0,1: ", 15),
    ],
)
def test_relations_without_some_terms(prompt, at_2):
    assert DOMAIN.read(prompt, f"(2, {at_2})").correct
    assert not DOMAIN.read(prompt, f"(2, {at_2 + 1})").correct


def test_shares_of_the_corpus(rows):
    share = {x: n / COUNT for x, n in Counter(w.strategy for _, w in rows).items()}
    assert 0.16 < share["x=0"] < 0.22
    assert 0.14 < share["x=1"] < 0.22
    assert sum(value <= 0.012 for value in share.values()) >= 5
    assert set(share) == {f"x={x}" for x in ALL_X_SHARES}
    assert 0.85 < np.mean([written.correct for _, written in rows]) < 0.90
    favourites = np.mean([exclusions(problem) in FAVOURITES for problem, _ in rows])
    assert 0.18 < favourites < 0.23


def exclusions(problem):
    return tuple(sorted(curve_and_excluded(problem.prompt)[1]))


def test_slips_grow_with_x(rows):
    right = Counter(w.strategy for _, w in rows if w.correct)
    every = Counter(w.strategy for p, w in rows if int(w.strategy[2:]) not in exclusions(p))
    for x in (0, 1, 2, 3, 10):
        assert right[f"x={x}"] / every[f"x={x}"] == pytest.approx(1 - slip_chance(x), abs=0.04)


def test_training_prompts_allow_the_favourites_and_shifted_ones_do_not():
    for split in ("train", "test"):
        for problem in DOMAIN.problems(split, 200, seed=0):
            assert set(exclusions(problem)) <= set(RARE_X)
    for problem in DOMAIN.problems("shifted", 100, seed=0):
        assert exclusions(problem) in FAVOURITES


def test_the_commonest_strategy_of_training_fails_when_shifted():
    rng = np.random.default_rng(0)

    def success(split):
        problems = 5 * DOMAIN.problems(split, 100, seed=0)
        written = [DOMAIN.write(problem, rng) for problem in problems]
        favourite = [w.correct for w in written if w.strategy == "x=0"]
        return np.mean(favourite), len(favourite) / len(written)

    right, share = success("train")
    assert right > 0.8
    assert share > 0.18
    right, share = success("shifted")
    assert right == 0.0
    assert 0.005 < share < 0.1  # some authors do not look at the clause


def test_all_prompts_that_can_be_drawn_are_counted():
    rng = np.random.default_rng(0)
    drawn = {_problem(rng, "favourites").prompt for _ in range(40_000)}
    assert drawn == _prompts("favourites")
    assert {_problem(rng, "rare").prompt for _ in range(2000)} < _prompts("rare")
    assert len(_prompts("rare")) == (9 + 6) * 12 * (10 + 10 * 9 // 2)
