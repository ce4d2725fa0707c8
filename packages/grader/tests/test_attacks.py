"""Wrong answers of an attacker who read the grader are refused; right ones pass."""

import json
import re

import pytest

import attack_cases as cases
from adversary.real_golds import real_golds
from setrl_grader import ChoiceGrader, MathGrader, NumberGrader, Reason
from setrl_grader.normal_form import normal_form
from stranger import FROZEN, pairs

LOOSE, UNDONE = MathGrader(units=True), MathGrader(unevaluated=True)


def listed(table):
    return [(kind, *case) for kind, found in table.items() for case in found]


def boxed(answer):
    return rf"\boxed{{{answer}}}"


def misgraded(grader, right, pairs, form=boxed):
    """Those of the pairs of a gold and an answer whose grade is not `right`."""
    return [pair for pair in pairs if grader.grade(form(pair[1]), pair[0]).correct is not right]


@pytest.mark.parametrize("kind", cases.WRONG)
def test_what_is_not_understood_is_not_equal(kind, grader):
    assert misgraded(grader, False, cases.WRONG[kind]) == []


def test_another_unit_is_another_answer():
    assert misgraded(LOOSE, False, cases.WRONG_WITH_UNITS) == []


@pytest.mark.parametrize("kind", cases.RIGHT)
def test_another_form_is_the_same_answer(kind, grader):
    assert misgraded(grader, True, cases.RIGHT[kind]) == []


def test_an_operation_that_is_left_to_do_is_no_answer(grader):
    for gold, answer in cases.UNDONE:
        found = grader.grade(boxed(answer), gold)
        members = gold.startswith(r"\{")
        reason = Reason.DIFFERENT if members else Reason.UNEVALUATED
        assert found.reason == reason, (gold, answer)
        assert grader.grade(boxed(answer), answer).correct, answer


def test_what_the_gold_leaves_to_do_the_answer_may_leave(grader):
    assert misgraded(grader, True, cases.DONE) == []


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [("1023", "2^{10}-1", True), ("x<3", "2x<6", True), (r"\frac12", r"\sin 30^\circ", True),
     ("6", r"\sqrt{36}", True), ("5", "2+3", True), ("391", r"17\cdot 23", True)],
)  # fmt: skip
def test_unevaluated_answers_may_be_allowed(gold, answer, right):
    assert UNDONE.grade(boxed(answer), gold).correct is right


def test_a_stranger_s_slips_are_refused_and_his_rewrites_accepted(grader):
    rows = [json.loads(line) for line in FROZEN.read_text(encoding="utf-8").splitlines()]
    assert [tuple(row.values()) for row in rows] == list(pairs())
    answers, golds = [boxed(row["answer"]) for row in rows], [row["gold"] for row in rows]
    found = grader.grades(answers, golds)
    mistakes = [
        row for row, each in zip(rows, found, strict=True) if bool(each.correct) != row["right"]
    ]
    assert len(mistakes) == 11, "they leave an operation to do"
    assert all(UNDONE.grade(boxed(row["answer"]), row["gold"]).correct for row in mistakes)
    assert [sum(row["right"] is kind for row in rows) for kind in (False, True)] >= [400, 150]


def test_texts_that_do_not_state_the_gold(grader):
    assert misgraded(grader, False, cases.WRONG_TEXTS, form=str) == []


def test_texts_that_state_the_gold(grader):
    assert misgraded(grader, True, cases.RIGHT_TEXTS, form=str) == []


@pytest.mark.parametrize(("gold", "answer", "right"), cases.CHAINS)
def test_a_chain_of_equal_constants_is_its_value(gold, answer, right, grader):
    assert grader.grade(boxed(answer), gold).correct is right


def test_golds_accept_themselves_and_no_changed_copy(grader):
    golds = sorted(
        {gold for _, gold, _ in listed(cases.WRONG) + listed(cases.RIGHT)} - {"NaCl", "3e-1"}
    )
    assert [each for each in zip(golds, grader.gold_problems(golds), strict=True) if each[1]] == []


def changed_copies(gold):
    """The gold with another number or another letter, at each place where it has one."""
    form = normal_form(gold)
    free = next(letter for letter in "wzqj" if letter not in form)
    for found in re.finditer(r"(?<![\d.])\d{1,300}(?!\d)", form):
        yield form[: found.start()] + str(int(found[0]) + 1) + form[found.end() :]
    for found in re.finditer(r"(?<![\\a-zA-Z])[a-zA-Z](?![a-zA-Z])", form):
        yield form[: found.start()] + free + form[found.end() :]


def test_real_golds_accept_themselves_and_no_changed_copy_at_any_place(grader):
    golds = sorted({gold for _, gold, _ in listed(cases.WRONG) + listed(cases.RIGHT)})[::6]
    golds += real_golds()[::16]
    fit = [gold for gold, why in zip(golds, grader.gold_problems(golds), strict=True) if not why]
    assert len(fit) > 0.95 * len(golds)
    copies = [(copy, gold) for gold in fit for copy in changed_copies(gold)]
    grades = grader.grades([boxed(copy) for copy, _ in copies], [gold for _, gold in copies])
    assert [pair for pair, found in zip(copies, grades, strict=True) if found.correct] == []
    assert len(copies) > len(fit)


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [(NumberGrader, cases.WRONG_NUMBERS, cases.RIGHT_NUMBERS),
     (ChoiceGrader, cases.WRONG_CHOICES, cases.RIGHT_CHOICES)],
)  # fmt: skip
def test_a_hedge_is_no_answer_and_an_answer_without_a_doubt_is_read(kind, wrong, right):
    assert misgraded(kind(), False, wrong, form=str) == []
    assert misgraded(kind(), True, right, form=str) == []
