"""The laws that every domain keeps."""

import itertools
import re
from functools import cache

import numpy as np
import pytest

from setrl.samples.values import DEGENERATE
from setrl.tasks.domains import DOMAINS, SPLITS, by_name, corpus
from setrl.tasks.domains.base import is_held_out
from setrl.tasks.domains.check import HOSTILE
from tests.domains.quadratic_by_floats import prompt_polynomial, same, two_values, value

SIZES = {"train": 300, "test": 100, "shifted": 100}


@pytest.fixture(params=sorted(DOMAINS))
def domain(request):
    return by_name(request.param)


@cache
def longest_first(domain):
    tokens = sorted(domain.vocabulary, key=len, reverse=True)
    return re.compile("|".join(re.escape(token) for token in tokens))


def tokens(domain, text):
    """Greedy longest-first tokens; what no token covers raises."""
    found = longest_first(domain).findall(text)
    assert "".join(found) == text, f"the vocabulary cannot write {text!r}"
    return found


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="did you mean 'polynomial'"):
        by_name("polynomials")
    with pytest.raises(ValueError, match="speed"):
        by_name("polynomial", speed=3)


def test_names_match_and_vocabulary_has_no_repeats(domain):
    assert by_name(domain.name) == domain
    assert len(set(domain.vocabulary)) == len(domain.vocabulary)
    assert all(domain.vocabulary)


def test_reader_agrees_with_the_writer(domain):
    for problem, written in corpus(domain, 1500, seed=1):
        reading = domain.read(problem.prompt, written.text)
        assert (reading.correct, reading.strategy) == (written.correct, written.strategy), (
            problem.prompt,
            written,
            reading,
        )
        assert bool(reading.reason) != reading.correct


@pytest.mark.parametrize("split", SPLITS)
def test_splits_are_deterministic_distinct_and_of_the_right_size(domain, split):
    problems = domain.problems(split, SIZES[split], seed=3)
    assert len(problems) == len({problem.prompt for problem in problems}) == SIZES[split]
    assert problems == domain.problems(split, SIZES[split], seed=3)
    assert problems[:10] == domain.problems(split, 10, seed=3)
    assert problems != domain.problems(split, SIZES[split], seed=4)
    assert domain.problems(split, 0, seed=3) == []


def test_splits_are_disjoint_and_the_corpus_holds_nothing_back_from_the_tests(domain):
    prompts = {
        split: {problem.prompt for problem in domain.problems(split, size, seed=5)}
        for split, size in SIZES.items()
    }
    assert not prompts["train"] & prompts["test"]
    assert not prompts["train"] & prompts["shifted"]
    assert not prompts["test"] & prompts["shifted"]
    assert all(map(is_held_out, prompts["test"] | prompts["shifted"]))
    assert not any(is_held_out(problem.prompt) for problem, _ in corpus(domain, 1000, seed=5))


def test_impossible_requests_are_refused(domain):
    with pytest.raises(ValueError, match="split must be one of train, test, shifted, got 'dev'"):
        domain.problems("dev", 1, seed=0)
    with pytest.raises(ValueError, match="prompt must look like"):
        domain.read("What is love? ", "(0, 1)")


@pytest.mark.parametrize("split", SPLITS)
def test_more_problems_than_exist_are_refused_with_their_number(domain, split):
    with pytest.raises(ValueError, match=r"count must be in \[0, \d+\] for the") as refused:
        domain.problems(split, 10**6, seed=0)
    size = int(re.search(r"\d+(?=\])", str(refused.value))[0])
    with pytest.raises(ValueError, match=re.escape(f"[0, {size}] for the {split} split, got -1")):
        domain.problems(split, -1, seed=0)
    with pytest.raises(ValueError, match=f"got {size + 1}"):
        domain.problems(split, size + 1, seed=0)
    if size < 1200:  # there are as many: the last ones of the larger splits take long to find
        assert len(domain.problems(split, size, seed=0)) == size


