"""A second check of quadratic samples, by the definition: every '=' by floating-point arithmetic.

It shares nothing with the reader, and takes any text that has the form of its method.
"""

import itertools
import re
from fractions import Fraction
from functools import lru_cache
from math import gcd, sqrt

AT = (-2.0, 0.5, 1.0, 3.0)  # two quadratics that agree at these points are the same


def value(expression, x=0.0, d=0.0):
    return eval(code_of(expression), {"x": x, "d": d})


@lru_cache(2**14)
def code_of(expression):
    python = re.sub(r"r([0-9]+)", r"(\1**.5)", expression).replace("^", "**")
    python = re.sub(r"(?<=[0-9x)])(?=[x(])", "*", python)
    return compile(python, expression, "eval")


def same(*numbers):
    return all(abs(a - b) < 1e-6 * max(1, abs(a)) for a, b in itertools.pairwise(numbers))


def prompt_polynomial(prompt):
    left, right = prompt.removesuffix(": ").split("=")
    return lambda x: value(left, x) - value(right, x)


def is_equation(left, curve):
    """Whether left is the curve, or the curve divided by its greatest common factor."""
    c = curve(0.0)
    a = (curve(1.0) + curve(-1.0)) / 2 - c
    b = curve(1.0) - a - c
    return any(
        all(same(left(x) * factor, curve(x)) for x in AT)
        for factor in (1, gcd(round(a), round(b), round(c)))
    )


def two_values(side):
    """The two numbers of '2,3' or of '(3+-r5)/2'."""
    if "," in side:
        return sorted(map(value, side.split(",")))
    return sorted(value(side.replace("+-", sign)) for sign in ("+", "-"))


def is_right(prompt, strategy, text):
    """Whether each side that the text equates is equal, about this equation, by the definition."""
    curve = prompt_polynomial(prompt)
    c = curve(0.0)
    a = (curve(1.0) + curve(-1.0)) / 2 - c
    b = curve(1.0) - a - c
    steps, _, final = text.rpartition(" x=")
    if final == "none":
        return False
    sides = final.split("=")
    roots = sorted((-b + s * sqrt(b * b - 4 * a * c)) / (2 * a) for s in (1, -1))
    if not all(same(*pair) for side in sides for pair in zip(two_values(side), roots, strict=True)):
        return False
    return STEPS_HOLD[strategy](steps, curve, a, b, c, roots) and is_finished(sides[-1], roots)


def is_finished(side, roots):
    """An answer such as (5+-1)/2 is not worked out; roots here have denominators under 50."""
    rational = all(same(root, float(Fraction(root).limit_denominator(50))) for root in roots)
    return "," in side or not rational


def factoring_holds(steps, curve, *_):
    product = steps.removeprefix("factor ").removesuffix("=0")
    return is_equation(lambda x: value(product, x), curve)


def formula_holds(steps, curve, a, b, c, roots):
    middle, last = steps.removeprefix("formula D=").split("=")
    square = re.match("-?[0-9]+", middle)[0]
    return same(value(square), b * b) and same(value(middle), value(last), b * b - 4 * a * c)


def square_holds(steps, curve, a, b, c, roots):
    left, middle, last = steps.removeprefix("square ").split("=")
    first, rest = re.match(r"(-?[0-9/]+)([+-].*)", middle).groups()
    return (
        all(same(a * (value(left, x) - value(last)), curve(x)) for x in AT)
        and same(value(middle), value(last))
        and same(value(first), (b / (2 * a)) ** 2)
        and same(value(rest), -c / a)
    )


def sum_product_holds(steps, curve, a, b, c, roots):
    total, product = steps.removeprefix("sum ").split(" product ")
    (left, right), (below, above) = total.split("="), product.split("=")
    pair = [float(Fraction(number)) for number in below.split("*")]
    summands = re.match(r"(-?[0-9/]+)([+-].*)", left).groups()
    return (
        same(value(left), value(right), -b / a)
        and same(pair[0] * pair[1], value(above), c / a)
        and pair == [float(Fraction(number)) for number in summands]
    )


def trial_holds(steps, curve, a, b, c, roots):
    tried = re.findall(r"P\((.*?)\)=(\S+)", steps)
    candidates = all(
        x != "0" and c % Fraction(x).numerator == 0 and a % Fraction(x).denominator == 0
        for x, _ in tried
    )
    found = all(any(same(value(x), root) for x, _ in tried) for root in roots)
    return candidates and found and all(same(curve(value(x)), value(y)) for x, y in tried)


def grouping_holds(steps, curve, *_):
    left, right = steps.removeprefix("group ").split("=")
    identical = all(same(value(left, x), value(right, x)) for x in AT)
    brackets = re.findall(r"\(.*?\)", right)
    return identical and len(set(brackets)) == 1 and is_equation(lambda x: value(left, x), curve)


def division_holds(steps, curve, *_):
    linear, row = steps.removeprefix("divide ").split(": ")
    leading, middle, rest = map(value, row.split(","))
    identical = all(
        same(value(f"({linear})", x) * (leading * x + middle) + rest, curve(x)) for x in AT
    )
    return identical and rest == 0


def midpoint_holds(steps, curve, a, b, c, roots):
    product, given, squared = re.fullmatch(r"middle (.*)=(.*) d\^2=(.*)", steps).groups()
    if value(squared) < 0:
        return False
    ends = [value(end, d=sqrt(value(squared))) for end in re.findall(r"\(.*?\)", product)]
    return (
        all(same(end, root) for end, root in zip(ends, roots, strict=True))
        and same(value(given), c / a)
    )  # fmt: skip


STEPS_HOLD = {
    "factoring": factoring_holds,
    "formula": formula_holds,
    "completing_square": square_holds,
    "sum_product": sum_product_holds,
    "divisor_trial": trial_holds,
    "grouping": grouping_holds,
    "division": division_holds,
    "midpoint": midpoint_holds,
}
