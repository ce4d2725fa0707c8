"""Problems of reasoning-gym's generators, scored by their own verifiers.

A generator makes any number of problems from a seed. Its verifier scores an answer from 0 to 1: a
sample is *right* if its score is 1, and scores between 0 and 1 are part of the reward.

The problems are made once and kept in the cache; a verifier makes the problem that it needs again.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from typing import Any

from setrl.samples.conversation import Text, plain_text
from setrl.samples.values import DEGENERATE
from setrl.support import files, names
from setrl.support.errors import ConfigError, usage_errors
from setrl.support.files.cache import cache_folder
from setrl.support.files.progress import progress_bar
from setrl.support.installing import install
from setrl.tasks.canonical import canonical
from setrl.tasks.tables import ProblemTable

SIZE = 1000  # problems of a generator, unless the config says otherwise
PACKED = ("metadata",)  # its fields have other types in each problem
LONGEST = 2000  # characters of an answer that a verifier evaluates
MOST_SEEN = 2**14  # problems and scores that are kept in memory

_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
_CALLS = re.compile(r"[(@:]|\*\*|__")
_PLAIN = re.compile(r"[\w\s+*/().,^|-]*")
# Attributes, and powers that would take hours: of powers, to large numbers, of numbers.
_UNSAFE = re.compile(
    r"\.\s*[A-Za-z_]|[A-Za-z_)]\s*\."
    r"|\*\*[^+\-*/]*\*\*|\*\*\s*\(*\s*\d{3}|\d\s*\)*\s*\*\*\s*\(*\s*\d{2}"
)
_KNOWN = {"sin", "cos", "tan", "exp", "log", "sqrt", "pi", "asin", "acos", "atan", "Abs"}

# These verifiers evaluate the text of a sample as Python, or as an expression of SymPy.
EVALUATED = frozenset({"n_queens", "string_insertion", "spiral_matrix", "binary_matrix"})
EXPRESSIONS = frozenset({
    "countdown", "puzzle24", "simple_integration", "intermediate_integration",
    "polynomial_multiplication",
})  # fmt: skip


def score(
    completions: Sequence[Text], reasoning_gym: Sequence[str], index: Sequence[int], **_: Any
) -> list[float]:
    """Return the score of each sample by the generator's own verifier, in [0, 1].

    Args:
        completions: The samples; see `final_answer` for which part is the answer.
        reasoning_gym: The generator of each sample: the column of that name.
        index: The place of each sample's problem among the problems of its generator.
    """
    found = zip(reasoning_gym, index, completions, strict=True)
    return [_score(source, place, final_answer(plain_text(text))) for source, place, text in found]


def solved(
    completions: Sequence[Text], reasoning_gym: Sequence[str], index: Sequence[int], **_: Any
) -> list[float]:
    """Return 1 for samples with the score 1, which is the highest of every verifier, else 0."""
    return [float(one >= 1) for one in score(completions, reasoning_gym, index)]


def strategy(completions: Sequence[Text], reasoning_gym: Sequence[str], **_: Any) -> list[Any]:
    """Return the canonical form of each answer (`setrl.tasks.canonical`); −1 without one."""
    found = [
        canonical(json.loads(source)["name"], final_answer(plain_text(text)))
        for source, text in zip(reasoning_gym, completions, strict=True)
    ]
    return [DEGENERATE if form is None else form for form in found]


def final_answer(text: str) -> str:
    """Return what is in the last <answer> … </answer>, or the whole text if there is no such tag.

    >>> final_answer("3 of 4 <answer> 12 </answer>"), final_answer(" 12")
    ('12', '12')
    """
    tagged = _TAGGED.findall(text)
    return (tagged[-1] if tagged else text).strip()


score.read_answer = solved.read_answer = final_answer  # type: ignore[attr-defined]


def entry(reasoning_gym: str, index: int) -> dict[str, Any]:
    """Return a problem as its generator makes it: question, answer and metadata."""
    return _entry(reasoning_gym, index)


def source(
    name: str, size: int = SIZE, seed: int = 0, config: Mapping[str, Any] | None = None
) -> str:
    """Return the JSON text that decides all problems of a generator.

    Raises:
        ConfigError: If there is no such generator, or it refuses the settings.
    """
    text = json.dumps({"name": name, "size": size, "seed": seed, "config": dict(config or {})})
    generator(text)
    return text


def generators() -> dict[str, str]:
    """Return the name of each generator, and what reasoning-gym files it under.

    Raises:
        ConfigError: If reasoning-gym is not installed.
    """
    known = _library().factory.DATASETS
    return {
        name: made.__module__.split(".")[1]
        for name, (made, _) in sorted(known.items())
        if name != "composite"
    }


def read(source: str, show_progress: bool = True) -> ProblemTable:
    """Return the problems of a generator, made once and then kept in the cache.

    Raises:
        ConfigError: If the generator makes other problems each time, so that none can be scored.
    """
    settings = json.loads(source)
    record = {"schema_version": 1, "source": source, "version": metadata.version("reasoning-gym")}
    mark = hashlib.sha256(json.dumps(record).encode()).hexdigest()[:12]
    folder = cache_folder() / f"problems-{settings['name']}-{mark}"
    rows = folder / "problems.jsonl"
    if not rows.exists():
        with files.writing_folder(folder) as partial:
            files.write_lines(partial / rows.name, _rows(source, show_progress))
            files.write_json(partial / "problems.json", record)
    where = f"reasoning-gym {settings['name']}"
    found = files.read_lines(rows)
    return ProblemTable(
        where, tuple((f"{where}, problem {row['index']}", row) for row in found), PACKED
    )


def _rows(source: str, show_progress: bool) -> Iterator[dict[str, Any]]:
    settings, made = json.loads(source), generator(source)
    name, size = settings["name"], settings["size"]
    _refuse_changing(name, made, generator(source))
    for index in progress_bar(show_progress, iterable=range(size), desc=name, unit="problem"):
        one = made[index]
        yield {
            "id": f"{settings['seed']}-{index}",
            "question": one["question"],
            "answer": one["answer"],
            "metadata": json.loads(json.dumps(one["metadata"], default=str)),
            "reasoning_gym": source,
            "index": index,
        }


def _refuse_changing(name: str, one: Any, other: Any) -> None:
    if any(one[place]["question"] != other[place]["question"] for place in range(2)):
        raise ConfigError(
            f"task.reasoning_gym: {name} makes other problems each time with the same seed, so "
            "samples cannot be scored later: save its problems in a file, and name this as data"
        )


@lru_cache(maxsize=8)
def generator(source: str) -> Any:
    """Return the generator that makes the problems of a source.

    Raises:
        ConfigError: If there is no such generator, or it refuses the settings.
    """
    library, settings = _library(), json.loads(source)
    with usage_errors():
        names.look_up("generator of reasoning-gym", settings["name"], generators())
    config = settings["config"]
    for key in ("size", "seed"):
        if key in config:
            raise ConfigError(f"task.config: write {key} under task, next to reasoning_gym")
    try:
        return library.create_dataset(
            settings["name"], size=settings["size"], seed=settings["seed"], **config
        )
    except (TypeError, ValueError, AssertionError) as error:
        raise ConfigError(f"task.config: {settings['name']} refuses it: {error}") from error


@lru_cache(maxsize=MOST_SEEN)
def _entry(source: str, index: int) -> dict[str, Any]:
    found: dict[str, Any] = generator(source)[index]
    return found


@lru_cache(maxsize=MOST_SEEN)
def _score(source: str, index: int, answer: str) -> float:
    name = json.loads(source)["name"]
    if not is_harmless(name, answer):
        return 0.0
    try:
        return float(generator(source).score_answer(answer, _entry(source, index)))
    except Exception:  # a verifier that cannot read an answer: the answer is wrong
        return 0.0


def is_harmless(name: str, answer: str) -> bool:
    """Return whether a verifier may see an answer: some evaluate it, so it must call nothing.

    >>> is_harmless("countdown", "(3 + 4)*2"), is_harmless("countdown", "exit()")
    (True, False)
    """
    if name not in EVALUATED | EXPRESSIONS:
        return True
    if len(answer) > LONGEST:
        return False
    if name in EVALUATED:
        return _is_literal(answer) or not _CALLS.search(answer)
    known = {word for word in _NAME.findall(answer) if len(word) > 1} <= _KNOWN
    return known and bool(_PLAIN.fullmatch(answer)) and not _UNSAFE.search(answer)


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return False
    return True


def _library() -> Any:
    if importlib.util.find_spec("reasoning_gym") is None:
        raise ConfigError(f"task.reasoning_gym needs reasoning-gym: {install('reasoning-gym')}")
    import reasoning_gym

    return reasoning_gym
