"""The documented table is what the grammar reads; what is in no rule is text."""

import random

import pytest

from grammar_table import (
    BEGIN,
    DOC,
    END,
    EXPRESSIONS,
    STATEMENTS,
    UNREAD,
    kind_of,
    productions,
    table,
)
from setrl_grader import grammar
from setrl_grader.normal_form import normal_form
from setrl_grader.trees import letters_of


def test_the_docs_hold_the_table():
    assert f"{BEGIN}\n{table()}\n{END}" in DOC.read_text(encoding="utf-8")


def test_every_rule_is_a_step_of_the_reader():
    rules = productions()
    assert len(rules) > 15
    assert [name for name in rules if not hasattr(grammar._Reader, name)] == []


@pytest.mark.parametrize("example", [*STATEMENTS, *EXPRESSIONS])
def test_every_example_is_read(example):
    assert kind_of(example) != "text"


@pytest.mark.parametrize("example", UNREAD)
def test_what_has_no_certain_reading_is_text(example):
    part = grammar.parse(normal_form(example))
    assert part.tree is None
    assert part.kind in ("text", "list")


@pytest.mark.parametrize(
    ("written", "parts", "marks"),
    [
        ("x=1<y", ["x", "1", "y"], "= <"),
        ("(1,2),(3,4)", ["(1,2)", "(3,4)"], ","),
        ("1,2, and 3", ["1", "2", "3"], ", and"),
        (r"\{x\mid x>1, x<3\}", ["x>1, x<3"], "x"),
        (r"(0,1)\cup(2,3)\cap(4,5)", ["(0,1)", "(2,3)", "(4,5)"], r"\cup \cap"),
        (r"(\pm 1,0)", ["(+1,0)", "(-1,0)"], None),
        (r"a\pm b\mp c", ["a+ b- c", "a- b+ c"], None),
        (r"\int_0^1 f, 3", [r"\int_0^1 f", "3"], ","),
        (r"f(x)=\int_0^x g", ["f(x)", r"\int_0^x g"], "="),
    ],
)
def test_the_parts_of_statements(written, parts, marks):
    found = grammar.parse(normal_form(written))
    assert [part.text.replace(" ", "") for part in found.parts] == [
        normal_form(part).replace(" ", "") for part in parts
    ] or [part.text for part in found.parts] == parts
    assert marks is None or found.marks == marks


def test_the_gold_says_what_a_letter_before_a_bracket_is():
    assert grammar.read("a(n)").op == "apply"
    assert grammar.read("a(n)", "a+n").op == "*"
    assert letters_of(grammar.read("n(n+1)")) == {"n"}


def test_deep_and_long_statements_are_read_in_time():
    deep = ["(" * 900 + "x" + ")" * 900, "((x)+1" * 300, "-(" * 400, "{" * 999, r"\{" * 500]
    deep += ["(1," * 300, "x," * 900, "|" * 900, "(x)" * 300, r"\sum_{k=1}^{2}(" * 100]
    for text in deep:
        assert grammar.parse(text).kind


def test_any_mixture_of_tokens_is_a_statement():
    pieces = [*grammar.RELATIONS, *grammar.SETS, *grammar.BRACKETS, *grammar.SEPARATORS, "x", "2",
              "+", "-", "/", "^", "_", "!", "|", ":", "%", r"\frac", r"\sqrt", "{", "}", r"\pm",
              r"\begin{pmatrix}", r"\end{pmatrix}", "&", r"\\", "f(", "'"]  # fmt: skip
    draw = random.Random(3)
    for _ in range(4000):
        text = "".join(draw.choices(pieces, k=draw.randint(1, 14)))
        assert grammar.parse(text).kind, text
