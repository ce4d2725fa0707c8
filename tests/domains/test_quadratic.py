from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest

from setrl.samples.values import DEGENERATE
from setrl.tasks.domains import Quadratic, corpus
from setrl.tasks.domains.quadratic import (
    CORPUS_KINDS,
    SHIFTED_KINDS,
    TRAINING_KINDS,
)
from setrl.tasks.domains.quadratic.author import SHARES, SUCCESS
from setrl.tasks.domains.quadratic.equation import Equation, Roots, parse, square_root
from tests.domains.quadratic_by_floats import is_right

DOMAIN = Quadratic()
COUNT = 5_000

# One right sample a method and kind, by hand: x²−5x+6, 2x²−10x+12, 2x²−7x+3, x²−3x+1.
BY_HAND = {
    "x^2-5x+6=0: ": {
        "factoring": "factor (x-2)(x-3)=0 x=2,3",
        "formula": "formula D=25-24=1 x=(5+-1)/2=2,3",
        "sum_product": "sum 2+3=5 product 2*3=6 x=2,3",
        "divisor_trial": "try P(1)=2 P(2)=0 P(3)=0 x=2,3",
        "completing_square": "square (x-5/2)^2=25/4-6=1/4 x=5/2+-1/2=2,3",
        "grouping": "group x^2-2x-3x+6=x(x-2)-3(x-2) x=2,3",
        "midpoint": "middle (5/2-d)(5/2+d)=6 d^2=1/4 x=5/2+-1/2=2,3",
        "division": "divide x-2: 1,-3,0 x=2,3",
    },
    "2x^2+12=10x: ": {
        "factoring": "factor 2(x-2)(x-3)=0 x=2,3",
        "formula": "formula D=100-96=4 x=(10+-2)/4=2,3",
        "sum_product": "sum 2+3=5 product 2*3=6 x=2,3",
        "divisor_trial": "try P(-1)=24 P(2)=0 P(3)=0 x=2,3",
        "completing_square": "square (x-5/2)^2=25/4-6=1/4 x=5/2+-1/2=2,3",
        "grouping": "group 2x^2-4x-6x+12=2x(x-2)-6(x-2) x=2,3",
        "midpoint": "middle (5/2-d)(5/2+d)=6 d^2=1/4 x=5/2+-1/2=2,3",
        "division": "divide x-3: 2,-4,0 x=2,3",
    },
    "2x^2=7x-3: ": {
        "factoring": "factor (2x-1)(x-3)=0 x=1/2,3",
        "formula": "formula D=49-24=25 x=(7+-5)/4=1/2,3",
        "sum_product": "sum 3+1/2=7/2 product 3*1/2=3/2 x=1/2,3",
        "divisor_trial": "try P(3)=0 P(1/2)=0 x=1/2,3",
        "completing_square": "square (x-7/4)^2=49/16-3/2=25/16 x=7/4+-5/4=1/2,3",
        "grouping": "group 2x^2-x-6x+3=x(2x-1)-3(2x-1) x=1/2,3",
        "midpoint": "middle (7/4-d)(7/4+d)=3/2 d^2=25/16 x=7/4+-5/4=1/2,3",
        "division": "divide x-3: 2,-1,0 x=1/2,3",
    },
    "x^2-3x=-1: ": {
        "formula": "formula D=9-4=5 x=(3+-r5)/2",
        "completing_square": "square (x-3/2)^2=9/4-1=5/4 x=(3+-r5)/2",
        "midpoint": "middle (3/2-d)(3/2+d)=1 d^2=5/4 x=3/2+-r5/2",
    },
}
HAND_MADE = [
    (prompt, strategy, text)
    for prompt, texts in BY_HAND.items()
    for strategy, text in texts.items()
]


@pytest.fixture(scope="module")
def rows():
    return list(corpus(DOMAIN, COUNT, seed=0))


DIGITS = "0123456789"


def corruptions(text):
    """Each character changed, dropped or doubled; each cut; texts appended; numbers swapped."""
    for at, character in enumerate(text):
        yield text[:at]
        yield text[:at] + text[at + 1 :]
        yield text[:at] + character + text[at:]
        swaps = DIGITS if character in DIGITS else "+-*/=(),x^ "
        for other in swaps:
            yield text[:at] + other + text[at + 1 :]
    for more in ("0", ",3", "=2,3", " ", "\n", " x=2,3", text, "/1", "/2", "+-r5"):
        yield text + more
    yield text.replace("+", "#").replace("-", "+").replace("#", "-")


def agrees(prompt, text):
    reading = DOMAIN.read(prompt, text)
    if reading.strategy == DEGENERATE:
        return not reading.correct
    return reading.correct == is_right(prompt, reading.strategy, text)


def test_right_work_by_hand_is_right_and_changed_work_only_if_every_equality_holds():
    for prompt, strategy, text in HAND_MADE:
        reading = DOMAIN.read(prompt, text)
        assert (reading.correct, reading.strategy, reading.reason) == (True, strategy, "")
        assert is_right(prompt, strategy, text)
        assert reading.answer == ("(3+-r5)/2" if "r5" in text else text.rpartition("=")[2])
        for changed in corruptions(text):
            assert agrees(prompt, changed), changed