def test_the_same_seed_writes_the_same_corpus(domain):
    assert list(corpus(domain, 200, seed=7)) == list(corpus(domain, 200, seed=7))
    assert list(corpus(domain, 200, seed=7)) != list(corpus(domain, 200, seed=8))


def test_every_text_is_written_by_the_vocabulary_and_ends_in_time(domain):
    used = set()
    for number, (problem, written) in enumerate(corpus(domain, 6000, seed=2)):
        if number > 1000 and used == set(domain.vocabulary):
            break  # some tokens are rare
        sample = tokens(domain, written.text)
        assert len(sample) < domain.max_new_tokens  # one is left for end-of-sequence
        # Prompt and sample are tokenised apart and together to the same tokens.
        prompt = tokens(domain, problem.prompt)
        assert tokens(domain, problem.prompt + written.text) == prompt + sample
        used.update(prompt, sample)
    assert used == set(domain.vocabulary)


def test_hostile_texts_neither_raise_nor_score(domain):
    prompt = domain.problems("train", 1, seed=0)[0].prompt
    for text in HOSTILE:
        reading = domain.read(prompt, text)
        assert not reading.correct
        assert reading.strategy == DEGENERATE


def point_is_on_the_curve(prompt, text):
    x, y = map(int, text.strip("()").split(","))
    curve, _, clause = prompt.removeprefix("y=").removesuffix(": ").partition(", x!=")
    return same(value(curve, x), y) and str(x) not in clause.split(",")


def product_is_right(prompt, text):
    first, second = map(int, prompt.removesuffix("=").split("*"))
    return int(re.search(r"\d+$", text)[0]) == first * second


def both_are_roots(prompt, text):
    roots = two_values(text.rpartition("=")[2])
    return not same(*roots) and same(0, *map(prompt_polynomial(prompt), roots))


# Whether the final answer is right, apart from how it was found.
ANSWER_IS_RIGHT = {
    "polynomial": point_is_on_the_curve,
    "multiplication": product_is_right,
    "quadratic": both_are_roots,
}


def read_lawfully(domain, prompt, text):
    """The reading of any text, with what must hold of every reading."""
    reading = domain.read(prompt, text)
    assert reading == domain.read(prompt, text)
    assert reading.correct == (not reading.reason)
    if reading.correct:
        assert reading.strategy not in (None, DEGENERATE)
        assert reading.answer is not None
        assert ANSWER_IS_RIGHT[domain.name](prompt, text), (prompt, text)
    return reading


def test_random_token_soup_is_degenerate_or_right(domain):
    rng = np.random.default_rng(0)
    problems = domain.problems("train", 20, seed=0)
    readings = []
    for _ in range(1000):
        length = int(rng.integers(1, domain.max_new_tokens))
        text = "".join(rng.choice(domain.vocabulary, size=length))
        readings.append(read_lawfully(domain, problems[int(rng.integers(20))].prompt, text))
    assert sum(reading.strategy == DEGENERATE for reading in readings) > 960


def test_one_token_from_a_written_sample_is_wrong_or_right_by_luck(domain):
    """A token is lost, doubled or replaced: the texts of a policy that has nearly learnt."""
    rng = np.random.default_rng(0)
    kept = 0
    for problem, written in corpus(domain, 1500, seed=9):
        if not written.correct:
            continue
        sample = tokens(domain, written.text)
        at = int(rng.integers(len(sample)))
        change = [[], sample[at : at + 1] * 2, [str(rng.choice(domain.vocabulary))]]
        text = "".join([*sample[:at], *change[int(rng.integers(3))], *sample[at + 1 :]])
        reading = read_lawfully(domain, problem.prompt, text)
        kept += reading.correct and text != written.text
    assert kept < 15


def test_a_sample_under_another_prompt_keeps_its_strategy_or_has_none(domain):
    rows = list(corpus(domain, 600, seed=9))
    correct = 0
    for (problem, _), (other, written) in itertools.pairwise(rows):
        reading = read_lawfully(domain, problem.prompt, written.text)
        assert reading.strategy in {written.strategy, DEGENERATE}
        correct += reading.correct and problem.prompt != other.prompt
    assert correct < 40
