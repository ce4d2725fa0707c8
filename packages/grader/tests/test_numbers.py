from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from setrl_grader.normal_form import normal_form
from setrl_grader.numbers import Number, equal_numbers, read_number

rationals = st.builds(Fraction, st.integers(-(10**6), 10**6), st.integers(1, 10**4))
tolerances = st.sampled_from([0.0, 1e-9, 1e-6, 1e-3])


def read(text: str) -> Number | None:
    return read_number(normal_form(text))


def ways_to_write(value: Fraction) -> list[str]:
    """The same rational, written in all the ways that there are."""
    sign, n, d = "-" if value < 0 else "", abs(value.numerator), value.denominator
    ways = [
        f"{sign}{n}/{d}",
        rf"{sign}\frac{{{n}}}{{{d}}}",
        rf"\dfrac{{{sign}{n}}}{{{d}}}",
        rf"${sign}\tfrac{{{3 * n}}}{{{3 * d}}}$.",
        rf"\left. {sign} \frac {{ {n} }} {{ {d} }} \right.",
    ]
    if n > d > 1:
        ways.append(rf"{sign}{n // d}\frac{{{n % d}}}{{{d}}}")
    if d == 1:
        ways += [f"{sign}{n}", f"{sign}00{n}", f"{sign}{n:,}", f"{sign}{n}.0", rf"\${sign}{n}"]
        ways += [rf"{sign}{n}^\circ", rf"{sign}{n}00 \times 10^{{-2}}", f"{sign}{n}e0"]
    return ways


@given(rationals, st.data())
def test_a_rational_is_read_however_it_is_written(value, data):
    way = data.draw(st.sampled_from(ways_to_write(value)))
    found = read(way)
    assert found is not None
    assert found.value == value


@given(rationals, rationals, st.data(), tolerances)
def test_different_rationals_differ_in_all_ways_to_write_them(a, b, data, tolerance):
    assume(abs(a - b) > Fraction(str(tolerance)) * max(abs(a), abs(b)))
    first, second = (read(data.draw(st.sampled_from(ways_to_write(v)))) for v in (a, b))
    assert not equal_numbers(first, second, tolerance)


@given(rationals, st.integers(1, 12), tolerances)
def test_a_rounded_decimal_is_accepted_when_and_only_when_it_is_within_the_tolerance(
    value, places, tolerance
):
    step = Fraction(1, 10**places)
    for off in (-1, 0, 1):
        shown = (round(value / step) + off) * step
        written = Number(shown, decimal=True, step=step)
        within = abs(value - shown) <= Fraction(str(tolerance)) * max(abs(value), abs(shown))
        is_cut = abs(shown) <= abs(value) and abs(value - shown) < step and shown * value >= 0
        in_places = abs(value - shown) <= step / 2 or is_cut
        expected = value == shown or (within and in_places and value.denominator > 1)
        assert equal_numbers(Number(value), written, tolerance) == expected
    text = f"{round(value / step)}e-0{places}"  # 3e-1 may be 3e - 1
    assert read(text).value == round(value / step) * step


@given(
    st.builds(Number, rationals, st.booleans(), st.booleans()),
    st.builds(Number, rationals, st.booleans(), st.booleans()),
    tolerances,
)
def test_equality_is_symmetric_and_reflexive(a, b, tolerance):
    assert equal_numbers(a, a, tolerance)
    assert equal_numbers(a, b, tolerance) == equal_numbers(b, a, tolerance)


@pytest.mark.parametrize("base", [2, 3, 10, 0])
@pytest.mark.parametrize("exponent", [-99, -1, 0, 1, 64])
def test_powers_are_exact(base, exponent):
    found = read(rf"{base}^{{{exponent}}}")
    if base == 0 and exponent <= 0:
        assert found is None
    else:
        assert found.value == Fraction(base) ** exponent


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "1/0", r"\frac{1}{0}", "1.2.3", "1,23", "x", "2x", "1/2/3", "1e", "e5",
     r"3\frac{4}{2}", r"\frac{1}{2}3", r"1\frac{-1}{2}", "9^{99999999}", "1e99999999", "1" * 2001,
     "1\\frac12x", "0^0"],
)  # fmt: skip
def test_what_is_no_number_or_too_large_is_left_to_others(text):
    assert read(text) is None


@given(st.integers(10**5, 4 * 10**5), st.integers(-12, 0), st.sampled_from([1, -1]))
def test_the_tolerance_is_relative_and_exact_at_its_edge(digits, exponent, sign):
    step = Fraction(10) ** exponent
    shown = Number(sign * digits * step, decimal=True, step=step)
    for off, expected in ((Fraction(1, 10**6), True), (Fraction(10001, 10**10), False)):
        exact = Number(shown.value / (1 - off))
        assert equal_numbers(exact, shown, 1e-6) == expected
        assert not equal_numbers(exact, Number(shown.value), 1e-6)
