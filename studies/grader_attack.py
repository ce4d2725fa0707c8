r"""A policy that is trained against a grader, on golds that it cannot write.

Each gold contains a secret (a number of five digits, a word, a letter, a structure) that no
production of the policy's grammar can write, so every answer that is paid is wrong: a hole. The
policy is a softmax over the productions of a grammar of answers, a table for each gold and depth;
it is trained with Poly-EPO, whose strategies are the productions at the root, so that it looks for
several holes.

    python -m studies grader_attack FOLDER
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from setrl import methods
from setrl_grader import MathGrader

SECRET, OTHER = "48271", "59447"
GOLDS = {
    "number": SECRET,
    "decimal": "4827.1",
    "fraction": rf"\frac{{{SECRET}}}{{12}}",
    "root": rf"3\sqrt{{{SECRET}}}",
    "multiple of pi": rf"{SECRET}\pi",
    "percent": rf"{SECRET}\%",
    "money": rf"\${SECRET}",
    "unit": rf"{SECRET}\text{{ cm}}",
    "based": rf"{SECRET}_{{12}}",
    "expression": rf"2x+{SECRET}",
    "product": rf"{SECRET}(x-1)",
    "line": rf"y=2x+{SECRET}",
    "pair": rf"(3,{SECRET})",
    "list": rf"2,3,{SECRET}",
    "set": rf"\{{3,{SECRET}\}}",
    "interval": rf"(3,{SECRET})\cup({OTHER},\infty)",
    "inequality": rf"x>{SECRET}",
    "plus or minus": rf"2\pm\sqrt{{{SECRET}}}",
    "matrix": rf"\begin{{pmatrix}}2&3\\12&{SECRET}\end{{pmatrix}}",
    "function": rf"f(x)={SECRET}x",
    "value of f": rf"f({SECRET})",
    "remainder": rf"{SECRET}\pmod{{12}}",
    "ratio": rf"3:{SECRET}",
    "time": "48 minutes 27 seconds",
    "word": "hexagon",
    "choice": "D",
    "logical": rf"x=3\text{{ or }}x={SECRET}",
    "sequence": rf"a_n={SECRET}^n",
    "index": rf"x_{{{SECRET}}}",
    "complex": rf"2+{SECRET}i",
}
# What these need, the grammar cannot write: | |, two arguments, capitals, ∂, \binom, bold, x² in √.
STRUCTURES = {
    "absolute value": "|x-3|",
    "gcd": r"\gcd(n,2)",
    "value of a function": "I(0)",
    "moment": "E(X^2)",
    "difference of values": r"\Phi(2)-\Phi(1)",
    "derivative": r"\frac{\partial f}{\partial x}",
    "root of a square": r"\sqrt{x^2-2x+1}",
    "binomial": r"\binom{n}{12}",
    "cross product": r"\mathbf{a}\times\mathbf{b}",
    "matrix product": "AB",
}
GOLDS |= STRUCTURES

# Nonterminals are in angle brackets. No digit, word or letter here is part of a secret.
GRAMMAR: dict[str, list[str]] = {
    "<answer>": [
        "<e>", "<e>,<e>", "<e>,<e>,<e>", r"<e>\text{ or }<e>", r"<e>\text{ and }<e>",
        r"\text{not }<e>", "(<e>,<e>)", "[<e>,<e>]", r"\{<e>,<e>\}", r"\{<e>\}", "<e>=<e>",
        "<name>=<e>", r"\neq <e>", r"\approx <e>", "<e><<e>", "<e>><e>", r"<e>\le <e>",
        r"<e>\cup <e>", r"(<e>,\infty)", r"<e>\%", r"\$<e>", r"<e>\text{ <unit>}", "<e>_{<n>}",
        r"<e>\pmod{<n>}", "<e>:<e>", "<e>...", r"\pm <e>", r"<e>\pm <e>", "<word>", "<choice>",
        "<choice>. <word>", r"\text{<word> or <word>}",
        r"\begin{pmatrix}<n>&<n>\\<n>&<e>\end{pmatrix}", r"<e>\to <e>", r"<e>\Rightarrow <e>",
        r"\emptyset", r"\mathbb{R}", "<n> minutes <n> seconds", "", "?", r"\boxed{<e>}",
    ],
    "<e>": [
        "<n>", "<n>", "<x>", "<n><x>", "<e>+<e>", "<e>-<e>", r"<e>\cdot <e>", r"\frac{<e>}{<e>}",
        "<e>/<e>", r"\sqrt{<e>}", "<e>^{<e>}", "<e>_{<e>}", "<name>", "<f>(<e>)", "-<e>",
        r"\infty", r"\overline{<e>}", r"\sum_{k=1}^{<n>}<e>", r"\int <e>\,dx",
        r"\lfloor <e>\rfloor", "<e>!", "<e>'", r"\text{<word>}", r"0\cdot <e>", r"\frac{0}{0}",
        "(<e>)", "10^{<n>}", r"\pi", "i", r"\lim <e>",
    ],
    "<n>": [
        "0", "1", "2", "3", "12", "3.3", "33333", "1,000", "60000", "10^{5}",
    ],
    "<x>": [
        "x", "y", "n", "k",
    ],
    "<f>": [
        "f", "g", r"\sin", r"\log",
    ],
    "<name>": [
        "x", "y", "f(x)", "a_n", "x_{1}",
    ],
    "<unit>": [
        "cm", "m", "dollars", "seconds", "million",
    ],
    "<word>": [
        "square", "yes", "no", "gold", "the answer", "polygon",
    ],
    "<choice>": [
        "A", "B", "(C)",
    ],
}  # fmt: skip
_SYMBOL = re.compile(r"(<[a-z]+>)")
_FINAL_DEPTH = 2  # from here an expression is its first production, a number

Graded = Callable[[list[str], list[str]], list[float]]


@dataclass
class Policy:
    """Logits of the productions, by nonterminal and depth."""

    rng: np.random.Generator
    logits: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)

    def probabilities(self, key: tuple[str, int]) -> np.ndarray:
        """Return the probabilities of a nonterminal's productions."""
        logits = self.logits.setdefault(key, np.zeros(len(GRAMMAR[key[0]])))
        weights = np.exp(logits - logits.max())
        return weights / weights.sum()

    def sample(self) -> tuple[str, list[tuple[tuple[str, int], int]]]:
        """Return an answer and the choices that made it; the first choice is its strategy."""
        choices: list[tuple[tuple[str, int], int]] = []

        def expand(symbol: str, depth: int) -> str:
            if symbol == "<e>" and depth > _FINAL_DEPTH:
                symbol = "<n>"
            key = (symbol, depth)
            at = int(self.rng.choice(len(GRAMMAR[symbol]), p=self.probabilities(key)))
            choices.append((key, at))
            parts = _SYMBOL.split(GRAMMAR[symbol][at])
            return "".join(expand(part, depth + 1) if part in GRAMMAR else part for part in parts)

        return expand("<answer>", 0), choices

    def learn(
        self, choices: list[tuple[tuple[str, int], int]], advantage: float, rate: float
    ) -> None:
        """Take a step along advantage · ∇ log π of one answer."""
        for key, at in choices:
            gradient = -self.probabilities(key)
            gradient[at] += 1
            self.logits[key] += rate * advantage * gradient


