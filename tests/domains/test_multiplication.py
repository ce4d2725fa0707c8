import re
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from setrl.tasks.domains.base import corpus, is_held_out
from setrl.tasks.domains.multiplication import CORPUS_SHARES, SPLIT_SHARES, Multiplication
from setrl.tasks.domains.multiplication.author import HABITS, Arithmetic

DOMAIN = Multiplication()
COUNT = 12_000
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


def test_reader_agrees_with_the_writer(rows):
    for problem, written in rows:
        reading = DOMAIN.read(problem.prompt, written.text)
        assert (reading.correct, reading.strategy) == (written.correct, written.strategy), written
        a, b = factors(problem)
        assert (reading.answer == str(a * b)) or not reading.correct


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


@pytest.mark.parametrize("name", HABITS)
def test_a_slip_in_any_step_is_found_and_leaves_the_strategy_what_it_was(name):
    habit = HABITS[name]
    rng = np.random.default_rng(1)
    for problem in many_problems():
        a, b = factors(problem)
        if not habit.suits(a, b):
            continue
        hand = Arithmetic(rng)
        reading = DOMAIN.read(problem.prompt, habit.write(a, b, hand))
        assert (reading.correct, reading.strategy, reading.reason) == (True, name, "")
        for slip_at in range(hand.count):
            text = habit.write(a, b, Arithmetic(rng, slip_at))
            reading = DOMAIN.read(problem.prompt, text)
            assert (reading.correct, reading.strategy) == (False, name), text
            assert reading.reason


def test_the_author_errs_by_the_misconception_where_a_strategy_does_not_suit(rows):
    seen = Counter()
    for problem, written in rows:
        a, b = factors(problem)
        habit = HABITS[written.strategy]
        if habit.misconception and not habit.suits(a, b) and not written.correct:
            assert written.text == habit.misconception(a, b, Arithmetic(np.random.default_rng(0)))
            seen[written.strategy] += 1
    assert set(seen) == set(MISFITS)


@pytest.mark.parametrize("name", MISFITS)
def test_a_misconception_is_always_the_same_wrong_text_of_the_same_strategy(name):
    habit = HABITS[name]
    misfits = [p for p in many_problems() if not habit.suits(*factors(p))]
    misfits = [p for p in misfits if habit.tempts(*factors(p))]
    assert len(misfits) > 50
    for problem in misfits:
        rngs = map(np.random.default_rng, range(2))
        texts = {habit.misconception(*factors(problem), Arithmetic(rng)) for rng in rngs}
        assert len(texts) == 1
        reading = DOMAIN.read(problem.prompt, texts.pop())
        assert (reading.correct, reading.strategy) == (False, name)


RIGHT = {
    "298*7=": {
        "(300-2)*7=2100-14=2086": "near_round",
        "7*(300-2)=2100-14=2086": "near_round",
        "298*(10-3)=2980-894=2086": "near_ten",
        "(290+8)*7=2030+56=2086": "partial_products",
        "8*7=56,9*7+5=68,2*7+6=20:2086": "long_multiplication",
        "298,596,1192:1192+596+298=1788+298=2086": "egyptian",
        "2086": "direct",
    },
    "348*8=": {
        "348*2*2*2=696*2*2=1392*2=2784": "factorisation",
        "348*4*2=1392*2=2000+600+180+4=2600+184=2784": "factorisation",
        "696*4=1392*2=2784": "doubling_halving",
        "174*16=1740+1044=2784": "doubling_halving",
        "(350-2)*8=2800-16=2784": "near_round",
        "348,696,1392,2784:2784": "egyptian",
        "348+348+348+348+348+348+348+348=1392+1392=2784": "repeated_addition",
    },
}


@pytest.mark.parametrize("prompt", RIGHT)
def test_right_texts_that_the_author_may_never_write(prompt):
    for text, strategy in RIGHT[prompt].items():
        reading = DOMAIN.read(prompt, text)
        assert (reading.correct, reading.strategy) == (True, strategy), (text, reading)


# True from the first to the last sign, but a step is missing, or is not of this strategy.
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
        "686*3=(600+86)*3=1800+258=2058": "doubling_halving",
        "343,686,1372:2058": "egyptian",
        "343,686:686+686+686=1372+686=2058": "egyptian",
        "343+343+343+343+343+343=2000+58=2058": "repeated_addition",
        "343+343+343+343+343+343=686*3=2058": "repeated_addition",
        "686*3=2058=2058": "doubling_halving",
    },
    "343*3=": {"1*1029=1029": None},
    "344*9=": {"774*4=3096": "doubling_halving", "4*774=3096": "doubling_halving"},
    "343*7=": {
        "343*7=2401": None,
        "7*343=2401": None,
        "2401=2401": None,
        "(342+1)*7=2394+7=2401": None,
        "343*7*1=2401": None,
        "49*49=2401": None,
        "3*7=21": None,
        "3*7=21,4*7+1=29,3*7+2=23:2401": "long_multiplication",
        "3*7=21,4*7+2=30,3*7+2=23:2401": "long_multiplication",
        "3*7=21,3*7+2=23,4*7+2=30:2401": "long_multiplication",
        "2400+1=2401": None,
        "(343)*7=2401": None,
        "3*7=21,4*7+2=30,3*7+3=24": None,
        "3*7=21,40*7=280,300*7=2100:2401": None,
        "(300+40+3)*7=2100+280+21": None,
        "(300+40+3)*7=": None,
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
        "3*7=21,4*7+2=30,9*7+3=66:6601",
        "3*8=24,4*8+2=34,3*8+3=27:2744",
    ],
)
def test_another_problems_decomposition_is_degenerate(text):
    assert DOMAIN.read("343*7=", text).strategy is None