def test_changed_numbers_are_wrong():
    # The prompt's equation has one normal form of each text, so no single digit may change.
    for prompt, strategy, text in HAND_MADE:
        for at, character in enumerate(text):
            for other in DIGITS.replace(character, "") if character in DIGITS else "":
                changed = text[:at] + other + text[at + 1 :]
                vain = strategy == "divisor_trial" and agrees(prompt, changed)
                assert vain or not DOMAIN.read(prompt, changed).correct, changed


def test_written_samples_by_the_independent_check(rows):
    for problem, written in rows[:1000]:
        assert written.correct == is_right(problem.prompt, written.strategy, written.text), written


def test_corrupted_samples_of_the_author(rows):
    for problem, written in [row for row in rows if row[1].correct][:12]:
        for corrupted in corruptions(written.text):
            assert agrees(problem.prompt, corrupted), (problem.prompt, corrupted)


def test_the_opening_word_alone_is_no_strategy():
    for opening in ("factor ", "formula ", "square ", "try ", "sum "):
        for rest in ("", "x=2,3", "25-24=1 x=2,3", "(x-2)(x-3)=0", "D=25-24=1 x=2,3", "P(2)=0"):
            assert DOMAIN.read("x^2-5x+6=0: ", opening + rest).strategy == DEGENERATE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("factor (x-1)(x-6)=0 x=1,6", "the brackets do not multiply out to the equation"),
        ("factor (x-2)(x-3)=0 x=-3,-2", "-3,-2 are not the roots"),
        ("factor (x-2)(x-3)=0 x=none", "no roots are given"),
        ("formula D=25-24=2 x=(5+-r2)/2", "D is 1, not 2"),
        ("formula D=24-24=0 x=(5+-0)/2=5/2,5/2", "the square of b is 25, not 24"),
        ("formula D=25-24=1 x=(5+-1)/2", "x=(5+-1)/2 is not worked out"),
        ("formula D=25-24=1 x=(-5+-1)/2=-3,-2", "x=(-5+-1)/2 are not the roots"),
        ("square (x-5/2)^2=25/4-6=1/2 x=(5+-r2)/2", "the right-hand side is 1/4, not 1/2"),
        # One number wrong, the next one consistent with it, and the answer out of the blue.
        ("formula D=26-24=2 x=(5+-1)/2=2,3", "the square of b is 25, not 26"),
        ("formula D=25-20=5 x=(5+-1)/2=2,3", "-4ac is -24, not -20"),
        ("square (x-3)^2=9-6=3 x=5/2+-1/2=2,3", "half of b/a is -5/2, not -3"),
        ("square (x-5/2)^2=29/4-6=5/4 x=5/2+-1/2=2,3", "the square of -5/2 is 25/4, not 29/4"),
        ("square (x-5/2)^2=25/4-5=5/4 x=5/2+-1/2=2,3", "-c/a is -6, not -5"),
        ("middle (5/2-d)(5/2+d)=5 d^2=5/4 x=5/2+-1/2=2,3", "the product must be c/a = 6, not 5"),
        ("middle (5/2-d)(5/2+d)=6 d^2=5/4 x=5/2+-1/2=2,3", "d^2 is 1/4, not 5/4"),
        ("divide x-2: 1,-4,-2 x=2,3", "the second number is -3, not -4"),
        ("divide x-2: 2,-1,4 x=2,3", "the row starts with 1, not 2"),
        ("sum 1+4=5 product 1*4=4 x=2,3", "the product must be c/a = 6, not 4"),
        ("sum 1+4=5 product 1*4=6 x=2,3", "the product is 4, not 6"),
        ("sum 2+3=5 product 1*6=6 x=2,3", "the sum and the product are of different numbers"),
        ("sum 1+6=7 product 1*6=6 x=1,6", "the sum must be -b/a = 5, not 7"),
        ("sum 1+6=5 product 1*6=6 x=2,3", "the sum is 7, not 5"),
        ("try P(1)=3 P(2)=0 P(3)=0 x=2,3", "P(1) is 2, not 3"),
        ("try P(4)=2 P(2)=0 P(3)=0 x=2,3", "4 cannot be a root"),
        ("try P(2)=0 P(1)=2 x=2,3", "not every root was found"),
        ("group x^2-2x-3x+6=x(x-2)-3(x-3) x=2,3", "the two brackets differ"),
        ("group x^2-x-6x+6=x(x-1)-6(x-1) x=1,6", "the split terms do not add up to the equation"),
        ("divide x-2: 1,-3,1 x=2,3", "the remainder is 0, not 1"),
        ("divide x-1: 1,-4,2 x=1,4", "1 is not a root"),
        ("middle (5-d)(5+d)=6 d^2=19 x=5+-r19", "the middle of the roots is 5/2, not 5"),
        ("x=2,3", "not written as any of the methods"),
    ],
)
def test_reading_says_which_step_is_wrong(text, reason):
    reading = DOMAIN.read("x^2-5x+6=0: ", text)
    assert not reading.correct
    assert reading.reason == reason


