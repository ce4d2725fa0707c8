"""One prompt's samples: what judges, credit, evaluation and pages read, and what logs hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

from setrl.samples.conversation import Message, Text, message_text, sample_text
from setrl.samples.values import Label, is_outcome

GRADED_NOTE = (
    "The rewards are neither 0 nor 1, so that the log does not say which samples are correct."
)


class Sample(NamedTuple):  # made in a third of a frozen dataclass's time, a million times a log
    """One sample of a prompt; None is unknown.

    Attributes:
        text: What the model wrote; a conversation of several turns as readable text. An empty text
            is known: the model wrote nothing.
        correct: Whether it is correct.
        reward: Its reward; 1 or 0 for a right or a wrong sample where a log has no other.
        strategy: A name or a number, equal for samples of one strategy; `setrl.DEGENERATE` (−1) for
            a sample of no strategy.
        answer: The final answer that was read from it.
        advantage: What entered the loss, where a log holds it.
        turns: The messages of a conversation, tool calls among them; empty for a plain text.
        more: Further fields by name, such as proxy, second and family.
        tokens: How many tokens it has, where a log counts them.
    """

    text: str | None = None
    correct: bool | None = None
    reward: float | None = None
    strategy: Label = None
    answer: str | None = None
    advantage: float | None = None
    turns: tuple[Message, ...] = ()
    more: Mapping[str, Any] | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, written: Text | None, **known: Any) -> Self:
        """Return a sample whose text is given, or the messages of a conversation."""
        if written is None or isinstance(written, str):
            return cls(written, **known)
        return cls(sample_text(written), turns=tuple(written), **known)

    def value(self, key: str) -> Any:
        """Return a field, or one of the further fields; None is unknown."""
        return getattr(self, key) if key in self._fields else (self.more or {}).get(key)

    @property
    def last_text(self) -> str | None:
        """The text of the last turn, where a final answer is expected."""
        return message_text(self.turns[-1]) if self.turns else self.text


class SampleColumns(Sequence[Sample]):
    """The samples of a group as columns, as logs are read: a sample is made when it is asked for.

    Args:
        size: How many samples there are.
        columns: Field of a sample → its values; a field that is not there is unknown.
    """

    def __init__(self, size: int, columns: Mapping[str, list[Any]]):
        self._size, self._columns = size, columns

    def column(self, key: str) -> list[Any]:
        """Return a field of every sample, or one of the further fields; None is unknown."""
        if key in self._columns:
            return self._columns[key]
        if key in Sample._fields:
            return [Sample._field_defaults[key]] * self._size
        return [None if more is None else more.get(key) for more in self.column("more")]

    @cached_property
    def _samples(self) -> tuple[Sample, ...]:
        columns = map(self.column, Sample._fields)
        return tuple(map(Sample._make, zip(*columns, strict=True)))

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        return self._samples[place]

    def __iter__(self) -> Iterator[Sample]:
        return iter(self._samples)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._samples == tuple(other)

    def __hash__(self) -> int:
        return hash(self._samples)


@dataclass(frozen=True)
class Group:
    """The samples of one problem.

    Attributes:
        id: What names the problem. Two problems may share a prompt, but never an id.
        prompt: What the model was given.
        samples: The samples in the order of the log.
        gold: The right answer, where it is known.
        step: The training step that drew the samples, where there is one.
        rows: The numbers of the rows of the file that hold the samples, from 0.
        notes: What a log says about the group, in sentences.
        more: What a file of setrl's own says of samples without a grade: `ungraded`, `ungraded_are`
            and `as_wrong`.
    """

    id: str
    prompt: str
    samples: Sequence[Sample]
    gold: str | None = None
    step: int | None = None
    rows: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_texts(cls, prompt: str, texts: Sequence[str]) -> Self:
        """Return a group of plain texts, named by its prompt.

        >>> Group.of_texts("1 + 1 = ?", ["2", "two"]).samples[1].text
        'two'
        """
        return cls(prompt, prompt, tuple(map(Sample, texts)))

    def __hash__(self) -> int:
        return hash((self.id, self.prompt, self.texts))

    def __len__(self) -> int:
        return len(self.samples)

    def column(self, key: str) -> list[Any]:
        """Return a field of every sample, or one of the further fields; None is unknown."""
        if isinstance(self.samples, SampleColumns):
            return self.samples.column(key)
        return [sample.value(key) for sample in self.samples]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the samples, empty where one is unknown: a judge sees no such sample."""
        return tuple(text or "" for text in self.column("text"))


def with_outcomes(samples: Sequence[Sample], above: float | None = None) -> tuple[Sample, ...]:
    """Return samples whose rewards say which are correct, unless the log says it itself.

    >>> graded, plain = [Sample(reward=1.0), Sample(reward=0.4)], [Sample(reward=1.0), Sample()]
    >>> [one.correct for one in (*with_outcomes(graded), *with_outcomes(plain))]
    [None, None, True, None]
    """
    if any(sample.correct is not None for sample in samples):
        return tuple(samples)
    outcomes = outcomes_of([sample.reward for sample in samples], above)
    return tuple(
        sample._replace(correct=correct) for sample, correct in zip(samples, outcomes, strict=True)
    )


def outcomes_of(rewards: Sequence[float | None], above: float | None = None) -> list[bool | None]:
    """Return which samples of a group are correct, by their rewards; None where that is not known.

    Samples with a reward above a threshold are correct. Without one, rewards say it only if all
    known ones of the group are 0 and 1.
    """
    if above is None and not all(reward is None or is_outcome(reward) for reward in rewards):
        return [None] * len(rewards)
    least = 0.5 if above is None else above
    return [None if reward is None else reward > least for reward in rewards]


def against(sample: Sample) -> float:
    """Return |A| where it goes against correctness, else 0.

    It does where A is positive for a wrong sample, or negative for a right one.
    """
    if sample.advantage is None or sample.correct is None:
        return 0.0
    return max(0.0, -sample.advantage if sample.correct else sample.advantage)
