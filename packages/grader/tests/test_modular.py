"""Roots have the values that they have among real numbers; the rest are new letters."""

import random

import pytest

from setrl_grader.grammar import read
from setrl_grader.modular import equal_rational
from setrl_grader.numeric import equal_numeric
from setrl_grader.values import in_digits, value_at

CONSTANTS = (r"\sqrt{%d}", r"\frac{1}{%d}", r"\sqrt{\frac{%d}{6}}")


def constant(draw):
    terms = [
        r"\cdot ".join(draw.choice(CONSTANTS) % draw.randint(1, 40) for _ in range(2))
        for _ in range(draw.randint(1, 2))
    ]  # fmt: skip
    return "+".join(terms)


def test_constants_are_equal_where_their_real_values_are():
    draw, decided = random.Random(1), {True: 0, False: 0}
    for _ in range(400):
        gold = constant(draw)
        other = "+".join(gold.split("+")[::-1]) if draw.random() < 0.5 else constant(draw)
        one, two = read(gold), read(other)
        with in_digits(60):
            values = value_at(one, {}), value_at(two, {})
            found = equal_rational(one, two)
            if None in values:
                assert found is not True, (gold, other)
            elif found is not None:
                decided[found] += 1
                assert found == (abs(values[0] - values[1]) < 1e-40), (gold, other)
    assert min(decided.values()) > 40


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        (r"\sqrt{3553}", r"\sqrt{11}\sqrt{17}\sqrt{19}"),
        (r"\sqrt{\frac{2}{3}}", r"\frac{\sqrt{6}}{3}"),
        (r"\frac{e^x+1}{\ln x}", r"\frac{1}{\ln x}(1+e^x)"),
        (r"2\pi r(r+h)", r"2\pi r^2+2\pi rh"),
    ],
)
def test_what_is_decided_at_once(gold, answer):
    assert equal_rational(read(gold), read(answer)) is True
    assert equal_rational(read(gold), read(answer + "+1")) is not True


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("x", r"x+0\ln x"),
        ("x", r"\sqrt{x}\sqrt{x}"),
        ("1", r"\frac{\ln x}{\ln x}"),
        ("0", r"\sin(\pi+\pi(\pi-1))"),
        (r"\sqrt{2}", "1.414214"),
        (r"\sqrt{-2}", r"\sqrt{2}"),
        (r"\sin 15°", r"\frac{\sqrt{6}-\sqrt{2}}{4}"),
        (r"\sin 60", r"\frac{\sqrt{3}}{2}"),
        (r"\tan 90°", "1"),
        (r"\sqrt{x^2}", "x"),
    ],
)
def test_what_takes_more_than_new_letters(gold, answer):
    assert equal_rational(read(gold), read(answer)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\arccos(1-2a)", r"2\arcsin\sqrt{a}"),
        (r"\arccos x", r"\frac{\pi}{2}-\arcsin x"),
        (r"\ln\frac{x}{2}", r"\ln x-\ln 2"),
        (r"\cot t\ln(\cos t)", r"\frac{\cos t\ln(\cos t)}{\sin t}"),
        ("x^{2/3}", r"\sqrt[3]{x^2}"),
        (r"\log_{2}x", r"\frac{\ln x}{\ln 2}"),
        (r"\frac{1}{2}\ln(x^2+1)", r"\ln\sqrt{x^2+1}"),
        (r"\sqrt{\frac{x-1}{x+1}}", r"\frac{\sqrt{x^2-1}}{|x+1|}"),
        (r"\ln(x^2)", r"2\ln|x|"),
        (r"\ln(x^3)", r"3\ln x"),
        (r"\ln\frac{1}{x^2}", r"-2\ln|x|"),
        (r"\ln\sqrt[3]{x^2}", r"\frac{2}{3}\ln|x|"),
        (r"\sqrt{x^4}", "x^2"),
        (r"\sqrt{x^5}", r"x^2\sqrt{x}"),
        (r"\sqrt{8x^3}", r"2x\sqrt{2x}"),
        (r"\sqrt[3]{x^3}", "x"),
        (r"\sqrt[3]{-8x}", r"-2\sqrt[3]{x}"),
        (r"\sqrt[4]{16x^4}", "2|x|"),
        (r"\sqrt[4]{x^2}", r"\sqrt{|x|}"),
        ("|x^2+1|", "x^2+1"),
        (r"\frac{|x|}{x}", r"\frac{x}{|x|}"),
    ],
)
def test_pieces_are_rewritten(one, other):
    assert equal_numeric(read(one), read(other), 1e-6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("|x-1|+|x-2|", "|x-1|+|2-x|+0\\ln(x+10^{9})"),
        ("|x|+|x-1|+|x+1|", "|x|+2|x|"),
        (r"\arctan\frac{1}{x}", r"\frac{\pi}{2}-\arctan x"),
        ("e^x", "e^x+|x-10^{9}|+x-10^{9}"),
        (r"\ln(x^2)", r"2\ln x"),
        (r"\ln(x^3)", r"3\ln|x|"),
        (r"\sqrt[3]{x^3}", "|x|"),
        (r"\sqrt[4]{x^2}", r"\sqrt{x}"),
        (r"\sqrt[6]{x^2}", r"\sqrt[3]{x}"),
        (r"\sqrt[4]{16x^4}", "2x"),
        (r"\sqrt[3]{-8x}", r"2\sqrt[3]{x}"),
        (r"(\sqrt{x})^2", "x"),
        ("|x|^3", "x^3"),
        ("|x^2-1|", "x^2-1"),
        (r"\frac{x^2}{|x|}", "x"),
    ],
)
def test_points_in_pieces_prove_nothing(one, other):
    assert not equal_numeric(read(one), read(other), 1e-6)
