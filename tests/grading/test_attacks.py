"""Wrong answers of an attacker who read the grader are refused; right ones pass."""

import pytest

from setrl.grading import ChoiceGrader, MathGrader, NumberGrader
from tests.grading import attack_cases as cases

LOOSE = MathGrader(units=True)


def listed(table):
    return [(kind, *case) for kind, found in table.items() for case in found]


def boxed(answer):
    return rf"\boxed{{{answer}}}"


@pytest.mark.parametrize(("kind", "gold", "answer"), listed(cases.WRONG))
def test_what_is_not_understood_is_not_equal(kind, gold, answer, grader):
    assert grader.grade(boxed(answer), gold).correct is False


@pytest.mark.parametrize(("gold", "answer"), cases.WRONG_WITH_UNITS)
def test_another_unit_is_another_answer(gold, answer):
    assert LOOSE.grade(boxed(answer), gold).correct is False


@pytest.mark.parametrize(("kind", "gold", "answer"), listed(cases.RIGHT))
def test_another_form_is_the_same_answer(kind, gold, answer, grader):
    assert grader.grade(boxed(answer), gold).correct


@pytest.mark.parametrize(("gold", "text"), cases.WRONG_TEXTS)
def test_texts_that_do_not_state_the_gold(gold, text, grader):
    assert grader.grade(text, gold).correct is False


@pytest.mark.parametrize(("gold", "text"), cases.RIGHT_TEXTS)
def test_texts_that_state_the_gold(gold, text, grader):
    assert grader.grade(text, gold).correct


def test_golds_accept_themselves_and_no_changed_copy(grader):
    golds = sorted({gold for _, gold, _ in listed(cases.WRONG) + listed(cases.RIGHT)} - {"NaCl"})
    assert [each for each in zip(golds, grader.gold_problems(golds), strict=True) if each[1]] == []


@pytest.mark.parametrize(
    ("kind", "gold", "text"),
    [(NumberGrader, *case) for case in cases.WRONG_NUMBERS]
    + [(ChoiceGrader, *case) for case in cases.WRONG_CHOICES],
)
def test_a_hedge_is_no_answer(kind, gold, text):
    assert kind().grade(text, gold).correct is False


@pytest.mark.parametrize(
    ("kind", "gold", "text"),
    [(NumberGrader, *case) for case in cases.RIGHT_NUMBERS]
    + [(ChoiceGrader, *case) for case in cases.RIGHT_CHOICES],
)
def test_an_answer_without_a_doubt_is_read(kind, gold, text):
    assert kind().grade(text, gold).correct
