r"""Pairs of a stranger who has the source: slips and rewrites as models make them, drawn at random.

A template is a gold and an answer; {a} < {b} < {c} are whole numbers from 2 to 12, {d} = {a}{b},
{s} = {a}² and so on, {x} and {y} letters, {p} a prime from 23 on. What a template says is right or
wrong holds for every draw. `python packages/grader/tests/stranger.py` writes the frozen pairs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

FROZEN = Path(__file__).with_name("stranger_pairs.jsonl")
DRAWS = 4

WRONG: dict[str, tuple[tuple[str, str], ...]] = {
    "slips of arithmetic": (
        ("{d}", "{a}+{b}"),
        ("{d}", "-{d}"),
        ("{d}", "{d}0"),
        ("{d}.5", "{d}.05"),
        (r"\frac{{{a}}}{{{p}}}", r"\frac{{{p}}}{{{a}}}"),
        (r"\frac{{{a}}}{{{p}}}", r"\frac{{{b}}}{{{p}}}"),
        (r"-\frac{{{a}}}{{{p}}}", r"\frac{{{a}}}{{{p}}}"),
        (r"{a}\frac{{1}}{{{b}}}", r"\frac{{{a}}}{{{b}}}"),
        (r"{a}^{{{b}}}", r"{b}^{{{a}}}0"),
        (r"{p}\%", r"0.{p}\%"),
        ("{p}!", "{p}!!"),
        (r"\binom{{{p}}}{{{a}}}", r"\binom{{{p}}}{{{b}}}"),
    ),
    "digits that look alike": (
        (r"0.\overline{{{a}}}", "0.{a}"),
        (r"0.1\overline{{{a}}}", r"0.\overline{{1{a}}}"),
        ("0.1({a})", "0.1{a}"),
        ("{a}.{p}", "{a},{p}"),
        (r"{a}\times 10^{{{b}}}", r"{a}\times 10^{{-{b}}}"),
        (r"\frac{{1}}{{{p}}}", "0.04"),
        (r"\pi", "3.14"),
        (r"\sqrt{{{p}}}", "{p}"),
        (r"\pi", r"\frac{{22}}{{7}}"),
        (r"\sqrt{{2}}", r"\frac{{99}}{{70}}"),
    ),
    "roots": (
        (r"{a}\sqrt{{{p}}}", r"\sqrt{{{a}\cdot {p}}}"),
        (r"\sqrt{{{a}}}+\sqrt{{{p}}}", r"\sqrt{{{a}+{p}}}"),
        (r"\sqrt{{{s}+{p}}}", r"{a}+\sqrt{{{p}}}"),
        (r"\frac{{1}}{{\sqrt{{{p}}}}}", r"\frac{{\sqrt{{{p}}}}}{{{a}}}"),
        (r"{a}+\sqrt{{{p}}}", r"{a}-\sqrt{{{p}}}"),
        (r"{a}\pm\sqrt{{{p}}}", r"{a}+\sqrt{{{p}}}"),
        (r"\sqrt[3]{{{p}}}", r"\sqrt{{{p}}}"),
        (r"\sqrt{{{x}^2}}", "{x}"),
        (r"\sqrt{{{x}}}\sqrt{{{x}}}", "{x}"),
        (r"\frac{{1+\sqrt{{5}}}}{{2}}", r"\frac{{1-\sqrt{{5}}}}{{2}}"),
        (r"\sqrt{{{x}^2+{s}}}", "{x}+{a}"),
        (r"\sqrt{{{a}}}i", r"\sqrt{{{a}}}"),
    ),
    "sines and logarithms": (
        (r"\sin\frac{{\pi}}{{{p}}}", r"\cos\frac{{\pi}}{{{p}}}"),
        (r"\sin {a}^\circ", r"\sin {a}"),
        (r"\cos\frac{{2\pi}}{{7}}", r"\cos\frac{{3\pi}}{{7}}"),
        (r"\tan 15^\circ", r"2+\sqrt{{3}}"),
        (r"\sin 18^\circ", r"\frac{{\sqrt{{5}}+1}}{{4}}"),
        (r"\ln {p}", r"\log {p}"),
        (r"\log_{{{a}}} {p}", r"\log_{{{b}}} {p}"),
        (r"\ln({x}+{a})", r"\ln {x}+\ln {a}"),
        (r"2\ln {x}", r"\ln {x}^2"),
        (r"e^{{{a}{x}}}", r"e^{{{x}+{a}}}"),
        (r"e^{{{x}}}", r"e^{{-{x}}}"),
        (r"\sin {a}{x}", r"{a}\sin {x}"),
        (r"\sin^2 {x}", r"\sin {x}^2"),
        (r"\arcsin {x}", r"\frac{{1}}{{\sin {x}}}"),
        (r"{x}", r"{x}+0\ln {x}"),
        (r"1", r"\frac{{\ln {x}}}{{\ln {x}}}"),
        (r"\frac{{{a}\pi}}{{{p}}}", r"\frac{{{a}}}{{{p}}}"),
    ),
    "polynomials and formulas": (
        ("{a}{x}^2+{b}", "{a}{x}^2-{b}"),
        ("({x}+{a})^2", "{x}^2+{s}"),
        ("({x}-{a})({x}+{b})", "({x}+{a})({x}-{b})"),
        (r"\frac{{{x}+{a}}}{{{b}}}", r"{x}+\frac{{{a}}}{{{b}}}"),
        (r"\frac{{{a}}}{{{b}}}{x}", r"\frac{{{a}}}{{{b}{x}}}"),
        ("{x}^{{{p}}}", "{p}^{{{x}}}"),
        ("{x}^{{{a}n}}", "{x}^{{{a}}}n"),
        (r"\frac{{n(n+1)}}{{2}}", r"\frac{{n(n-1)}}{{2}}"),
        ("{a}^n-1", "{a}^{{n-1}}"),
        ("{a}({x}+{y})", "{a}{x}+{y}"),
        ("{x}_1+{x}_2", "{x}_1{x}_2"),
        ("{x}^2{y}", "{x}{y}^2"),
        (r"\frac{{{x}^2-{s}}}{{{x}-{a}}}", "{x}-{a}"),
        ("|{x}-{a}|", "{a}-{x}"),
        ("(n+{a})!", "n!+{a}!"),
        (r"\lfloor {x}\rfloor", r"\lceil {x}\rceil"),
        ("f({x}+{a})", "f({x})+{a}"),
        (r"\overline{{z}}", "z"),
    ),
    "lists, pairs and matrices": (
        ("{a},{b},{c}", "{a},{b}"),
        ("{a},{b}", "{a},{b},{c}"),
        ("({a},{b})", "({b},{a})"),
        ("({a},{b})", r"\{{{a},{b}\}}"),
        (r"\{{{a},{b}\}}", r"\{{{a},{c}\}}"),
        (r"\pm {a}", "{a}"),
        ("({a},{b}),({b},{c})", "({a},{b}),({c},{b})"),
        ("({a},{b},{c})", "({a},{b})"),
        ("{x}={a},{y}={b}", "{x}={b},{y}={a}"),
        ("({a},{b})", "{a},{b}"),
        (
            r"\begin{{pmatrix}}{a}&{b}\\{c}&0\end{{pmatrix}}",
            r"\begin{{pmatrix}}{a}&{c}\\{b}&0\end{{pmatrix}}",
        ),
        (r"\begin{{pmatrix}}{a}\\{b}\end{{pmatrix}}", r"\begin{{pmatrix}}{b}\\{a}\end{{pmatrix}}"),
        (r"\begin{{pmatrix}}{a}\\{b}\end{{pmatrix}}", r"\begin{{pmatrix}}{a}&{b}\end{{pmatrix}}"),
        ("({a},{b})^T", "({a},{b})"),
        (r"(\pm {a},{b})", "({a},{b})"),
    ),
    "sets of numbers": (
        ("({a},{b})", "[{a},{b}]"),
        ("[{a},{b})", "({a},{b}]"),
        (r"({a},\infty)", r"(-\infty,{a})"),
        (r"({a},\infty)", r"[{a},\infty)"),
        ("{x}>{a}", "{x}<{a}"),
        (r"{x}\ge {a}", "{x}>{a}"),
        ("{a}<{x}<{b}", "{a}<{x}<{c}"),
        (r"({a},{b})\cup({b},{c})", "({a},{c})"),
        (r"({a},{b})\cup({b},{c})", r"({a},{b})\cap({b},{c})"),
        (r"(-\infty,{a})\cup({b},\infty)", "({a},{b})"),
        (r"\mathbb{{R}}\setminus\{{{a}\}}", r"\mathbb{{R}}"),
        (r"\mathbb{{R}}\setminus\{{{a}\}}", r"\mathbb{{R}}\setminus\{{{b}\}}"),
        (r"{x}\ne {a}", "{x}={a}"),
        ("{x}<{a} or {x}>{b}", "{x}<{a} and {x}>{b}"),
        (r"\{{{x}\mid {x}>{a}\}}", r"\{{{x}\mid {x}<{a}\}}"),
        (r"\{{{x}\mid {x}>{a}\}}", r"\{{{y}\mid {x}>{b}\}}"),
        (r"(\sqrt{{{p}}},\infty)", r"({a},\infty)"),
        (r"[{a},{b}]\cup\{{{c}\}}", "[{a},{c}]"),
    ),
    "equations": (
        ("{y}={a}{x}+{b}", "{y}={b}{x}+{a}"),
        ("{y}={a}{x}", "{x}={a}{y}"),
        ("{x}+{y}={a}", "{x}-{y}={a}"),
        ("{x}={a}", "{x}=-{a}"),
        ("{x}={a}", "{y}={a}"),
        ("f({x})={a}{x}+{b}", "f({x})={a}{x}-{b}"),
        ("f({x})={a}{x}", "f'({x})={a}{x}"),
        ("{x}^2+{y}^2={s}", "{x}^2+{y}^2={a}"),
        ("{a}", "{x}+{y}={a}"),
        (r"{x}\equiv {a}\pmod{{{p}}}", r"{x}\equiv {b}\pmod{{{p}}}"),
        ("{x}={a}", "{x}={a}={b}"),
        ("{x}=0", "{a}{x}={a}"),
    ),
    "marks": (
        ("{a}:{b}", "{b}:{a}"),
        ("{a}:15", "{a}:51"),
        (r"{p}^\circ", r"{p}\%"),
        ("{p}_{{{c}}}", "{p}"),
        (r"{p}^\circ {a}'", r"{a}^\circ {p}'"),
        ("2024-0{e}-12", "2024-12-0{e}"),
        ("(1 {a} {b})", "(1 {b} {a})"),
        (r"\${p}", "€{p}"),
        ("{p}'", "{p}''"),
        (r"{p}\text{{ cm}}", r"{p}\text{{ m}}"),
        (r"{p}\text{{ cm}}^2", r"{p}\text{{ cm}}^3"),
    ),
    "words": (
        (r"\text{{increasing}}", r"\text{{decreasing}}"),
        (r"\text{{no solution}}", r"\text{{all real numbers}}"),
        (r"\text{{Yes}}", r"\text{{No}}"),
        ("B", "(C)"),
        ("B", "B and C"),
        ("B", r"\text{{not B}}"),
        ("{a}", r"{a}\text{{ or }}{b}"),
        ("{a}", r"{a}\text{{ is wrong, it is }}{b}"),
        ("{a}", r"\text{{about }}{a}"),
        ("{a}", r"\text{{more than }}{a}"),
        (r"{p}", r"{p}\text{{ million}}"),
        (r"\text{{Monday}}", r"\text{{Sunday}}"),
    ),
}
RIGHT: dict[str, tuple[tuple[str, str], ...]] = {
    "numbers": (
        (r"\frac{{{a}}}{{{p}}}", "{a}/{p}"),
        (r"-\frac{{{a}}}{{{p}}}", r"\frac{{-{a}}}{{{p}}}"),
        ("{d}", "{d}.0"),
        (r"{a}\frac{{1}}{{{b}}}", "{a} 1/{b}"),
        (r"{a}.5\times 10^{{{b}}}", r"{a}.5\cdot 10^{{{b}}}"),
        ("{p}000", "{p},000"),
        (r"0.\overline{{3}}", r"\frac{{1}}{{3}}"),
        ("0.1(6)", r"\frac{{1}}{{6}}"),
        (r"{p}\%", r"{p}\text{{ percent}}"),
        ("{d}", r"\text{{{d}}}"),
        (r"\frac{{{a}}}{{{p}}}", r"\tfrac{{{a}}}{{{p}}}"),
        (r"{p}", r"\mathbf{{{p}}}"),
    ),
    "roots and sines": (
        (r"{a}\sqrt{{{p}}}", r"\sqrt{{{s}\cdot {p}}}"),
        (r"\frac{{1}}{{\sqrt{{{p}}}}}", r"\frac{{\sqrt{{{p}}}}}{{{p}}}"),
        (r"\frac{{1}}{{\sqrt{{{p}}}-1}}", r"\frac{{\sqrt{{{p}}}+1}}{{{p}-1}}"),
        (r"\sin 75^\circ", r"\frac{{\sqrt{{6}}+\sqrt{{2}}}}{{4}}"),
        (r"2-\sqrt{{3}}", r"\tan\frac{{\pi}}{{12}}"),
        (r"\sqrt{{{a}}}", r"{a}^{{1/2}}"),
        (r"\cos\frac{{\pi}}{{5}}", r"\frac{{1+\sqrt{{5}}}}{{4}}"),
        (r"\frac{{\pi}}{{{p}}}", r"\pi/{p}"),
        (r"\ln {s}", r"2\ln {a}"),
        (r"e^{{{x}+{a}}}", r"e^{a}e^{x}"),
        (r"{a}\pi", r"\pi\cdot {a}"),
        (r"\sqrt{{{x}^2}}", "|{x}|"),
        (r"\frac{{1}}{{1+\sqrt{{{x}}}}}", r"\frac{{1-\sqrt{{{x}}}}}{{1-{x}}}"),
    ),
    "formulas": (
        ("({x}+{a})^2", "{x}^2+{t}{x}+{s}"),
        ("({x}-{a})({x}+{a})", "{x}^2-{s}"),
        (r"\frac{{{x}+{a}}}{{{b}}}", r"\frac{{{x}}}{{{b}}}+\frac{{{a}}}{{{b}}}"),
        (r"\frac{{n(n+1)}}{{2}}", r"\frac{{n^2+n}}{{2}}"),
        (r"\binom{{n}}{{2}}", r"\frac{{n(n-1)}}{{2}}"),
        ("(n+1)!", "(n+1)n!"),
        ("|{x}-{a}|", "|{a}-{x}|"),
        (r"\frac{{{a}}}{{{x}}}", "{a}{x}^{{-1}}"),
        ("{a}({x}+{y})", "{a}*{x}+{a}*{y}"),
        (r"\frac{{{x}^2-{s}}}{{{x}-{a}}}", "{x}+{a}"),
        (r"{a}^{{n+1}}", r"{a}\cdot {a}^n"),
        ("({a}+i)^2", "{s}-1+{t}i"),
    ),
    "lists and sets": (
        ("{a},{b},{c}", "{c},{a},{b}"),
        ("{a},{b}", r"\{{{b},{a}\}}"),
        (r"\pm {a}", "-{a},{a}"),
        ("{x}={a},{y}={b}", "({x},{y})=({a},{b})"),
        ("({a},{b})", r"\left({a}, {b}\right)"),
        (r"({a},\infty)", "{x}>{a}"),
        ("[{a},{b}]", r"{a}\le {x}\le {b}"),
        (r"\mathbb{{R}}\setminus\{{{a}\}}", r"{x}\ne {a}"),
        (r"(-\infty,{a})\cup({a},\infty)", r"{x}\ne {a}"),
        ("{x}<{a} or {x}>{b}", r"(-\infty,{a})\cup({b},\infty)"),
        (r"\{{{x}\mid {x}>{a}\}}", r"({a},\infty)"),
        (r"[{a},{b}]\cup[{b},{c}]", "[{a},{c}]"),
        (r"(0,\sqrt{{{s}}})", "(0,{a})"),
        ("{a}{x}>{d}", "{x}>{b}"),
        (r"\begin{{pmatrix}}{a}\\{b}\end{{pmatrix}}", r"\begin{{bmatrix}}{a}\\{b}\end{{bmatrix}}"),
        (r"(\pm {a},{b})", "(-{a},{b}),({a},{b})"),
    ),
    "equations, marks and words": (
        ("{y}={a}{x}+{b}", "{a}{x}-{y}+{b}=0"),
        ("{x}={a}", "{a}"),
        ("{a}", "{a}={x}"),
        ("f({x})={a}{x}", "{a}{x}"),
        ("{b}:{a}", r"\frac{{{b}}}{{{a}}}"),
        (r"{x}\equiv {a}\pmod{{{p}}}", r"{x}\equiv {q}\pmod{{{p}}}"),
        (r"{p}^\circ", "{p}"),
        (r"{p}\text{{ cm}}", "{p} cm"),
        (r"\text{{Yes}}", "yes"),
        ("B", r"\textbf{{(B)}}"),
        (r"\${p}", "{p}"),
        ("sqrt({p})", r"\sqrt{{{p}}}"),
        (r"\text{{no solution}}", "No solution"),
    ),
}


def pairs() -> Iterator[tuple[str, str, str, bool]]:
    """Yield kind, gold, answer and whether it is right, each template with some draws."""
    seen = set()
    for right, kinds in ((False, WRONG), (True, RIGHT)):
        for kind, templates in kinds.items():
            for gold, answer in templates:
                rng = random.Random(f"{gold} {answer}")
                for _ in range(DRAWS):
                    drawn = draw(rng)
                    pair = gold.format(**drawn), answer.format(**drawn)
                    if pair not in seen:
                        seen.add(pair)
                        yield kind, *pair, right


def draw(rng: random.Random) -> dict[str, object]:
    a, b, c = sorted(rng.sample((2, 3, 5, 6, 7, 10, 11), 3))
    x, y = rng.choice(("xy", "xy", "uv", "tz"))
    prime = rng.choice((23, 29, 31, 37, 41))
    return {"a": a, "b": b, "c": c, "d": a * b, "u": b * b, "e": rng.randint(1, 9), "s": a * a,
            "t": 2 * a, "p": prime, "q": a + prime, "x": x, "y": y}  # fmt: skip


if __name__ == "__main__":
    rows = [dict(zip(("kind", "gold", "answer", "right"), each, strict=True)) for each in pairs()]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    FROZEN.write_text("".join(lines), encoding="utf-8")