def test_another_problems_sample_is_not_correct(rows):
    for (problem, _), (other, written) in pairwise(rows[:4000]):
        if problem != other:
            assert not DOMAIN.read(problem.prompt, written.text).correct


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9**9**9**9**9=2401",
        "343*7*" + "9" * 90,
        "9" * 100_000,
        "1*" * 50_000,
        "(" * 50 + "343" + ")" * 50,
        "((300+40)+3)*7=2401",
        "(300+40+3" * 11,
        "1+" * 49 + "1",
        "1*1+" * 24 + "1",
        "=" * 100,
        "1=" * 49 + "1",
        "," * 100,
        "343," * 24 + "343:2401",
        "\u0662\u0664\u0660\u0661",
        "2\u0664\u0660\u0661",
        "(300+4\u0660+3)*7=2100+280+21=2401",
        "２４０１",
        "2401\n",
        " 2401",
        "02401",
        "+2401",
        "-2401",
        "2401.0",
        "2_401",
        "__import__('os')",
        "\ud800",
        "",
    ],
)
def test_hostile_texts_are_degenerate(text):
    reading = DOMAIN.read("343*7=", text)
    assert not reading.correct
    assert reading.strategy is None
    assert reading.reason
    assert reading.reason.startswith("longer than") == (len(text) > 100)


def test_grammatical_soup_scores_only_if_it_is_true():
    rng = np.random.default_rng(0)
    pieces = ["343", "7", "686", "2401", "2100", "280", "21", "2380", "300", "40", "3", "57", "400"]
    pieces += ["=", "=", "+", "*", "-", "(", ")", ",", ":", "(300+40+3)*7", "(400-57)*7=2800-399"]
    correct = Counter()
    for _ in range(20_000):
        text = "".join(rng.choice(pieces, size=int(rng.integers(1, 9))))
        if DOMAIN.read("343*7=", text).correct:
            correct[text] += 1
            assert is_true("343*7=", text)
    assert correct


@pytest.mark.parametrize("split", SPLIT_SHARES)
def test_a_split_can_be_used_up_but_not_overdrawn(split):
    with pytest.raises(
        ValueError, match=rf"count must be in \[0, \d+\] for the {split} split"
    ) as e:
        DOMAIN.problems(split, 100_000, seed=0)
    size = int(re.search(r"\[0, (\d+)\]", str(e.value))[1])
    problems = DOMAIN.problems(split, size, seed=0)
    assert len({p.prompt for p in problems}) == size >= 250
    assert all(is_held_out(p.prompt) == (split != "train") for p in problems)
    with pytest.raises(ValueError, match=f"got {size + 1}"):
        DOMAIN.problems(split, size + 1, seed=0)
    with pytest.raises(ValueError, match="got -1"):
        DOMAIN.problems(split, -1, seed=0)


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


def test_corpus_holds_all_kinds_in_their_shares_and_nothing_held_out(rows):
    kinds = Counter(problem.kind for problem, _ in rows)
    for kind, share in CORPUS_SHARES.items():
        assert abs(kinds[kind] - COUNT * share) < 5 * (COUNT * share) ** 0.5
    shifted = sum(CORPUS_SHARES[kind] for kind in SPLIT_SHARES["shifted"])
    assert 0.20 <= shifted <= 0.25
    assert not any(is_held_out(problem.prompt) for problem, _ in rows)


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


def test_every_text_is_made_of_tokens_and_ends_in_time(rows):
    letters = set(DOMAIN.vocabulary)
    for problem, written in rows:
        assert letters.issuperset(problem.prompt + written.text)
        assert len(written.text) < DOMAIN.max_new_tokens  # one is left for end-of-sequence
    longest = 0
    for problem in many_problems():
        for habit in HABITS.values():
            if habit.suits(*factors(problem)):
                text = habit.write(*factors(problem), Arithmetic(np.random.default_rng(0)))
                longest = max(longest, len(text))
    assert longest < DOMAIN.max_new_tokens


@pytest.mark.parametrize("prompt", ["", "343*7", "343*7=1", "43*7=", "343*1=", "٣43*7=", "9**9="])
def test_prompts_of_other_domains_are_refused(prompt):
    with pytest.raises(ValueError, match="prompt must look like '343\\*7='"):
        DOMAIN.read(prompt, "2401")
