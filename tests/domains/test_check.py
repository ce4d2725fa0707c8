"""The check of a domain: nothing to say about ours, and one sentence for each broken rule."""

import dataclasses

import pytest

from setrl.tasks.domains import DOMAINS, Domain, Polynomial, by_name
from setrl.tasks.domains.check import check_domain


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_our_domains_keep_the_rules(name):
    assert check_domain(by_name(name)) == []


class Wrapped(Domain):
    """A domain that breaks a rule of another one."""

    name = "wrapped"

    def __init__(self, **changed):
        self.of = Polynomial()
        self.changed = changed

    def __getattribute__(self, name):
        own = object.__getattribute__(self, "__dict__").get("changed", {})
        if name in own:
            value = own[name]
            return (lambda *args: value(self.of, *args)) if callable(value) else value
        if name in ("of", "changed", "__dict__", "name"):
            return object.__getattribute__(self, name)
        return getattr(self.of, name)


def misread(of, prompt, text):
    reading = of.read(prompt, text)
    return dataclasses.replace(reading, strategy="x=0") if reading.strategy == "x=1" else reading


def without_reasons(of, prompt, text):
    return dataclasses.replace(of.read(prompt, text), reason="")


def fails_on_nothing(of, prompt, text):
    return of.read(prompt, {0: text}[text == ""])


def generous(of, prompt, text):
    reading = of.read(prompt, text)
    return dataclasses.replace(reading, correct=True) if text == "nan" else reading


CALLS = iter(range(10**6))
TEST = Polynomial().problems("test", 5, 0)
BROKEN = {
    "the author's samples are read otherwise": {"read": misread},
    "wrong samples are read without a reason": {"read": without_reasons},
    "the reader raises KeyError on ''": {"read": fails_on_nothing},
    "the reader calls 'nan' correct": {"read": generous},
    "the vocabulary cannot write": {"vocabulary": Polynomial.vocabulary[1:]},
    "an empty token, or one twice": {"vocabulary": (*Polynomial.vocabulary, "0")},
    "tokens, and max_new_tokens is 3": {"max_new_tokens": 3},
    "problems are in train and in test": {
        "problems": lambda of, split, count, seed: of.problems("test", count, seed)
    },
    "the corpus holds problems of the split test": {"corpus_problem": lambda of, rng: TEST[0]},
    "the split test has other problems with the same seed": {
        "problems": lambda of, split, count, seed: of.problems(split, count, next(CALLS))
    },
    "the split train has 19 problems twice": {
        "problems": lambda of, split, count, seed: of.problems(split, 1, seed) * count
    },
    "the splits have no train": {"splits": ("test",)},
    "the author writes other samples": {"corpus_problem": lambda of, rng: TEST[next(CALLS) % 5]},
    "the split shifted has no problem": {
        "problems": lambda of, split, count, seed: (
            [] if split == "shifted" else of.problems(split, count, seed)
        )
    },
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_a_broken_rule_has_a_sentence(sentence, monkeypatch):
    monkeypatch.setattr("setrl.tasks.domains.check.SAMPLES", 101)
    monkeypatch.setattr("setrl.tasks.domains.check.PROBLEMS", 20)
    found = check_domain(Wrapped(**BROKEN[sentence]))
    assert any(sentence in one for one in found), found


def test_a_domain_with_fewer_problems_is_checked_on_those():
    few = Wrapped(
        splits=("train", "test"),
        problems=lambda of, split, count, seed: (
            of.problems(split, count, seed) if count <= 10 else _refuse(count)
        ),
    )
    assert check_domain(few) == []


def _refuse(count):
    raise ValueError(f"count must be in [0, 10], got {count}")
