"""The grader against its adversary: a stratified part of `make adversary`; the adversary itself."""

from fractions import Fraction

import pytest

from adversary.copies import accepted, copies
from adversary.expressions import node, num, same, sym, value, write
from adversary.fuzz import fuzz
from adversary.golds import KINDS, Answer, equal, golds, latex
from adversary.near_misses import near_misses
from adversary.trial import ours, share, trial
from setrl_grader import grade
from setrl_grader.marks import MARKS
from setrl_grader.math_grader import judged
from setrl_grader.normal_form import normal_form, spaceless


@pytest.fixture(scope="module")
def result():
    return trial(ours, per_kind=1, seed=7)


def test_no_near_miss_is_accepted(result):
    accepted = [case for row in result.near_misses.values() for case in row.examples]
    assert accepted == []
    assert sum(row.tried for row in result.near_misses.values()) > 150


def test_no_copy_of_a_problem_is_accepted():
    def ours_on(copy):
        return grade(rf"\boxed{{{copy.text}}}", copy.gold, prompt=copy.problem).correct

    assert [case for found in accepted(ours_on, 3, seed=7).values() for case in found] == []
    right = {(each.problem, each.gold) for each in copies(3, seed=7)}
    assert all(grade(rf"\boxed{{{gold}}}", gold, prompt=problem).correct for problem, gold in right)
    without = accepted(lambda copy: grade(rf"\boxed{{{copy.text}}}", copy.gold).correct, 3, seed=7)
    assert without["factor"]  # which only the problem shows


def test_the_checker_refutes_nothing_that_is_accepted(result):
    assert result.checked.refuted == []
    assert result.checked.confirmed > 5 * len(result.checked.unknown)


def test_the_fuzzer_finds_its_way_and_no_hole():
    found = fuzz(150, seed=3)
    assert found.refuted == []
    assert found.lines > 500
    assert found.confirmed > 0
    assert str(fuzz(20, seed=3)) == str(fuzz(20, seed=3))


def test_the_fuzzer_finds_a_grader_that_is_too_kind(monkeypatch):
    monkeypatch.setattr("setrl_grader.compare.equal_numbers", lambda *_: True)
    assert any(fuzz(150, seed).refuted for seed in range(10))
    judged.cache_clear()  # of what was too kind


def test_rewrites_are_accepted(result):
    refused = [case for row in result.rewrites.values() for case in row.examples]
    assert share(result.rewrites) >= 0.98, refused


def test_golds_accept_themselves(result):
    refused = [case for row in result.golds.values() for case in row.examples]
    assert share(result.golds) >= 0.98, refused


def test_a_grader_that_accepts_all_or_nothing_is_found_out():
    for always in (True, False):
        assert not trial(lambda answers, *_, always=always: [always] * len(answers), 1).good


def test_every_kind_has_golds_and_near_misses():
    kinds = {kind for kind, _ in golds(2)}
    assert kinds == set(KINDS)
    for kind, answer in golds(2):
        assert list(near_misses(answer, seed=0)), kind


@pytest.mark.parametrize("kind", MARKS)
def test_every_mark_that_the_grader_reads_has_a_kind_of_gold(kind):
    texts = (spaceless(normal_form(latex(answer))) for _, answer in golds(2))
    assert any(MARKS[kind].read(text) is not None for text in texts), "add one to golds"


def test_truth_is_decided_by_value():
    x = sym("x")
    square = node("pow", node("add", x, num(1)), num(2))
    expanded = node("add", node("pow", x, num(2)), node("mul", num(2), x), num(1))
    assert same(square, expanded)
    assert not same(square, node("add", expanded, num(Fraction(1, 10**6))))
    assert not same(sym("R"), sym("r"))
    assert value(node("sin", node("degrees", num(30))), {}) == pytest.approx(0.5)
    pair = Answer("tuple", (num(1), num(2)), ("(", ")"))
    assert not equal(pair, Answer("tuple", (num(2), num(1)), ("(", ")")))
    assert equal(Answer("list", (num(1), num(2))), Answer("list", (num(2), num(1))))


def test_it_writes_latex():
    x = sym("x")
    product = node("mul", num(2), node("add", x, node("neg", num(3))))
    assert write(product) == "2(x-3)"
    assert write(node("div", product, node("pow", x, num(12)))) == r"\frac{2(x-3)}{x^{12}}"
    assert latex(Answer("matrix", tuple(map(num, (1, 2, 3, 4))), ("2",))) == (
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"
    )
