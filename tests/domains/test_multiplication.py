import hashlib
import re
from collections import Counter, defaultdict
from itertools import pairwise, product

import numpy as np
import pytest

from setrl.samples.values import DEGENERATE
from setrl.tasks.domains.base import SPLITS, corpus
from setrl.tasks.domains.multiplication import (
    CORPUS_SHARES,
    HABITS,
    SPLIT_SHARES,
    Arithmetic,
    Multiplication,
)

DOMAIN = Multiplication()
COUNT = 5_000
MISFITS = [name for name, habit in HABITS.items() if habit.misconception]


@pytest.fixture(scope="module")
def rows():
    return list(corpus(DOMAIN, COUNT, seed=0))


def factors(problem):
    a, b = problem.prompt.rstrip("=").split("*")
    return int(a), int(b)


def many_problems():
    """Problems of all kinds and splits."""
    pools = [("train", 100), ("test", 100), ("shifted", 300)]
    return [p for split, n in pools for p in DOMAIN.problems(split, n, seed=11)]


def is_true(prompt, text):
    """Whether all that is written is true and ends in the product, by Python's own arithmetic.

    Weaker than the domain's reader, which also asks that each step is shown.
    """
    if not re.fullmatch(r"[0-9+*()=,:-]{1,60}", text) or "**" in text:
        return False
    answer = eval(prompt.rstrip("="))
    *before, chain = text.split(":")
    try:
        rows = [
            [eval(part) for part in row.split("=")] for row in ",".join(before).split(",") if row
        ]
        values = {eval(part) for part in chain.split("=")}
    except (SyntaxError, TypeError):
        return False
    if all(len(row) == 1 for row in rows):
        rows = [[2 * x, y] for (x,), (y,) in pairwise(rows)]
    return values == {answer} and all(len(set(row)) == 1 for row in rows)


def corruptions(text):
    """Every cut and every text that is one character away."""
    for at in range(len(text)):
        yield text[:at]
        yield text[:at] + text[at + 1 :]
        for character in "0123456789+-*=(),: ":
            yield text[:at] + character + text[at + 1 :]
            yield text[:at] + character + text[at:]
    for more in ("0", "1", "=", ")", " ", "\n", "*1", "+0", text, "=" + text, "343*7="):
        yield text + more


def test_written_samples_by_the_independent_check(rows):
    for problem, written in rows:
        assert written.correct == is_true(problem.prompt, written.text), (problem, written)


def test_no_text_one_character_away_from_a_correct_sample_is_correct(rows):
    for strategy in HABITS:
        samples = [(p, w) for p, w in rows if w.strategy == strategy and w.correct][:3]
        for problem, written in samples:
            for text in corruptions(written.text):
                if text != written.text:
                    assert not DOMAIN.read(problem.prompt, text).correct, text


def test_corrupted_wrong_samples_are_correct_only_if_they_are_true(rows):
    wrong = [(p, w) for p, w in rows if not w.correct][:20]
    fixed = 0
    for problem, written in wrong:
        for text in corruptions(written.text):
            correct = DOMAIN.read(problem.prompt, text).correct
            fixed += correct
            assert not correct or is_true(problem.prompt, text), text
    assert fixed  # a slip in the last step is fixed by one digit


def test_a_slip_in_any_step_is_found_and_leaves_the_strategy_what_it_was():
    rng = np.random.default_rng(1)
    for (name, habit), problem in product(HABITS.items(), many_problems()[::5]):
        a, b = factors(problem)
        if not habit.suits(a, b):
            continue
        hand = Arithmetic(rng)
        assert DOMAIN.read(problem.prompt, habit.script(a, b, hand)).reason == ""
        for slip_at in range(hand.count):
            text = habit.script(a, b, Arithmetic(rng, slip_at))
            reading = DOMAIN.read(problem.prompt, text)
            assert (reading.correct, reading.strategy) == (False, name), text
            assert "should be" in reading.reason


def test_the_author_errs_by_the_misconception_where_a_strategy_does_not_suit(rows):
    seen = Counter()
    for problem, written in rows:
        a, b = factors(problem)
        habit = HABITS[written.strategy]
        if habit.misconception and not habit.suits(a, b) and not written.correct:
            assert written.text == habit.misconception(a, b, int)
            seen[written.strategy] += 1
    assert set(seen) == set(MISFITS)


