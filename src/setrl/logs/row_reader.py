"""Rows of recognised fields → the samples of a problem."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any

from setrl.logs.field_values import group_name
from setrl.logs.fields import text_of
from setrl.logs.options import CONTRADICT, LogOptions
from setrl.logs.recognition import names_prompt, unrolled, value_at
from setrl.logs.records import Record
from setrl.logs.roles import Recognised
from setrl.logs.settings import count_settings, setting_of
from setrl.logs.strategies import strategy_of
from setrl.samples.conversation import is_messages, message_text, prompt_text
from setrl.samples.types import Group, Sample
from setrl.samples.values import (
    Label,
    is_outcome,
    is_same,
    read_answer,
    read_count,
    read_label,
    read_score,
    read_tokens,
)
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import count, have

OF_SAMPLES = ("correct", "reward", "answer", "text", "strategy", "advantage", "tokens", "proxy",
              "second", "family")  # fmt: skip
MOST_COUNTED = 1_000_000  # samples of a problem given by counts: each takes memory
MISSING = object()

MORE = {"proxy": read_score, "second": read_score, "family": read_label}  # further fields
Item = tuple[int, Record]  # the number of a row, and an object of it that holds samples


class RowReader:
    """Reads the samples of rows whose fields are known.

    Args:
        recognised: The roles of the fields.
        options: How the log is read.
        needs: What the command cannot do without.
        where: The file and line of a row, by its number.
    """

    def __init__(
        self,
        recognised: Recognised,
        options: LogOptions,
        needs: Collection[str],
        where: Callable[[int], str],
    ):
        self.recognised, self.options, self.needs, self.where = recognised, options, needs, where
        self.fields = fields = recognised.fields
        self.paths = {role: path for role in OF_SAMPLES if (path := getattr(fields, role))}
        self.by_answer = not (fields.correct or fields.num_correct or options.verify)
        self.by_answer &= bool(fields.answer and fields.gold)
        if options.verify and fields.gold is None:
            raise ConfigError("--verify needs a right answer: name its field with --gold")
        self._verify = options.verify
        self._low, self._high = inf, -inf
        self._has_grades = self._has_rewards = False
        self._compared = self._opposite = 0
        self._scores: set[float] = set()  # three of them are many
        self._above = 0.5 if options.correct_above is None else options.correct_above
        self._kinds: set[str] = set()
        self.required = set(needs) & {"text"}
        if self._verify is None and {"correct", "reward"} & set(needs):
            self.required.add("correct")
        self._unfit: str | None = None
        named = ((setting_of(path), path) for path in recognised.unread)
        self._setting_paths = [(name, path) for name, path in named if name]
        self.settings: dict[str, Counter[str]] = {}
        self._has_messages: bool | None = None  # whether the first prompt is a conversation
        self.counted: Counter[str] = Counter()

    @property
    def list_path(self) -> str | None:
        """The field of a row that is a list of the objects; None if the row is the object."""
        return self.fields.rows

    @property
    def columns(self) -> frozenset[str]:
        """What samples have: fields with a role, and a reward if it is other than 0 and 1."""
        is_named = self.recognised.why.get("reward", "").startswith("--")
        is_named = is_named and self.fields.reward != self.fields.correct
        has_rewards = self._has_grades or self._has_rewards or is_named
        found = set(self.paths) - {"reward"}
        return frozenset(found | ({"reward"} if has_rewards else set()))

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the rows do not hold → what the user can do."""
        return self.recognised.lacks

    def items(self, record: Record) -> list[Record]:
        """Return the objects of a row that hold samples."""
        return unrolled(record, self.fields.rows)

    def name(self, item: Record, row: int) -> str:
        """Return the name of the problem of an object."""
        if not self.fields.group:
            return f"row {row + 1}"
        return group_name([value_at(item, path) for path in self.fields.group])

    def check(self, item: Record) -> None:
        """Look at an object before any samples are made of it.

        Raises:
            KeyError, ValueError: If it does not say which samples are correct.
        """
        if len(self.fields.group) == 1:
            self._kinds.add(type(value_at(item, self.fields.group[0])).__name__)
        if self._has_messages is None:
            self._has_messages = is_messages(self._prompt_of(item))
        if self._setting_paths or self._has_messages:
            count_settings(self.settings, self._named_settings(item))
        if self.fields.correct and self._verify is None:
            for score in self._all_scores("correct", item):
                self._low, self._high = min(self._low, score), max(self._high, score)
                self._has_grades = self._has_grades or not is_outcome(score)
                if len(self._scores) < 3:
                    self._scores.add(score)
        if self.fields.reward and not self._has_rewards:
            rewards = self._all_scores("reward", item)
            self._has_rewards = not all(map(is_outcome, rewards))
            self._compare(rewards, item)

    def _named_settings(self, item: Record) -> Iterator[tuple[str, Any]]:
        for name, path in self._setting_paths:
            with suppress(KeyError):
                yield name, value_at(item, path)
        prompt = self._prompt_of(item) if self._has_messages else ()
        for message in prompt if is_messages(prompt) else ():
            if message["role"] == "system":
                yield "system prompt", message_text(message)

    def _prompt_of(self, item: Record) -> Any:
        """Return what the model was given as the log has it; an empty text if it is not there."""
        with suppress(KeyError):
            return value_at(item, self.fields.prompt) if self.fields.prompt else ""
        return ""

    def _all_scores(self, role: str, item: Record) -> list[float]:
        value = self._value(role, item)
        values = value if isinstance(value, list) else (value,)
        return [score for one in values if (score := self._verdict(role, one)) is not None]

    def _compare(self, rewards: Sequence[float], item: Record) -> None:
        """Count where a reward of 0 or 1 says the opposite of what is correct."""
        if self.fields.correct in (None, self.fields.reward) or self._verify is not None:
            return
        right = self._all_scores("correct", item)
        if len(right) == len(rewards):
            self._compared += len(right)
            self._opposite += sum({*pair} == {0, 1} for pair in zip(right, rewards, strict=True))

    def refuse_opposite(self) -> None:
        """Raise an error if rewards contradict in all samples what is correct.

        Raises:
            ConfigError: Naming the option that decides.
        """
        why = self.recognised.why.get("correct", "")
        if self._opposite and self._opposite == self._compared and not why.startswith("--"):
            raise ConfigError(
                f"{self.fields.correct} and {self.fields.reward} say the opposite of each other in "
                f"every sample: choose the one that says what is correct with --correct"
            )

    @property
    def is_graded(self) -> bool:
        """Whether scores are other than 0 and 1, and no threshold says what is correct."""
        return self.options.correct_above is None and self._has_grades

    def refuse_graded(self) -> None:
        """Raise an error if it is not known which samples are correct.

        Raises:
            ConfigError: Naming the option that says it.
        """
        if self.is_graded:
            field = (self.fields.correct or "the score").removeprefix("samples.")
            above, says = "X", "which samples are correct"
            if len(self._scores) == 2:  # such as ±1, or 0 and 100
                above = f"{(self._low + self._high) / 2:g}"
                says = f"that {self._high:g}, the larger of its two values, is correct"
            raise ConfigError(
                f"{field} is graded ({self._low:g} to {self._high:g}): --correct-above {above} "
                f"says {says}; the scores are kept as rewards"
            )

    def group(self, items: Sequence[Item]) -> Group:
        """Return the problem of some objects.

        Raises:
            DataError: Naming the file and the line.
        """
        name, prompt, gold, step = "", None, None, None
        row = items[0][0]
        samples: list[Sample] = []
        try:
            for row, item in items:
                own = self.name(item, row)
                if name and own != name:
                    raise ValueError(f"{name!r} and {own!r} have one hash: run the command again")
                name = own
                prompt = self._shared("prompt", name, prompt, self._prompt(item))
                gold = self._gold(name, gold, item, items[0][0])
                step = self._optional("step", item, read_count) if step is None else step
            for row, item in items:  # noqa: B007  the error below names the row
                if samples and self.recognised.has_counts:
                    raise ValueError("the counts of a problem come twice: name what identifies a "
                                     "problem with --group")  # fmt: skip
                samples += self._samples(item, gold)
        except (KeyError, TypeError, ValueError) as error:
            raise explained(error, self.where(row)) from None
        if self._verify is not None:
            samples = self._verified(samples, gold)
        prompt = name if prompt is None else prompt
        rows = tuple(dict.fromkeys(row for row, _ in items))
        return Group(name, prompt, tuple(samples), gold, step, rows)

    def size(self, item: Record) -> int | None:
        """Return how many samples the lists or counts of an object hold; None for one sample."""
        if self.recognised.has_counts:
            return read_count(value_at(item, str(self.fields.num_samples)))
        if not self.recognised.lists:
            return None
        values = (self._value(role, item) for role in self.paths)
        return next(len(one) for one in values if _is_list(one))

    def notes(self) -> list[str]:
        """Return what was noticed, in sentences."""
        notes = list(self.recognised.notes)
        for what, noun, text in (
            ("unfit", "problem", "a right answer that cannot be used for grading, such as "
                      f"{self._unfit!r}: such samples have no grade"),
            ("prompt", "row", "another prompt than the first of its group"),
            ("unlabelled", "sample",
                     "no label (null, or no field), so that no strategy is known. Credit leaves "
                     "such samples out of all sets, and an evaluation leaves their problems out of "
                     "strategies@k; if no label means no strategy, give --degenerate null"),
            ("gold", "row", "another right answer than the first of its group"),
        ):  # fmt: skip
            if number := self.counted[what]:
                notes.append(f"{count(number, noun)} {have(number)} {text}")
        if self._opposite and not self._has_rewards:
            notes.append(
                f"{self.fields.correct} and {self.fields.reward} {CONTRADICT} in "
                f"{self._opposite:,} of {count(self._compared, 'sample')}: {self.fields.correct} "
                "says what is correct"
            )
        if len(self._kinds) > 1:
            kinds = " and ".join(sorted(self._kinds))
            notes.append(f"{self.fields.group[0]} holds {kinds}: numbers and texts of equal digits "
                         '(7, 7.0, "7") are one problem')  # fmt: skip
        if self.by_answer and {"correct", "reward"} & set(self.needs):
            notes.append("a sample is correct if its answer is the text or number of the right "
                         "one; --verify compares them as mathematics")  # fmt: skip
        return notes

    def _value(self, role: str, item: Record) -> Any:
        try:
            return value_at(item, self.paths[role])
        except KeyError:
            if role == "correct" and role in self.required:
                path = self.paths[role]
                raise ValueError(f"has no {path!r}; write null where it is missing") from None
            if role in self.required:
                raise
            return MISSING

    def _optional(self, role: str, item: Record, read: Callable[[Any], Any]) -> Any:
        path = getattr(self.fields, role)
        if path is None:
            return None
        try:
            value = value_at(item, path)
        except KeyError:
            return None
        return None if value is None else self._read(role, read, value)

    def _prompt(self, item: Record) -> str | None:
        def read(value: Any) -> str | None:
            return text_of(value) if isinstance(value, int | float) else prompt_text(value)

        return self._optional("prompt", item, read)

    def _shared(self, role: str, name: str, known: str | None, found: str | None) -> str | None:
        """Return one value for a whole problem; a different one in another row is counted."""
        if known is None or found is None or known == found:
            return found if known is None else known
        if role == "prompt" and "--group" not in self.recognised.why.get("group", ""):
            raise ValueError(
                f"the samples of {name!r} have different prompts ({known[:40]!r}, {found[:40]!r}): "
                f"name the field that the samples of one problem share with --group; "
                f"{' and '.join(self.fields.group)} is not it"
            )
        self.counted[role] += 1
        return known

    def _gold(self, name: str, known: str | None, item: Record, first: int) -> str | None:
        """Return the right answer of a problem."""
        found = self._optional("gold", item, text_of)
        why = self.recognised.why.get("group", "")
        if None not in (known, found) and known != found and names_prompt(self.fields.group, why):
            raise ValueError(
                f"the right answer to {name[:40]!r} is {found!r} here, and {known!r} in "
                f"{self.where(first)}: these are two problems, so name the field of their ids with "
                f"--group; --group {self.fields.group[0]} takes them as one"
            )
        return self._shared("gold", name, known, found)

    def _samples(self, item: Record, gold: str | None) -> list[Sample]:
        if self.recognised.has_counts:
            return self._counted(item)
        found = {role: self._value(role, item) for role in self.paths}
        if isinstance(tokens := found.get("tokens"), list):
            found["tokens"] = [*map(read_tokens, tokens)] if self.recognised.lists else len(tokens)
        lists = {role: value for role, value in found.items() if _is_list(value)}
        sizes = {self.paths[role]: len(value) for role, value in lists.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"lists of one problem must be equally long, got {sizes}")
        if self.recognised.lists and not lists:
            raise ValueError("the samples must be lists, as in the first rows")
        if lists and not self.recognised.lists:
            wrong = next(iter(sizes))
            raise ValueError(f"{wrong} is a list here, but it was one value in the first rows")
        return [
            self._sample({r: lists[r][place] if r in lists else value
                          for r, value in found.items()}, gold)
            for place in range(next(iter(sizes.values()), 1))
        ]  # fmt: skip

    def _sample(self, one: Mapping[str, Any], gold: str | None) -> Sample:
        get = one.get
        answer = self._read("answer", read_answer, get("answer"))
        score = self._score(get("correct"), answer, gold)
        reward = self._verdict("reward", get("reward")) if "reward" in one else score
        strategy = self._strategy(get("strategy")) if "strategy" in one else None
        is_unclear = score is None or self.is_graded
        text, turns = _text(get("text"))
        more = {
            key: self._read(key, read, one[key])
            for key, read in MORE.items()
            if key in one and one[key] is not MISSING
        }
        return Sample(
            text,
            None if is_unclear else score > self._above,  # type: ignore[operator]
            reward,
            strategy,
            None if answer is None else sys.intern(answer),
            self._read("advantage", read_score, get("advantage")),
            turns,
            more or None,
            self._read("tokens", read_tokens, get("tokens")),
        )

    def _strategy(self, value: Any) -> Label:
        """Return the strategy of a sample; a missing label is the same as null."""
        value = None if value is MISSING else value
        read = partial(strategy_of, degenerate=self.options.degenerate)
        found = self._read("strategy", read, value)
        self.counted["unlabelled"] += found is None
        return found

    def _score(self, value: Any, answer: str | None, gold: str | None) -> float | None:
        if self._verify is not None:
            return None  # it is known when the whole problem is read
        if self.by_answer:
            return None if gold is None else float(is_same(answer, gold))
        return self._verdict("correct", value)

    def _verdict(self, role: str, value: Any) -> float | None:
        return self._read(role, read_score, value)

    def _read(self, role: str, read: Callable[[Any], Any], value: Any) -> Any:
        """Read a value of a sample; a missing field is unknown."""
        if value is MISSING:
            return None
        try:
            return read(value)
        except ValueError as error:
            raise ValueError(f"{getattr(self.fields, role)} must be {error}") from None

    def _counted(self, item: Record) -> list[Sample]:
        fields = self.fields
        right, size = (
            self._read(role, read_count, value_at(item, getattr(fields, role)))
            for role in ("num_correct", "num_samples")
        )
        if right is None or not size or right > size:
            raise ValueError(f"{fields.num_correct} must be a whole number from 0 to "
                             f"{fields.num_samples}, got {right} of {size}")  # fmt: skip
        if size > MOST_COUNTED:
            raise ValueError(f"{fields.num_samples} must be at most {MOST_COUNTED:,}, got {size:,}")
        good, bad = Sample(correct=True, reward=1.0), Sample(correct=False, reward=0.0)
        return [good] * right + [bad] * (size - right)

    def _verified(self, samples: list[Sample], gold: str | None) -> list[Sample]:
        """Return the samples with the verifier's verdicts and answers; unknown without a gold."""
        assert self._verify is not None
        if gold is None:
            return samples
        try:
            readings = self._verify(gold, [_graded_text(one) or "" for one in samples])
        except DataError:
            self.counted["unfit"] += 1
            self._unfit = self._unfit or gold
            return samples
        return [
            one if _graded_text(one) is None else
            one._replace(correct=found.correct, reward=one.reward if "reward" in self.paths else
                         float(found.correct), answer=found.answer)
            for one, found in zip(samples, readings, strict=True)
        ]  # fmt: skip


def explained(error: Exception, where: str) -> Exception:
    """Return an error that names the file and the line of a row."""
    if isinstance(error, DataError | ConfigError):
        return error
    what = f"has no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
    return DataError(f"{where}: {what}")


def _text(value: Any) -> tuple[str | None, tuple[Any, ...]]:
    if isinstance(value, str):
        return value, ()
    if value is None or value is MISSING:
        return None, ()
    if isinstance(value, int | float):
        return str(value), ()
    if not is_messages(value):
        raise TypeError(f"neither text nor messages: {str(value)[:80]!r}")
    return Sample.of(value)[0], tuple(value)


def _graded_text(sample: Sample) -> str | None:
    """Return the answer of a sample in a box, or the text where no answer is known."""
    return sample.last_text if sample.answer is None else f"\\boxed{{{sample.answer}}}"


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and not is_messages(value)