def test_a_wrong_step_is_wrong_even_if_the_answer_is_right():
    reading = DOMAIN.read("x^2-5x+6=0: ", "formula D=25-25=1 x=(5+-1)/2=2,3")
    assert (reading.correct, reading.strategy, reading.answer) == (False, "formula", "2,3")


def test_roots_may_come_in_either_order_and_brackets_without_the_common_factor():
    reading = DOMAIN.read("2x^2+12=10x: ", "factor (x-3)(x-2)=0 x=3,2")
    assert (reading.correct, reading.answer) == (True, "2,3")


@pytest.mark.parametrize("form", ["2x^2-7x+3=0", "2x^2-7x=-3", "2x^2=7x-3", "2x^2+3=7x"])
def test_four_forms_of_one_equation(form):
    equation = parse(f"{form}: ")
    assert equation == Equation(2, -7, 3)
    assert equation.roots == Roots(Fraction(7, 4), Fraction(25, 16))


@pytest.mark.parametrize("prompt", ["x^2+1=0: ", "x^2=0: ", "3x+1=0: ", "x^2-4=0", "x^3=1: "])
def test_prompts_that_are_no_such_equation_are_refused(prompt):
    with pytest.raises(ValueError, match="prompt must look like"):
        DOMAIN.read(prompt, "factor (x-2)(x-3)=0 x=2,3")


@pytest.mark.parametrize(
    ("centre", "radicand", "text"),
    [
        ("5/2", "1/4", "2,3"),
        ("3", "5", "3+-r5"),
        ("3/2", "5/4", "(3+-r5)/2"),
        ("0", "20", "0+-r20"),
        ("1", "1/3", "(3+-r3)/3"),
        ("2", "0", "2,2"),
    ],
)
def test_normal_form_of_roots(centre, radicand, text):
    assert Roots(Fraction(centre), Fraction(radicand)).text() == text


def test_square_root_is_exact():
    for numerator in range(200):
        for denominator in range(1, 20):
            root = square_root(Fraction(numerator, denominator) ** 2)
            assert root == Fraction(numerator, denominator)
    assert square_root(Fraction(2)) is None
    assert square_root(Fraction(-4)) is None
    assert square_root(Fraction(10**40 + 1)) is None


def test_shares_of_kinds_and_strategies(rows):
    kinds = Counter(problem.kind for problem, _ in rows)
    for kind, share in CORPUS_KINDS.items():
        assert kinds[kind] / COUNT == pytest.approx(share, abs=0.015)
        strategies = Counter(w.strategy for p, w in rows if p.kind == kind)
        for strategy, expected in SHARES[kind].items():
            share = strategies[strategy] / kinds[kind]
            assert share == pytest.approx(expected, abs=4 * (expected / kinds[kind]) ** 0.5)
    every = Counter(written.strategy for _, written in rows)
    assert sum(count / COUNT < 0.02 for count in every.values()) == 2
    assert 0.60 < np.mean([written.correct for _, written in rows]) < 0.70
    assert 0.20 < sum(CORPUS_KINDS[kind] for kind in SHIFTED_KINDS) < 0.25


def test_success_by_kind_and_strategy(rows):
    outcomes = defaultdict(list)
    for problem, written in rows:
        outcomes[problem.kind, written.strategy].append(written.correct)
    for (kind, strategy), correct in outcomes.items():
        rate = SUCCESS[kind][strategy]
        margin = 4 * (rate * (1 - rate) / len(correct)) ** 0.5
        assert np.mean(correct) == pytest.approx(rate, abs=margin)


def test_every_table_sums_to_one():
    for shares in (*SHARES.values(), TRAINING_KINDS, SHIFTED_KINDS, CORPUS_KINDS):
        assert sum(shares.values()) == pytest.approx(1)


def test_factoring_is_the_commonest_in_training_and_mostly_fails_when_shifted():
    rng = np.random.default_rng(0)

    def success(split):
        problems = DOMAIN.problems(split, 150, seed=0)
        written = [DOMAIN.write(problem, rng) for problem in problems for _ in range(10)]
        (commonest, count), *_ = Counter(w.strategy for w in written).most_common()
        factored = [w.correct for w in written if w.strategy == "factoring"]
        return commonest, count / len(written), np.mean(factored)

    commonest, share, right = success("test")
    assert (commonest, share > 0.38, right > 0.75) == ("factoring", True, True)
    _, _, right = success("shifted")
    assert right < 0.25


def test_splits_hold_their_kinds():
    for split, kinds in (
        ("train", TRAINING_KINDS),
        ("test", TRAINING_KINDS),
        ("shifted", SHIFTED_KINDS),
    ):
        assert {problem.kind for problem in DOMAIN.problems(split, 120, seed=0)} == set(kinds)


def test_factoring_is_the_shorter_work(rows):
    lengths = defaultdict(list)
    for problem, written in rows:
        if problem.kind == "integer" and written.correct:
            lengths[written.strategy].append(len(written.text))
    mean = {strategy: np.mean(values) for strategy, values in lengths.items()}
    assert mean["factoring"] < mean["sum_product"] < mean["formula"] < mean["completing_square"]