WRONG = {
    "298*7=": {
        "(300-2)*7=2100-15=2085": "(300-2)*7=2100-15 should be (300-2)*7=2100-14",
        "(300-3)*7=2100-21=2079": "(300-3 should be (300-2",
        "(300-2)*7=2086": "(300-2)*7=2086 should be (300-2)*7=2100",
    },
    "343*7=": {"343*2*3=686*3=1800+240+18=2040+18=2058": "2058 is not 343*7"},
}


@pytest.mark.parametrize("prompt", WRONG)
def test_the_reason_is_the_first_number_that_differs(prompt):
    for text, reason in WRONG[prompt].items():
        assert DOMAIN.read(prompt, text).reason == reason


# True from the first to the last sign, but not the steps of this strategy.
UNSHOWN = {
    "343*6=": {
        "(300+40+3)*6=2058": "partial_products",
        "(300+40+3)*6=2000+50+8=2058": "partial_products",
        "(300+40+3)*6=1800+240+18=2000+58=2058": "partial_products",
        "(400-57)*6=2058": "near_round",
        "(400-57)*6=2100-42=2058": "near_round",
        "343*2*3=2058": "factorisation",
        "343*2*3=343*6=2058": "factorisation",
        "343*2*3=686*3=1029*2=2058": "factorisation",
        "686*3=343*6=2058": "doubling_halving",
        "686*3=2000+58=2058": "doubling_halving",
        "343,686,1372:2058": "egyptian",
        "343,686:686+686+686=1372+686=2058": "egyptian",
        "343+343+343+343+343+343=2000+58=2058": "repeated_addition",
        "343+343+343+343+343+343=686*3=2058": "repeated_addition",
        "686*3=2058=2058": "doubling_halving",
    },
    "343*3=": {"1*1029=1029": DEGENERATE},
    "344*9=": {"774*4=3096": "doubling_halving"},
    "298*7=": {"(290+8)*7=2030+56=2086": "partial_products", "7*(300-2)=2100-14=2086": DEGENERATE},
    "343*7=": {
        "343*7=2401": DEGENERATE,
        "7*343=2401": DEGENERATE,
        "2401=2401": DEGENERATE,
        "(342+1)*7=2394+7=2401": DEGENERATE,
        "343*7*1=2401": DEGENERATE,
        "49*49=2401": DEGENERATE,
        "3*7=21": DEGENERATE,
        "3*7=21,4*7+1=29,3*7+2=23:2401": "long_multiplication",
        "3*7=21,4*7+2=30,3*7+2=23:2401": "long_multiplication",
        "3*7=21,3*7+2=23,4*7+2=30:2401": "long_multiplication",
        "2400+1=2401": DEGENERATE,
        "(343)*7=2401": DEGENERATE,
        "3*7=21,4*7+2=30,3*7+3=24": DEGENERATE,
        "3*7=21,40*7=280,300*7=2100:2401": DEGENERATE,
        "(300+40+3)*7=2100+280+21": DEGENERATE,
        "(300+40+3)*7=": DEGENERATE,
    },
}


@pytest.mark.parametrize("prompt", UNSHOWN)
def test_a_true_text_that_hides_a_step_is_not_correct(prompt):
    for text, strategy in UNSHOWN[prompt].items():
        reading = DOMAIN.read(prompt, text)
        assert (reading.correct, reading.strategy) == (False, strategy), (text, reading)


@pytest.mark.parametrize(
    "text",
    [
        "(600-2)*7=4200-14=4186",
        "(400-57)*6=2400-342=2058",
        "(600+40+3)*7=4200+280+21=4480+21=4501",
        "344*(10-3)=3440-1032=2408",
        "344*2*3=688*3=2064",
        "896*3=2688",
        "344+344=688",
        "344,688,1376:1376+688+344=2064+344=2408",
        "3*8=24,4*8+2=34,3*8+3=27:2744",
    ],
)
def test_another_problems_decomposition_is_degenerate(text):
    assert DOMAIN.read("343*7=", text).strategy == DEGENERATE


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9**9=2401",
        "343*7*" + "9" * 90,
        "9" * 100_000,
        "1*" * 50_000,
        "((300+40)+3)*7=2401",
        "1=" * 49 + "1",
        "343," * 24 + "343:2401",
        "\u0662\u0664\u0660\u0661",
        "２４０１",
        "2401\n",
        "02401",
        "+2401",
        "2_401",
        "\ud800",
    ],
)
def test_hostile_texts_are_degenerate(text):
    reading = DOMAIN.read("343*7=", text)
    assert (reading.correct, reading.strategy) == (False, DEGENERATE)
    assert reading.reason.startswith("longer than") == (len(text) > 100)