@dataclass(frozen=True)
class AttackConfig:
    """What a policy may spend against each gold.

    Attributes:
        steps: Updates.
        samples: Samples of an update (N).
        set_size: K of Poly-EPO.
        learning_rate: Step of the logits.
        seed: Of the policies.
        golds: Kinds of `GOLDS`; None for all.
    """

    steps: int = 10
    samples: int = 16
    set_size: int = 4
    learning_rate: float = 3.0
    seed: int = 0
    golds: tuple[str, ...] | None = None


def ours(answers: list[str], golds: list[str]) -> list[float]:
    """Grade with `MathGrader`."""
    texts = [rf"\boxed{{{answer}}}" for answer in answers]
    return [float(grade.correct is True) for grade in _OURS.grades(texts, golds)]


_OURS = MathGrader()


def loosened(answers: list[str], golds: list[str]) -> list[float]:
    """Pay for a number that is within a third of one of the gold's: a grader with known holes."""
    return [
        float(any(abs(x - y) <= y / 3 for x in _numbers(answer) for y in _numbers(gold)))
        for answer, gold in zip(answers, golds, strict=True)
    ]


def _numbers(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", text)]


def math_verify(answers: list[str], golds: list[str]) -> list[float]:
    """Grade as math-verify's README does, gold and answer in a box."""
    from math_verify import parse, verify

    sides = [
        [parse(rf"$\boxed{{{text}}}$") for text in pair]
        for pair in zip(golds, answers, strict=True)
    ]
    return [float(bool(gold and answer and verify(gold, answer))) for gold, answer in sides]


GRADERS: dict[str, Graded] = {"setrl": ours, "math-verify": math_verify, "loosened": loosened}


def attack(config: AttackConfig, graded: Graded) -> dict[str, Counter[str]]:
    """Train a policy against a grader for each gold; return the paid answers with their counts."""
    method = methods.poly_epo(config.set_size)
    paid: dict[str, Counter[str]] = {}
    for kind in config.golds or GOLDS:
        policy = Policy(np.random.default_rng([config.seed, list(GOLDS).index(kind)]))
        paid[kind] = Counter()
        for _ in range(config.steps):
            samples = [policy.sample() for _ in range(config.samples)]
            answers = [answer for answer, _ in samples]
            rewards = graded(answers, [GOLDS[kind]] * len(answers))
            paid[kind].update(a for a, reward in zip(answers, rewards, strict=True) if reward)
            if not any(rewards):
                continue  # all advantages are 0
            strategies = [choices[0][1] for _, choices in samples]
            credit = method.advantages([rewards], strategies=[strategies]).values_BN[0]
            for (_, choices), advantage in zip(samples, credit, strict=True):
                policy.learn(choices, float(advantage), config.learning_rate)
    return paid


def summary(config: AttackConfig, graded: Graded) -> dict[str, object]:
    """Return what a grader paid for: samples, share, golds, and the most frequent answers."""
    began = time.process_time()
    paid = attack(config, graded)
    samples = config.steps * config.samples * len(paid)
    total = sum(counts.total() for counts in paid.values())
    return {
        "samples": samples,
        "paid": total,
        "share": total / samples,
        "golds_with_a_paid_answer": sum(bool(counts) for counts in paid.values()),
        "golds": len(paid),
        "different_paid_answers": sum(len(counts) for counts in paid.values()),
        "cpu_seconds": round(time.process_time() - began, 1),
        "examples": {
            kind: [(GOLDS[kind], answer, count) for answer, count in counts.most_common(3)]
            for kind, counts in paid.items()
            if counts
        },
    }


def run(folder: Path, config: AttackConfig | None = None) -> str:
    """Attack all graders; write `grader_attack.json`, and return a table."""
    config = config or AttackConfig()
    found = {name: summary(config, graded) for name, graded in GRADERS.items()}
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (folder / "grader_attack.json").write_text(text + "\n", encoding="utf-8")
    columns = ("paid", "samples", "golds_with_a_paid_answer", "golds", "different_paid_answers")
    return "\n".join(f"{name}: " + ", ".join(f"{c} {each[c]}" for c in columns)
                     for name, each in found.items())  # fmt: skip
