"""An expression of Python has the value that Python gives it."""

import random
import re
from fractions import Fraction
from math import factorial

import pytest

from setrl_grader.grammar import parse
from setrl_grader.normal_form import normal_form
from setrl_grader.python_syntax import as_latex
from setrl_grader.trees import exact_value

NAMES = {"Fraction": Fraction, "factorial": lambda n: factorial(int(n))}


def expression(draw, depth):
    """An expression with all operations, and brackets that Python may not need."""
    if depth == 0:
        return str(draw.randint(1, 4))
    sides = [expression(draw, depth - draw.randint(1, depth)) for _ in range(2)]
    kind = draw.choice(["{}+{}", "{}-{}", "{}*{}", "{}/{}", "({})", "-{}", "{}*-{}", "{}-({})"])
    return draw.choice([kind.format(*sides), f"({sides[0]})**{draw.randint(0, 3)}"])


def test_the_order_of_operations_is_python_s():
    draw = random.Random(5)
    found = 0
    for _ in range(400):
        text = f"{expression(draw, 4)}-2**factorial(2)**{draw.randint(1, 2)}"
        latex = as_latex(text)
        assert latex, text
        try:
            value = eval(re.sub(r"(\d+)", r"Fraction(\1)", text), NAMES)
        except ZeroDivisionError:
            continue
        tree = parse(normal_form(text)).tree
        assert tree is not None, (text, latex)
        here = exact_value(tree, {})
        assert here in (value, None), (text, latex)  # 0**0 has no value here
        found += here is not None
    assert found > 250


@pytest.mark.parametrize(
    "text",
    ["x", "2x*pi", "pi or 2", "pi if x else 2", "[pi for x in y]", "pi.real", "f(pi)", "2 (pi)",
     "xy*pi", "sqrt(2]", "sqrt()", "Matrix()", "cbrt(-8)", "(-8)**(1/3)", "(1-9)**0.5*pi",
     "lambda: pi", "pi\n**", "*pi", "**", "-" * 900 + "pi", "x**" * 300 + "pi",
     "(" * 60 + "pi" + ")" * 60],
)  # fmt: skip
def test_what_is_not_listed_is_not_read(text):
    assert as_latex(text) is None


def test_long_sums_are_read():
    assert as_latex("+".join(["pi"] * 40)).count("+") == 39