@pytest.mark.parametrize("split", SPLIT_SHARES)
def test_kinds_come_in_their_shares_and_are_what_they_say(split):
    problems = [p for seed in range(40) for p in DOMAIN.problems(split, 50, seed)]
    kinds = Counter(p.kind for p in problems)
    for kind, share in SPLIT_SHARES[split].items():
        assert abs(kinds[kind] / len(problems) - share) < 0.05
    rests = {kind: {factors(p)[0] % 100 for p in problems if p.kind == kind} for kind in kinds}
    if split == "shifted":
        assert all(20 <= rest <= 80 for rest in set.union(*rests.values()))
        assert all((factors(p)[1] % 2 == 0) == (p.kind == "between_even") for p in problems)
    else:
        assert min(rests["just_below"]) == 91
        assert rests["below"] <= set(range(81, 91))
        assert max(rests["above"]) < 20


def test_corpus_holds_all_kinds_in_their_shares(rows):
    kinds = Counter(problem.kind for problem, _ in rows)
    for kind, share in CORPUS_SHARES.items():
        assert abs(kinds[kind] - COUNT * share) < 5 * (COUNT * share) ** 0.5
    shifted = sum(CORPUS_SHARES[kind] for kind in SPLIT_SHARES["shifted"])
    assert 0.20 <= shifted <= 0.25


def test_strategies_come_in_their_shares(rows):
    expected, seen = Counter(), Counter(written.strategy for _, written in rows)
    for problem, _ in rows:
        a, b = factors(problem)
        weights = {
            name: habit.share if habit.suits(a, b) else habit.misfit_share * habit.tempts(a, b)
            for name, habit in HABITS.items()
        }
        for name, weight in weights.items():
            expected[name] += weight / sum(weights.values())
    for name in HABITS:
        assert abs(seen[name] - expected[name]) < 5 * expected[name] ** 0.5
    assert min(seen.values()) < 0.01 * COUNT
    assert seen.most_common(1)[0][0] == "near_round"


def test_strategies_succeed_as_often_as_the_table_says(rows):
    outcomes = defaultdict(list)
    for problem, written in rows:
        suits = HABITS[written.strategy].suits(*factors(problem))
        outcomes[written.strategy, suits].append(written.correct)
    for (name, suits), correct in outcomes.items():
        rate = HABITS[name].success if suits else HABITS[name].misfit_success
        spread = (rate * (1 - rate) / len(correct)) ** 0.5
        assert abs(np.mean(correct) - rate) <= 5 * spread, (name, suits)
    assert 0.60 < np.mean([written.correct for _, written in rows]) < 0.70


def test_the_commonest_training_strategy_fails_on_the_shifted_split_and_others_do_not():
    rng = np.random.default_rng(0)
    outcomes = defaultdict(list)
    for split in ("train", "shifted"):
        for problem in DOMAIN.problems(split, 200, seed=0):
            for _ in range(40):
                written = DOMAIN.write(problem, rng)
                outcomes[split, written.strategy].append(written.correct)
    commonest = max(HABITS, key=lambda name: len(outcomes["train", name]))
    assert np.mean(outcomes["train", commonest]) > 0.75
    assert np.mean(outcomes["shifted", commonest]) < 0.10
    others = ("partial_products", "long_multiplication", "factorisation", "doubling_halving")
    assert all(np.mean(outcomes["shifted", name]) > 0.5 for name in others)


RECORDED = "3fbb6bc6f2dc35b6153df4e2dcda56cce7d38b9734dac433fd9e32104997046c"


def test_the_recorded_texts_are_written_and_read_as_they_were():
    """Results are compared with runs that were made with these problems, samples and readings."""
    found = hashlib.sha256()
    for split, seed in product(SPLITS, range(3)):
        for problem in DOMAIN.problems(split, 100, seed):
            found.update(f"{problem.prompt}{problem.kind}".encode())
    for problem, written in (pair for seed in range(3) for pair in corpus(DOMAIN, 500, seed)):
        reading = DOMAIN.read(problem.prompt, written.text)
        read = (reading.correct, reading.strategy, reading.answer)
        found.update(f"{problem.prompt}{written.text}{read}".encode())
    assert found.hexdigest() == RECORDED
