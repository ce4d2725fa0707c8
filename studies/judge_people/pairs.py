"""Pairs of texts that are the same or not: by people, by how they were made, or by a program."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from setrl import DEGENERATE
from setrl.samples.values import Label
from setrl.support import files
from setrl.tasks.domains import Domain

PAIRS, SOLUTIONS = "diversity_noveltybench_pairs_train.jsonl", "olympiad_multi_solutions.jsonl"
# Sources of pairs of a model's samples: Countdown; word problems, whole or the first line.
MODEL, WORDS, LINES = "smollm2", "svamp", "svamp_line"


@dataclass(frozen=True)
class Pair:
    """Two texts, and whether they are the same to people, or by how they were made."""

    source: str
    id: str
    first: str
    second: str
    same: bool

    @property
    def half(self) -> str:
        """The half of its source: one for the threshold, the other for the figures."""
        digest = hashlib.blake2b(self.id.encode(), digest_size=1).digest()[0]
        return "threshold" if digest % 2 else "figures"


# What is written for what, in this order: it changes words and no idea.
OTHER_WORDS = {
    "therefore": "hence", "hence": "so", "thus": "therefore", "we have": "we get", "let": "suppose",
    "since": "because", "because": "as", "then": "in this case", "suppose": "assume",
    "obtain": "find", "show": "prove", "note that": "observe that", "consider": "look at",
    "clearly": "obviously", "however": "but", "follows": "results", "similarly": "likewise",
    "implies": "means", "which": "and this", "must be": "has to be", "such that": "so that",
    "assume": "take it", "if and only if": "exactly when", "it is easy to see": "one sees",
}  # fmt: skip
SWAPPED = ("au", "bv", "cw", "nm", "kj", "pr", "qs", "xt", "yz", "il", "AE", "BF", "CG", "DH", "PR",
           "QS")  # fmt: skip
OTHER_LETTERS = str.maketrans({x: y for one in SWAPPED for x, y in (tuple(one), tuple(one[::-1]))})


def copied(text: str) -> str:
    r"""Return a copy of a solution with renamed letters in its formulas, and with other words.

    >>> copied(r"Let $x+1=\frac{y}{2}$. Thus $x$ is odd.")
    'Suppose $t+1=\\frac{z}{2}$. Therefore $t$ is odd.'
    """
    pattern = re.compile(rf"\b({'|'.join(OTHER_WORDS)})\b", re.IGNORECASE)
    parts = re.split(r"(\$+[^$]*\$+)", text)
    for place, part in enumerate(parts):
        if place % 2:  # a formula; the names of commands stay
            parts[place] = re.sub(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])", _renamed, part)
        else:
            parts[place] = pattern.sub(_reworded, part)
    return "".join(parts)


def _reworded(found: re.Match[str]) -> str:
    other = OTHER_WORDS[found[0].lower()]
    return other.capitalize() if found[0][0].isupper() else other


def _renamed(found: re.Match[str]) -> str:
    return found[0].translate(OTHER_LETTERS)


def pairs_of_people(path: Path) -> Iterator[Pair]:
    """Yield the pairs that people labelled, each of its own prompt."""
    for row in files.read_lines(path):
        yield Pair("people", row["id"], row["a"], row["b"], row["same"])


def pairs_of_solutions(path: Path) -> Iterator[Pair]:
    """Yield pairs of official solutions of a problem, and of each first solution and its copy."""
    for row in files.read_lines(path):
        texts, name = row["solutions"], row["id"]
        for one, two in combinations(range(len(texts)), 2):
            yield Pair("solutions", f"{name}/{one}-{two}", texts[one], texts[two], False)
        yield Pair("solutions", f"{name}/copy", texts[0], copied(texts[0]), True)


def pairs_of_domain(domain: Domain, problems: int, samples: int) -> Iterator[Pair]:
    """Yield pairs of right samples of an author, whose strategies a program reads."""
    rng = np.random.default_rng(0)
    for number in range(problems):
        problem = domain.corpus_problem(rng)
        written = [domain.write(problem, rng) for _ in range(samples)]
        right = {one.text: one.strategy for one in written if one.correct}
        yield from _balanced(domain.name, f"{domain.name}/{number}", right)


def pairs_of_samples(
    evaluation: Path, source: str, *, wrong: bool = False, line: bool = False
) -> Iterator[Pair]:
    """Yield pairs of a model's samples, from an evaluation and the samples beside it.

    Only right samples, or with `wrong` every sample that has a strategy; with `line` the first
    line of each.
    """
    _, *samples = files.read_lines(evaluation.parent / "samples" / evaluation.name)
    texts = {(one["problem"], one["sample"]): _first_line(one["text"]) if line else one["text"]
             for one in samples}  # fmt: skip
    for problem, row in enumerate(files.read_lines(evaluation)):
        kept = {texts[problem, place]: strategy for place, (strategy, correct)
                in enumerate(zip(row["strategies"], row["correct"], strict=True))
                if correct or (wrong and strategy not in (DEGENERATE, None))}  # fmt: skip
        yield from _balanced(source, row["id"], kept)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _balanced(source: str, name: str, strategies: Mapping[str, Label]) -> Iterator[Pair]:
    """Yield pairs of the texts of a problem: at most as many of one kind as of the other."""
    pairs = list(combinations(strategies.items(), 2))
    counts = Counter(one == two for (_, one), (_, two) in pairs)
    left = dict.fromkeys((True, False), min(counts[True], counts[False]))
    for place, ((first, one), (second, two)) in enumerate(pairs):
        if left[one == two] > 0:
            left[one == two] -= 1
            yield Pair(source, f"{name}/{place}", first, second, one == two)
