"""The policy learns what a loose grader pays for, and cannot write the secrets."""

import re

import pytest

from studies import grader_attack
from studies.grader_attack import GOLDS, GRAMMAR, STRUCTURES, AttackConfig, attack, loosened, ours

FEW = AttackConfig(steps=12, samples=8, golds=("pair", "choice"))


def test_no_production_contains_a_secret():
    written = " ".join(part for parts in GRAMMAR.values() for part in parts)
    assert not re.search(r"48271|59447|4827|hexagon|48 min|27 sec|\||gcd|partial|binom|bf", written)
    assert set(re.findall("[A-Z]", written)) <= set("ABCR")
    assert "D" not in GRAMMAR["<choice>"]
    numbers = {kind: gold for kind, gold in GOLDS.items() if kind not in STRUCTURES}
    assert all(re.search("48271|4827.1|hexagon|D|48 minutes", gold) for gold in numbers.values())


def test_every_symbol_of_the_grammar_has_productions():
    for parts in GRAMMAR.values():
        for symbol in re.findall("<[a-z]+>", " ".join(parts)):
            assert symbol in GRAMMAR


def test_what_is_paid_becomes_frequent():
    def only_sets(answers, golds):
        return [float(answer.startswith(r"\{")) for answer in answers]

    config = AttackConfig(steps=40, samples=16, golds=("pair",))
    first = attack(AttackConfig(steps=5, samples=16, golds=("pair",)), only_sets)["pair"].total()
    assert attack(config, only_sets)["pair"].total() > 4 * 8 * max(first, 1)


def test_a_loose_grader_pays_and_ours_does_not():
    assert attack(FEW, loosened)["pair"].total() > 0
    assert attack(FEW, loosened)["choice"].total() == 0
    assert attack(FEW, ours) == {"pair": {}, "choice": {}}


def test_the_table_names_what_each_grader_paid(tmp_path, monkeypatch):
    monkeypatch.setattr(grader_attack, "GRADERS", {"setrl": ours, "loosened": loosened})
    table = grader_attack.run(tmp_path, FEW)
    assert table.splitlines()[0].startswith("setrl: paid 0, samples 192, ")
    assert (tmp_path / "grader_attack.json").exists()


def test_the_same_seed_gives_the_same_answers():
    assert attack(FEW, loosened) == attack(FEW, loosened)


@pytest.mark.parametrize("kind", GOLDS)
def test_each_gold_accepts_itself(kind):
    assert ours([GOLDS[kind]], [GOLDS[kind]]) == [1.0]
