"""The tasks that a config can name, with examples: our domains, and reasoning-gym's generators."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass

import numpy as np

from setrl.support import names
from setrl.support.errors import ConfigError, usage_errors
from setrl.support.files.progress import progress_bar
from setrl.tasks import canonical, reasoning_gym
from setrl.tasks.domains import DOMAINS, by_name
from setrl.tasks.visible import escaped

WIDTH = 100  # characters of an example in the list of all tasks
NONSENSE = "?"  # an answer that no verifier should call right


@dataclass(frozen=True)
class Example:
    """A problem of a task, and one right answer.

    Attributes:
        prompt: The problem as a model reads it.
        answer: The right answer; None if the generator gives none, only a verifier.
        strategy: What names the strategy of this answer; None if nothing reads it.
    """

    prompt: str
    answer: str | None
    strategy: str | None


@dataclass(frozen=True)
class Listed:
    """A task that a config can name.

    Attributes:
        config: How a config names it.
        name: Its name.
        kind: What it is filed under; `domain` for ours.
        strategy: What a strategy is, in words; None if no function reads it.
        accepts_nonsense: Whether its verifier calls the answer "?" right.
        examples: Problems with right answers.
    """

    config: str
    name: str
    kind: str
    strategy: str | None
    accepts_nonsense: bool
    examples: tuple[Example, ...]


def listed(wanted: Sequence[str] = (), count: int = 2, seed: int = 0) -> list[Listed]:
    """Return tasks with `count` examples each: the named ones, or all that are installed.

    Raises:
        ConfigError: For an unknown name, or a generator without reasoning-gym.
    """
    known = dict.fromkeys(DOMAINS, "domain")
    try:
        known |= reasoning_gym.generators()
    except ConfigError as error:
        if set(wanted) - set(known):
            raise ConfigError(f"{error}; without it there is {', '.join(known)}") from None
    with usage_errors():
        for name in wanted:
            names.look_up("task", name, known)
    chosen = progress_bar(not wanted, iterable=wanted or known, desc="tasks", unit="task")
    with redirect_stdout(sys.stderr):  # some generators print while they make problems
        return [_listed(name, known[name], count, seed) for name in chosen]


def _listed(name: str, kind: str, count: int, seed: int) -> Listed:
    if kind == "domain":
        return Listed(
            f"domain: {name}", name, kind, "by its reader", False, _written(name, count, seed)
        )
    source = reasoning_gym.source(name, max(count, 1), seed)
    made = reasoning_gym.generator(source)
    return Listed(
        f"task: {{reasoning_gym: {name}}}",
        name,
        kind,
        canonical.WORDS.get(name),
        reasoning_gym.score([NONSENSE], [source], [0]) == [1.0],
        tuple(_example(name, made[place]) for place in range(count)),
    )


def _example(name: str, one: dict[str, str | None]) -> Example:
    answer = one["answer"]
    form = None if answer is None else canonical.canonical(name, answer)
    return Example(str(one["question"]), answer, form)


def _written(name: str, count: int, seed: int) -> tuple[Example, ...]:
    """Return problems of a domain, each with the first right sample of its author."""
    domain, rng = by_name(name), np.random.default_rng(seed)
    found = []
    for problem in domain.problems("train", count, seed):
        written = domain.write(problem, rng)
        while not written.correct:
            written = domain.write(problem, rng)
        found.append(Example(problem.prompt, written.text, written.strategy))
    return tuple(found)


def listing_text(found: Sequence[Listed], whole: bool) -> str:
    """Return tasks as text: whole examples, or a line for each."""
    return "\n".join(line for one in found for line in _lines(one, whole))


def _lines(one: Listed, whole: bool) -> Iterator[str]:
    strategy = (
        f"strategy: {one.strategy}" if one.strategy else "strategy: name a function or a judge"
    )
    warning = "; its verifier calls any answer right" if one.accepts_nonsense else ""
    yield f"{one.name} ({one.kind}; {strategy}{warning})"
    for example in one.examples:
        answer = "no answer is given, only a verifier" if example.answer is None else example.answer
        if whole:
            form = f"   [{escaped(example.strategy)}]" if example.strategy else ""
            yield textwrap.indent(escaped(example.prompt).strip(), "  │ ", lambda _: True)
            yield f"  → {escaped(answer)}{form}"
        else:
            shown = (
                textwrap.shorten(escaped(text), WIDTH, placeholder=" …")
                for text in (example.prompt, answer)
            )
            yield "  " + " → ".join(shown)
    if whole:
        yield f"  config: {one.config}"
