from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader_cases import BEGIN, CASES, DOC, END, table
from setrl_grader import Reason
from setrl_grader.compare import compare
from setrl_grader.findings import Finding
from setrl_grader.grammar import parse
from setrl_grader.normal_form import normal_form

items = st.lists(st.integers(-9, 9).map(str), min_size=2, max_size=6)
opening = st.sampled_from(["(", "["])
closing = st.sampled_from([")", "]"])


def undecided(gold, answer) -> Finding:
    return Finding(None, "expression", gold.text, answer.text)


def same(gold: str, answer: str) -> bool | None:
    forms = normal_form(gold), normal_form(answer)
    return compare(*forms, relative_tolerance=1e-6, algebra=undecided).equal


@given(items, st.randoms())
def test_sets_and_lists_have_no_order(numbers, rng):
    shuffled = list(numbers)
    rng.shuffle(shuffled)
    gold = ", ".join(numbers)
    assert same(gold, ", ".join(shuffled))
    assert same(rf"\{{{gold}\}}", ", ".join(shuffled))


@given(items, items, opening, closing)
def test_pairs_and_intervals_have_an_order(a, b, left, right):
    first, second = f"{left}{','.join(a)}{right}", f"{left}{','.join(b)}{right}"
    assert same(first, second) == (a == b)


@given(items, opening, closing)
def test_other_brackets_are_another_answer(numbers, left, right):
    inside = ", ".join(numbers)
    ordered = f"{left}{inside}{right}"
    assert not same(ordered, inside)
    assert not same(ordered, rf"\{{{inside}\}}")
    assert same(ordered, rf"\left{left} {inside} \right{right}")


@given(items, items)
def test_sets_of_other_numbers_differ(a, b):
    assert same(",  ".join(a), ",  ".join(b)) == (sorted(a) == sorted(b))


def test_a_cycle_may_begin_with_any_of_its_numbers():
    assert same("(3 1 4 2)", "(1 4 2 3)")
    assert same("(1 3 2)(4 5)", "(5 4)(2 1 3)")
    assert not same("(3 1 4 2)", "(3 1 2 4)")
    assert not same("(3 1 4 2)", "(3, 1, 4, 2)")


def test_without_algebra_it_says_so():
    assert same("x^2", "x x") is None
    assert same("x^2, 1", "x x, 1") is None
    assert same("x^2, 1", "2, 3") is False
    assert same("(x^2, 1)", "(x x, 2)") is False


def test_what_algebra_says_counts_item_by_item():
    asked = []

    def algebra(gold, answer):
        asked.append((gold.text, answer.text))
        return Finding({*asked[-1]} == {"a+b", "b+a"}, "expression", *asked[-1])

    assert compare("1,a+b", "b+a,1", relative_tolerance=0, algebra=algebra).equal
    assert not compare("(1,a+b)", "(1,a-b)", relative_tolerance=0, algebra=algebra).equal
    assert ("a+b", "b+a") in asked


@given(st.text(alphabet="(){}[],;=\\pm1x ", max_size=30))
def test_any_text_is_a_statement(text):
    assert parse(text).text == text.strip() or parse(text).kind != "text"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.gold} ~ {case.sample}")
def test_cases(case, grader):
    one = replace(grader, units=case.units)
    assert one.grade(case.sample, case.gold).reason == case.reason


def test_the_list_holds_rights_and_wrongs_of_every_kind():
    assert {case.reason for case in CASES} >= set(Reason) - {
        Reason.TOO_LARGE, Reason.FAULT, Reason.TOO_LONG, Reason.NO_ANSWER, Reason.COPIED
    }  # fmt: skip
    assert sum(case.reason == Reason.EQUAL for case in CASES) > 60


def test_the_docs_hold_the_list():
    assert f"{BEGIN}\n{table()}\n{END}" in DOC.read_text()


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("55", "1^1+2+3+4+5+6+7+8+9+10"),
        ("385", "1^2+2^2+3^2+4^2+5^2+6^2+7^2+8^2+9^2+10^2"),
        ("210", r"14^{1}\cdot 15"),
        ("5", "|2|+3"),
        ("5", r"\sqrt{4}+3"),
    ],
)
def test_arithmetic_of_the_question_is_no_answer(gold, answer, grader):
    assert grader.grade(rf"\boxed{{{answer}}}", gold).reason == Reason.UNEVALUATED
