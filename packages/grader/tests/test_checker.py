"""The checker confirms what the grader accepts, and no certificate that was planted."""

import ast
from pathlib import Path

import pytest

import attack_cases as cases
import checker
from checker import check
from setrl_grader.normal_form import normal_form

RIGHT = [case for found in cases.RIGHT.values() for case in found]
WRONG = [case for found in cases.WRONG.values() for case in found]
RULES = (
    "same text", "number", "words", "choice", "mark", "reals", "expression", "equation"
)  # fmt: skip


def claim(rule, gold, answer, **more):
    forms = {"gold": normal_form(gold), "answer": normal_form(answer)}
    return {"equal": True, "rule": rule, **forms, **more}


def part(gold, answer):
    return claim("number", gold, answer)


@pytest.fixture(scope="module")
def verdicts(grader):
    grades = grader.grades([rf"\boxed{{{answer}}}" for _, answer in RIGHT], [g for g, _ in RIGHT])
    pairs = zip(RIGHT, grades, strict=True)
    return {case: check(*case, grade.certificate) for case, grade in pairs}


def test_the_checker_shares_no_code_with_the_grader():
    files = Path(checker.__file__).parent.glob("*.py")
    imported = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    names = {each.module or "" for each in imported if isinstance(each, ast.ImportFrom)}
    names |= {name.name for each in imported if isinstance(each, ast.Import) for name in each.names}
    assert "fractions" in names
    assert not {name for name in names if name.startswith("setrl")}


def test_what_is_accepted_is_confirmed_or_not_checkable_but_never_refuted(verdicts):
    assert [case for case, verdict in verdicts.items() if verdict is False] == []
    assert sum(verdict is True for verdict in verdicts.values()) > 0.4 * len(RIGHT)


@pytest.mark.parametrize("rule", RULES)
def test_a_certificate_for_a_wrong_answer_is_not_confirmed(rule):
    planted = [case for case in WRONG if check(*case, claim(rule, *case))]
    assert planted == [], planted


DIFFERENCES = ("number", "words", "choice", "mark", "reals", "expression", "equation", "relation",
               "brackets", "how many")  # fmt: skip


@pytest.mark.parametrize("rule", DIFFERENCES)
def test_a_difference_of_equal_answers_is_not_confirmed(rule):
    chosen = RIGHT[::24] if rule == "expression" else RIGHT  # which take 3,000 digits
    pairs = [(gold, answer) for pair in chosen for gold, answer in (pair, pair[::-1])]
    planted = [pair for pair in pairs if check(*pair, claim(rule, *pair) | {"equal": False})]
    assert planted == [], planted


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("(1,2)", "(1,3)"), ("(x,2y)", "(x,3y)"), ("(1,2)", "[1,2]"), ("1,2", "1,2,3"),
        (r"\{1,2\}", r"\{1,3\}"), ("(-1,2]", "(-1,2)"), ("x>2", "x<2"), ("x=2y", "x=3y"),
        ("x=5", "x=6"), ("Monday", "Sunday"), (r"\begin{pmatrix}1\\2\end{pmatrix}",
        r"\begin{pmatrix}1\\3\end{pmatrix}"), ("B", "C"), ("2:3:4", "2:3:5"),
        (r"x^2+\sqrt{(x-10^{30})^2}", "x^2+x-10^{30}"), ("x^2+1", "x^2-1"), ("5", "6"),
        (r"\sqrt{2}", "1.41"), ("|x-5|", "x-5"),
    ],
)  # fmt: skip
def test_a_witness_of_every_kind_is_confirmed(gold, answer, grader):
    witness = grader.grade(rf"\boxed{{{answer}}}", gold).witness
    assert check(gold, answer, witness) is True, witness
    assert not check(gold, gold, witness)


@pytest.mark.parametrize(
    ("gold", "answer", "record"),
    [
        ("1,2", "2,1", claim("members", "1,2", "2,1", parts=[part("1", "1")] * 2, pairs=[1, 1])),
        ("1,2", "1,3", claim("members", "1,2", "1,3", parts=[part("1", "1")], pairs=[0])),
        ("1,2", "1,3", claim("entries", "1,2", "1,3", parts=[part("1", "1"), part("2", "2")])),
        ("(1,2)", "(2,1)",
         claim("members", "(1,2)", "(2,1)", parts=[part("1", "1"), part("2", "2")], pairs=[1, 0])),
        ("x^2", "x^3", claim("expression", "x^2", "x^2")),
        ("x=1", "y=2", claim("without name or unit", "x=1", "y=2", parts=[part("1", "1")])),
        ("2", "3", {**part("2", "3"), "equal": False, "rule": "expression", "detail": ["x = 1"]}
         | {"gold": "2", "answer": "2"}),
        ("x", "x+0", {**claim("expression", "x", "x+0"), "equal": False, "detail": ["x = 1"]}),
        ("0.5", "1/2", {**claim("number", "0.5", "1/2"), "equal": False}),
    ],
)  # fmt: skip
def test_a_false_certificate_or_witness_is_refuted(gold, answer, record):
    assert check(gold, answer, record) is False


def test_members_and_entries_are_confirmed_part_by_part(grader):
    for gold, answer in (
        ("1,2,3", "3, 1 and 2"),
        (r"(\frac12,x+1)", "(0.5,1+x)"),
        (
            r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
            r"\begin{bmatrix}1&2\\3&4.0\end{bmatrix}",
        ),
    ):
        assert check(gold, answer, grader.grade(rf"\boxed{{{answer}}}", gold).certificate)
