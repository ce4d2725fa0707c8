r"""Near misses of an attacker who has read the grader: one class for each production and limit.

A template is a gold and answers that look like it and are wrong. Numbers {a} < {b} < {c} from 2 to
19, letters {x} and {y}, capitals {P} and {Q} are drawn for each trial. The limits are imported, so
that a near miss stays just beyond a limit that is moved.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from setrl_grader import grammar, numeric
from setrl_grader.compare import MAX_DEPTH, MAX_ITEMS

PRODUCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "sum": ("{a}{x}+{b}", ("{a}{x}-{b}", "{a}({x}+{b})", "{a}{x}+{b}{x}", "{a}{x}{b}")),
    "sign": ("-{a}{x}+{b}", ("-({a}{x}+{b})", "{a}{x}+{b}", "--{a}{x}+{b}", "-{a}{x}-{b}")),
    "product": ("{a}{x}{y}", ("{a}{x}+{y}", "{a}{x}", "{a}{x}{y}^2", "{a}{x}_{y}")),
    "quotient": (r"\frac{{{a}{x}}}{{{b}}}", (r"\frac{{{b}}}{{{a}{x}}}", "{a}{x}{b}")),
    "slash": ("{a}/({b}{x})", ("{a}/{b}{x}", "({a}/{b}){x}", "{b}{x}/{a}")),
    "power": ("{x}^{{{c}}}", ("{x}^{{{b}}}", "{x}{c}", "{c}^{x}", "{x}_{{{c}}}", "{x}^{c}0")),
    "power of a power": ("{x}^{{{a}^{{{b}}}}}", ("({x}^{{{a}}})^{{{b}}}", "{x}^{{{a}}}^{{{b}}}")),
    "power of a sign": ("(-{a})^{{{b}{x}}}", ("-{a}^{{{b}{x}}}", "{c}^{{{b}{x}}}")),
    "factorial": ("{x}!", ("{x}!!", "({x}!)!", "{x}", "({x}-1)!")),
    "factorial of a sum": ("({x}+{a})!", ("{x}+{a}!", "{x}!+{a}!")),
    "root": (r"\sqrt{{{x}+{a}}}", (r"\sqrt{{{x}}}+{a}", "({x}+{a})^2", r"\sqrt[3]{{{x}+{a}}}")),
    "root of a degree": (
        r"\sqrt[3]{{{a}}}",
        (r"3\sqrt{{{a}}}", r"\sqrt{{{a}}}", r"\sqrt[4]{{{a}}}"),
    ),
    "binomial": (r"\binom{{{x}}}{{{a}}}", (r"\frac{{{x}}}{{{a}}}", r"\binom{{{a}}}{{{x}}}", "0")),
    "absolute value": ("|{x}-{a}|", ("{x}-{a}", "{a}-{x}", "|{x}|-{a}", "|{x}+{a}|")),
    "nested absolute values": ("||{x}|-{a}|", ("|{x}|-{a}", "|{x}-{a}|", "{a}-|{x}|")),
    "floor": (r"\lfloor {x} \rfloor", (r"\lceil {x} \rceil", "{x}", r"\lfloor {x} \rfloor+1")),
    "steps beyond the points": (
        "{x}",
        (r"{x}+\lfloor \frac{{{x}^2}}{{10^9}} \rfloor", r"{x}+\binom{{1}}{{{x}-10^5}}"),
    ),
    "degrees": (r"\sin({a}^\circ)", (r"\sin({a})", r"\cos({a}^\circ)", r"\sin({b}^\circ)")),
    "function": (r"\sin {a}{x}", (r"\sin({a}){x}", r"{a}\sin {x}", r"\cos {a}{x}")),
    "power of a function": (r"\sin^2 {x}", (r"\sin {x}^2", r"\sin\sin {x}", r"\cos^2 {x}")),
    "inverse of a function": (r"\sin^{{-1}} {x}", (r"\frac{{1}}{{\sin {x}}}", r"\sin(-{x})")),
    "logarithm": (r"\log_{{{a}}} {x}", (r"\log_{{{b}}} {x}", r"\log {a}{x}", r"{a}\log {x}")),
    "logarithm of a sum": (r"\ln({x}+{a})", (r"\ln {x}+{a}", r"\ln {x}+\ln {a}", r"\ln({a}{x})")),
    "unknown function": ("f({x}+{a})", ("f({x})+f({a})", "f{x}+f{a}", "f({x})+{a}", "g({x}+{a})")),
    "two arguments": ("F({x},{y})", ("F({y},{x})", "F{x}{y}", "F({x}){y}")),
    "index": ("{x}_{{{a}}}+{b}", ("{x}_{{{b}}}+{a}", "{x}{a}+{b}", "{a}{x}+{b}", "{x}+{b}")),
    "prime": ("f'({x})", ("f({x})", "f''({x})", "f'{x}")),
    "accent": (r"\bar{{{x}}}", ("{x}", r"\hat{{{x}}}", r"\bar{{{y}}}")),
    "differential": ("{a}t\\,dt", ("{a}t^2d", "{a}t^2", "{a}dt", "{a}dt^2")),
    "derivative": (r"\frac{{d{y}}}{{d{x}}}", (r"\frac{{{y}}}{{{x}}}", r"\frac{{d{x}}}{{d{y}}}")),
    "sum over a letter": (
        r"\sum_{{j=1}}^{{n}} j^{{{a}}}",
        (
            r"\sum_{{j=0}}^{{n}} j^{{{a}}}+1",
            r"\sum_{{j=1}}^{{n}} j^{{{b}}}",
            r"\prod_{{j=1}}^{{n}} j^{{{a}}}",
            r"n\cdot n^{{{a}}}",
        ),
    ),
    "product of matrices": ("{P}{Q}", ("{Q}{P}", "{P}+{Q}", "{P}")),
    "product of matrices and numbers": ("{a}k{P}{Q}", ("{a}k{Q}{P}", "{a}{Q}k{P}")),
    "roots of matrices": (r"\sqrt{{{a}}}{P}{Q}+{P}", (r"\sqrt{{{a}}}{Q}{P}+{P}",)),
    "product of vectors": (
        r"\mathbf{{u}}\times\mathbf{{v}}",
        (r"\mathbf{{v}}\times\mathbf{{u}}", r"\mathbf{{u}}\cdot\mathbf{{v}}", "uv"),
    ),
    "matrix": (
        r"\begin{{pmatrix}}{a}&{b}\\{c}&1\end{{pmatrix}}",
        (
            r"\begin{{pmatrix}}{a}&{c}\\{b}&1\end{{pmatrix}}",
            r"\begin{{pmatrix}}{a}&{b}&{c}&1\end{{pmatrix}}",
            r"\begin{{pmatrix}}{a}&{b}\\{c}&1\end{{pmatrix}}^T",
            r"\begin{{vmatrix}}{a}&{b}\\{c}&1\end{{vmatrix}}",
            "({a},{b},{c},1)",
        ),
    ),
    "mixed number": (
        r"{c}\frac{{{a}}}{{{b}}}",
        (r"{c}\cdot\frac{{{a}}}{{{b}}}", r"{c}+1\frac{{{a}}}{{{b}}}"),
    ),
    "repeating decimal": (r"0.\overline{{{c}}}", ("0.{c}", r"0.\overline{{{c}{a}2}}", "0.{c}...1")),
    "percent": (r"{c}\%", (r"{c}\%\%", r"{c}^\circ", r"0.{c}0{a}\%", r"\frac{{{c}}}{{1000}}")),
    "share": ("0.{c}", (r"0.{c}\%", "{c}", r"\frac{{1}}{{0.{c}}}")),
    "currency": (r"\${c}", ("€{c}", r"{c}\%", r"\${c}0", "{c} cents")),
    "power of ten": (
        r"{a}.5\times 10^{{{b}}}",
        (r"{a}.5\times 10^{{-{b}}}", "{a}.5", r"{a}.5\cdot 10{b}"),
    ),
    "sum left to do": (
        "{s}",
        ("{a}+{b}", "{a}^1+{b}", r"\sqrt{{{a}^2}}+{b}", r"\sqrt[3]{{{s}^3}}", "{s}^1", "|-{s}|"),
    ),
    "product left to do": ("{m}", (r"{a}\cdot {b}\cdot 1^2", r"\frac{{{a}^2\cdot {b}}}{{{a}}}")),
    "powers left to do": ("{n}", ("{a}^2+{b}^2", r"{a}\cdot {a}+{b}^2", "({a}+{b})^2-2({m})")),
    "function left to do": (
        "{a}",
        (r"\ln e^{{{a}}}", r"\log_2 2^{{{a}}}", r"{a}\sin^2 1+{a}\cos^2 1", "{a}e^0", "{a}-0{x}"),
    ),
    "count left to do": ("{a}", (r"\binom{{{a}}}{{1}}", r"\frac{{{a}!}}{{({a}-1)!}}", "{a}(0!)")),
    "condition left to do": (
        "{x}<{a}",
        ("{x}-{a}<0", "{a}-{x}>0", "{b}{x}<{m}", "-{x}>-{a}", r"\frac{{{x}}}{{{a}}}<1"),
    ),
    "call or product": (
        "{P}({x}+{a})^{c}",
        ("({P}({x}+{a}))^{c}", "{P}({x}^{c}+{a}^{c})", "({P}{x}+{P}{a})^{c}"),
    ),
    "rounded or bracketed": ("{x}+{a}", ("[{x}]+{a}", r"\{{{x}\}}+{a}", "{a}[{x}]")),
    "statement or name": ("AB=CD", ("CD", "AB", "AB=CE")),
    "pieces of two letters": (
        "{x}{y}",
        ("{x}{y}+(|{x}-{a}|+{x}-{a})(|{y}-{b}|+{y}-{b})", r"\sqrt{{{x}^2{y}^2}}"),
    ),
    "time": ("{a}:{d}5", ("{d}5:{a}", r"\frac{{{a}}}{{{d}5}}", "{a}:{d}5:00:1")),
    "ratio": ("{a}:{b}:{c}", ("{a}:{c}:{b}", "{c}:{b}:{a}", "{a}:{b}")),
    "base": ("1{a}1_{{20}}", ("1{a}1_{{19}}", "1{a}1", "1{a}_{{20}}")),
    "remainder": (
        r"{x} \equiv {a} \pmod{{{c}}}",
        (r"{x} \equiv {b} \pmod{{{c}}}", "{a}", "{x}={a}"),
    ),
    "date": ("2024-0{d}-1{d}", ("2024-1{d}-0{d}", "20{d}", "2024/0{d}-1{d}")),
    "cycles": (r"(1\ {a}\ {b})", (r"(1\ {b}\ {a})", "1{a}{b}", "(1,{a},{b})")),
    "quantity in words": (
        "{a} feet {b} inches",
        ("{b} feet {a} inches", "{a} inches {b} feet", "{a}"),
    ),
    "tuple": ("({a},{b},{c})", ("({a},{c},{b})", "({a},{b})", r"\{{{a},{b},{c}\}}", "{a},{b},{c}")),
    "set": (
        r"\{{{a},{b}\}}",
        (r"\{{{a},{b},{b}\}}", "({a},{b})", r"\{{{a}\}}", r"\{{\{{{a},{b}\}}\}}"),
    ),
    "list": ("{a},{b}", ("{a},{b},{c}", "{a}", "{a},,{b}", "{a},{b},...", "{x}={a},{y}={a}")),
    "named values": (
        "{x}={a},{y}={b}",
        ("{x}={b},{y}={a}", "{b},{a}", "{x}={a}", "{x}={a},{x}={b}"),
    ),
    "one name for all": ("{x}={a},{b}", ("{x}={a},{y}={b}", "{y}={a},{b}", "{x}={a}")),
    "signs": (r"{x}\pm {a}", ("{x}+{a}", r"{x}\mp {a},{x}", r"\pm {x}+{a}", r"{x}\pm {b}")),
    "interval": ("[{a},{b})", ("({a},{b}]", "[{a},{b}]", "[{a},{c})", r"\{{{a},{b}\}}")),
    "union": (
        r"({a},{b})\cup({b},{c})",
        (r"({a},{c})", r"({a},{b}]\cup({b},{c})", r"({a},{b})\cap({b},{c})"),
    ),
    "inequality": ("{x}>{a}", (r"{x}\ge {a}", "{x}<{a}", "{y}>{a}", "{a}>{x}", "-{x}>-{a}")),
    "two inequalities": ("{a}<{x}<{b}", (r"{a}<{x}\le {b}", "{a}<{x}", "{x}<{b}", "{b}<{x}<{c}")),
    "equation": ("{y}={a}{x}+{b}", ("{y}={a}{x}-{b}", "{x}={a}{y}+{b}", "{y}={b}{x}+{a}", "0=0")),
    "equation without a sign": ("{x}={y}", ("{x}=-{y}", "{x}^2={y}^2", "0=0", "{x}-{y}")),
    "definition": (
        "f({x})={x}^{{{a}}}",
        ("f({y})={x}^{{{a}}}", "g({x})={x}^{{{a}}}", "f({x})={a}^{x}"),
    ),
    "choice": ("C", ("C or D", "(C)(D)", "C. 5, then again 6", "C) wrong", "B", "C. Definitely A")),
    "words": ("Monday", ("not Monday", "Monday or Tuesday", "Mondays", "M o n d a y s", "-Monday")),
    "labels": ("I and III", ("I or III", "I, II and III", "III", "I and IV")),
}


def _limits(rng: random.Random) -> Iterator[tuple[str, str, str]]:
    """Class, answer and gold just beyond each limit and each tolerance."""
    n, digits = rng.randint(2, 97), (numeric.CONFIRMING_DIGITS, numeric.MOST_DIGITS)
    yield "whole numbers are exact", f"{n}00000.4", f"{n}00000"
    yield "relative tolerance", f"{n}.0001{n}", f"{n}.0"
    yield "last place", f"{n}.33", rf"{n}\frac{{1}}{{3}}"
    yield "rounded root", "1.41421", r"\sqrt{2}"
    for size in (numeric.DIGITS, digits[0], 2 * digits[0], digits[1] // 2):
        yield "digits of a sum", rf"\sqrt{{{n}}}+10^{{-{size}}}", rf"\sqrt{{{n}}}"
        yield "digits below a root", rf"\sqrt{{{n}+10^{{-{size}}}}}", rf"\sqrt{{{n}}}"
        yield "digits of an exponential", rf"\sqrt{{{n}}}+e^{{-{3 * size}}}", rf"\sqrt{{{n}}}"
        yield "digits of tanh", rf"\tanh({2 * size})", "1"
    for far in (50, numeric.MAX_COUNT // 2, 10 * numeric.MAX_COUNT):
        yield "bump far away", rf"x+\left||x-{far}|+|x-{far}.5|-|2x-{far}.5-{far}|\right|", "x"
        yield "count hidden by a factorial", rf"n!+\binom{{n}}{{{far}}}", "n!"
        yield "count far away", rf"n+\binom{{1}}{{n-{far}}}", "n"
    for power in (7, 25, 100):
        yield "piece beyond", rf"x^2+|x-10^{{{power}}}|+x-10^{{{power}}}", "x^2"
        yield "piece beyond", rf"x^2+\sqrt{{(x-10^{{{power}}})^2}}+x-10^{{{power}}}", "x^2"
        yield "piece beyond", rf"x+|\ln x-{power * n}|+\ln x-{power * n}", "x"
        yield "piece beyond", rf"x+|\sqrt{{x}}-10^{{{power}}}|+\sqrt{{x}}-10^{{{power}}}", "x"
        yield "piece beyond", rf"e^x+|x-10^{{{power}}}|+x-10^{{{power}}}", "e^x"
    yield "one counter, two names", rf"(k\pi,k+{n})", rf"(n\pi,k+{n})"
    items = ",".join(map(str, range(1, MAX_ITEMS)))
    yield "items", items + f",{n + 100}", items + f",{n + 101}"
    nested = "(" * (MAX_DEPTH - 1) + f"{n},1" + "),1" * (MAX_DEPTH - 2) + ")"
    yield "depth", nested.replace(str(n), str(n + 1), 1), nested
    endless = "3" * (grammar.MAX_ENDLESS + 1)
    yield "endless digits", f"{n}.{endless}...", rf"{n}\frac{{1}}{{3}}"


def source_near_misses(trials: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield class, wrong answer and gold: each template with so many draws, and all limits."""
    rng = random.Random(f"source/{seed}")
    for _ in range(trials):
        a, b, c = sorted(rng.sample(range(2, 20), 3))
        x, y = rng.sample(["x", "y", "z", "u", "v"], 2)
        p, q = rng.sample("ABCMPQX", 2)
        drawn = {"a": a, "b": b, "c": c, "d": rng.randint(1, 2), "x": x, "y": y, "P": p, "Q": q,
                 "s": a + b, "m": a * b, "n": a * a + b * b}  # fmt: skip
        drawn["d"], other = rng.sample((1, 2), 2)
        for name, (gold, answers) in PRODUCTIONS.items():
            for answer in answers:
                texts = answer.format(**drawn), gold.format(**drawn)
                if texts[0] != texts[1] and (name != "date" or other != drawn["d"]):  # 15:15
                    yield name, *texts
        yield from _limits(rng)
