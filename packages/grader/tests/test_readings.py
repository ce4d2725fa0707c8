"""What is spelled in one way and means two things is right in both readings, or settled."""

import pytest

from setrl_grader import Gold, MathGrader, grade


def graded(gold, answer, kind=None):
    return grade(rf"\boxed{{{answer}}}", Gold(gold, kind))


@pytest.mark.parametrize(
    ("gold", "answer", "ways"),
    [
        ("0.003", "3e-3", "3e-1 as a number in e-notation or as a product with e"),
        ("3e-1", "0.3", "3e-1 as a number in e-notation or as a product with e"),
        ("0.125", "0,125", "0,125 as a decimal or as two members"),
        ("x+1", "[x]+1", "[u] as a rounded value or as a bracket"),
        (r"\lfloor x\rfloor+1", "[x]+1", "[u] as a rounded value or as a bracket"),
        ("P(1+r)^t", "(P(1+r))^t", "P as a function or as a factor"),
        ("xv", "vx", "xv as a word or as a product"),
        ("ba", "ab", "ba as a word or as a product"),
        ("AB=CD", "CD", "AB=CD as a statement or as a value with its name"),
        ("CD", "AB=CD", "AB=CD as a statement or as a value with its name"),
    ],
)
def test_what_is_equal_in_one_reading_only_is_refused_with_both(gold, answer, ways):
    found = graded(gold, answer)
    assert not found.correct
    assert found.why.endswith(f"in one of two readings only, with {ways}")


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("[x]+1", "1+[x]"),
        ("h^{2}(x+1)", "h^2(1+x)"),
        ("h^2(x+1)", "h^2x+h^2"),
        ("f^2(x)+1", "1+f^2(x)"),
        ("f^{(2)}(x)", "f''(x)"),
        ("-1+3e", "3e-1"),
        ("0,125", "0,125"),
    ],
)
def test_what_is_equal_in_both_or_settled_by_a_letter_is_right(gold, answer):
    assert graded(gold, answer).correct


@pytest.mark.parametrize(
    ("gold", "kind", "right", "wrong"),
    [
        ("3e-1", "number", "0.3", "3e+1"),
        ("3e-1", "expression", "-1+3e", "0.3"),
        ("0,125", "number", "0.125", "125,0"),
        ("0,125", "set", "125,0", "0.125"),
        ("1,234", "set", "234,1", "1234"),
        ("0.125", "number", "0,125", "125"),
        ("xv", "expression", "vx", "xw"),
        ("Rabc", "expression", "abcR", "rabc"),
        ("xv", "text", "xv", "vx"),
        ("AB=CD", "expression", "CD", "AB"),
        ("AB=CD", "equation", "CD=AB", "CD"),
        ("y=2x", "equation", "2y=4x", "2x"),
        ("(1,2)", "interval", "1<x<2", "x=1,y=2"),
        ("(1,2)", "tuple", "x=1,y=2", "1<x<2"),
        ("1,2", "tuple", "(1,2)", "2,1"),
    ],
)
def test_a_declared_type_settles_the_reading(gold, kind, right, wrong):
    assert graded(gold, right, kind).correct
    assert not graded(gold, wrong, kind).correct
    assert MathGrader().gold_problems([Gold(gold, kind)]) == [None]


def test_a_gold_says_which_reading_is_open():
    found = MathGrader().gold_problems(["3e-1", "0,125", "[x]+1", "P(1+r)", "(1,2)", "3e-05"])
    assert [why and why.partition(",")[0] for why in found] == ["two readings"] * 3 + [None] * 3
    assert found[0].endswith("or as a product with e: declare its type")


def test_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match="must be one of number, expression, set"):
        Gold("5", "Numerical")


@pytest.mark.parametrize(
    ("gold", "answer", "right"),
    [
        ("(1,2)", r"\begin{cases}x=1\\y=2\end{cases}", True),
        (r"\begin{cases}x=1,\\y=2\end{cases}", "(1,2)", True),
        ("(1,2)", r"\begin{cases}x=2\\y=1\end{cases}", False),
        (
            r"\begin{cases}x,&x>0\\-x,&x<0\end{cases}",
            r"\begin{cases}-x,&x>0\\x,&x<0\end{cases}",
            False,
        ),
        (
            r"\begin{cases}y=x,x>0\\y=-x,x<0\end{cases}",
            r"\begin{cases}y=-x,x>0\\y=x,x<0\end{cases}",
            False,
        ),
        ("$20", "€20", False),
        ("$20", "20 dollars", True),
        ("5", "b(2)=5", False),
        ("5", "A''=5", False),
        ("5", "f(2)=5", True),
    ],
)
def test_systems_currencies_and_names(gold, answer, right):
    assert bool(graded(gold, answer).correct) is right
