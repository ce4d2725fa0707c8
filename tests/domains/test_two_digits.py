"""Two digits times two: the forms in the docstring, and every number of them."""

import re

import numpy as np
import pytest

from setrl.tasks.domains import by_name, corpus, two_digits

DOMAIN = by_name("two_digits")
EXAMPLES = re.findall(r"^\| `(\w+)` \| ([0-9*]+): (.+) \|$", two_digits.__doc__, re.MULTILINE)


def test_the_docstring_has_every_strategy():
    assert {name for name, _, _ in EXAMPLES} == set(two_digits.HABITS)


@pytest.mark.parametrize(("strategy", "question", "text"), EXAMPLES)
def test_the_forms_of_the_docstring_are_right(strategy, question, text):
    found = DOMAIN.read(f"{question}=", text)
    product = str(np.prod([int(one) for one in question.split("*")]))
    assert (found.strategy, found.correct, found.answer) == (strategy, True, product)


@pytest.mark.parametrize(("strategy", "question", "text"), EXAMPLES)
def test_no_other_digit_anywhere_is_right(strategy, question, text):
    for at in (i for i, letter in enumerate(text) if letter.isdigit()):
        for digit in set("0123456789") - {text[at]}:
            changed = f"{text[:at]}{digit}{text[at + 1 :]}"
            found = DOMAIN.read(f"{question}=", changed)
            assert not found.correct, changed
            assert found.strategy in {strategy, None}


def sides_agree(text):
    """Whether all that stands between two = is equal, by Python's own arithmetic."""
    chains = [part.split("=") for part in re.split("[,:/]", text)]
    return all(len({eval(side) for side in chain}) == 1 for chain in chains)


def test_every_equation_of_a_right_sample_holds():
    seen = set()
    for problem, written in corpus(DOMAIN, 1500, seed=4):
        if written.correct:
            assert sides_agree(written.text), written.text
            a, b = map(int, problem.prompt.removesuffix("=").split("*"))
            assert int(re.search(r"\d+$", written.text)[0]) == a * b
            seen.add(written.strategy)
    assert seen == set(two_digits.HABITS)


def test_the_misconception_is_near_round_with_a_wrong_number():
    found = DOMAIN.read("46*37=", "(50-4)*37=1850-4=1846")
    assert (found.strategy, found.correct) == ("near_round", False)
    assert found.reason == "(50-4)*37=1850-4 should end with 148"


def test_the_favourite_strategy_fails_on_shifted_problems():
    rng = np.random.default_rng(0)
    shares = {}
    for split in ("train", "shifted"):
        written = [DOMAIN.write(one, rng) for one in DOMAIN.problems(split, 300, seed=0)]
        near = [one.correct for one in written if one.strategy == "near_round"]
        shares[split] = (len(near) / len(written), np.mean(near))
    assert shares["train"][0] > 0.2
    assert shares["train"][1] > 0.5
    assert shares["shifted"][1] < 0.05
