"""Does a domain keep the rules that training and evaluation rely on? For ours, and for a user's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from setrl.samples.values import Label
from setrl.support.wording import are, count
from setrl.tasks.domains.base import Domain, Problem, Written, corpus

PROBLEMS = 100  # of each split that are looked at
SAMPLES = 1000  # of the author
SHOWN = 160  # characters of a sample in a sentence

# Whatever a model writes, a reader gives a reading: it never raises, and calls none of these right.
HOSTILE = (
    "", " ", "\n", "\x00", "nan", "(1.5, 2.0)", "(１, ２)", "(²,³)", "(1e9, 1e9)", "9" * 100_000,
    "(" * 100_000, "-" * 100_000, "(0, " + "1" * 100_000 + ")", "\ud800",
)  # fmt: skip


def check_domain(domain: Domain, seed: int = 0) -> list[str]:
    """Draw problems and samples of a domain; return which rules it breaks, a sentence each.

    The rules: the reader agrees with the author about each written sample, and gives a reason for
    each wrong one; hostile texts neither raise nor are right; the vocabulary writes all prompts and
    samples, in at most `max_new_tokens` tokens; the same seed gives the same problems; no problem
    is in two splits or twice in one; the corpus holds no problem of the splits for evaluation.

    Args:
        domain: The domain.
        seed: Decides which problems and samples.
    """
    return list(_Checking(domain, seed).sentences())


@dataclass
class _Checking:
    domain: Domain
    seed: int

    @cached_property
    def written(self) -> list[tuple[Problem, Written]]:
        return list(corpus(self.domain, SAMPLES, self.seed))

    @cached_property
    def drawn(self) -> dict[str, list[Problem]]:
        return {split: self._draw(split, PROBLEMS) for split in self.domain.splits}

    def _draw(self, split: str, count: int) -> list[Problem]:
        """Return as many problems as there are, up to `count`."""
        try:
            return self.domain.problems(split, count, self.seed)  # type: ignore[arg-type]
        except ValueError:
            return [] if count == 1 else self._draw(split, count // 2)

    def sentences(self) -> Iterator[str]:
        """Yield what breaks a rule."""
        yield from self._splits()
        yield from self._tokens()
        yield from self._readings()
        yield from self._hostile()
        if list(corpus(self.domain, 50, self.seed)) != self.written[:50]:
            yield "the author writes other samples with the same generator of random numbers"

    def _splits(self) -> Iterator[str]:
        if "train" not in self.drawn:
            yield f"the splits have no train, but {', '.join(self.drawn)}"
        prompts = {split: {one.prompt for one in found} for split, found in self.drawn.items()}
        for split, found in self.drawn.items():
            if not found:
                yield f"the split {split} has no problem"
            if len(prompts[split]) < len(found):
                twice = count(len(found) - len(prompts[split]), "problem")
                yield f"the split {split} has {twice} twice"
            if found != self._draw(split, len(found)):
                yield f"the split {split} has other problems with the same seed"
        for one, two in combinations(prompts, 2):
            if both := prompts[one] & prompts[two]:
                many = f"{count(len(both), 'problem')} {are(len(both))}"
                yield f"{many} in {one} and in {two}: {_quoted(min(both))}"
        for split in set(prompts) - {"train"}:
            held_out = [one.prompt for one, _ in self.written if one.prompt in prompts[split]]
            if held_out:
                yield f"the corpus holds problems of the split {split}: {_quoted(held_out[0])}"

    def _tokens(self) -> Iterator[str]:
        vocabulary = self.domain.vocabulary
        if len(set(vocabulary)) < len(vocabulary) or not all(vocabulary):
            yield "the vocabulary has an empty token, or one twice"
        longest_first = sorted(filter(None, vocabulary), key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        texts = [
            *(one.prompt for found in self.drawn.values() for one in found),
            *(text for problem, one in self.written for text in (problem.prompt, one.text)),
        ]
        for text in texts:
            if "".join(pattern.findall(text)) != text:
                yield f"the vocabulary cannot write {_quoted(text)}"
                return
        longest = max(len(pattern.findall(one.text)) for _, one in self.written)
        if longest > self.domain.max_new_tokens:
            limit = self.domain.max_new_tokens
            yield f"a written sample has {longest} tokens, and max_new_tokens is {limit}"

    def _readings(self) -> Iterator[str]:
        wrong, silent = [], []
        for problem, one in self.written:
            reading = self.domain.read(problem.prompt, one.text)
            if (reading.correct, reading.strategy) != (one.correct, one.strategy):
                wrong.append(
                    f"{_quoted(problem.prompt)} {_quoted(one.text)} was written as "
                    f"{_said(one.correct, one.strategy)}, and read as "
                    f"{_said(reading.correct, reading.strategy)} ({reading.reason})"
                )
            if not reading.correct and not reading.reason:
                silent.append(f"{_quoted(problem.prompt)} {_quoted(one.text)}")
        yield from _first("of the author's samples are read otherwise", wrong)
        yield from _first("wrong samples are read without a reason", silent)

    def _hostile(self) -> Iterator[str]:
        prompt = self.written[0][0].prompt
        for text in HOSTILE:
            try:
                right = self.domain.read(prompt, text).correct
            except Exception as error:  # a reader of a user may raise anything
                yield f"the reader raises {type(error).__name__} on {_quoted(text)}"
                return
            if right:
                yield f"the reader calls {_quoted(text)} correct"


def _first(what: str, found: Sequence[str]) -> Iterator[str]:
    if found:
        yield f"{len(found)} of {SAMPLES} {what}; the first: {found[0]}"


def _said(correct: bool | None, strategy: Label) -> str:
    return f"{'correct' if correct else 'wrong'}, {strategy}"


def _quoted(text: str) -> str:
    shown = ascii(text)
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
