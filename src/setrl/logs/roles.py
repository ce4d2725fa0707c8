"""The roles of a log's fields, and which field was found for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from setrl.logs.settings import setting_of
from setrl.support.errors import ConfigError
from setrl.support.wording import table

SAME_IDS = "tasks share ids"


@dataclass(frozen=True)
class FieldNames:
    """The field of each role, or None; of a nested field the path, such as metrics.acc.

    Attributes:
        rows: A list of objects inside a row, whose objects are the rows that count.
        group: What the samples of one problem share; several fields together name it where one
            does not suffice. Empty: a row is a problem.
        prompt: What the model was given.
        text: What the model wrote: text, or the messages of a conversation.
        reward: The reward of a sample.
        correct: Whether a sample is correct: true or false, 1 or 0, words, or a score.
        strategy: The strategy of a sample.
        answer: The answer of the model.
        gold: The right answer.
        sample_number: Counts the samples of a group; a row that comes again is the same sample.
        num_correct, num_samples: Numbers of a problem, where no sample has its own row.
        step: The training step.
        advantage: What entered the loss.
        tokens: The number of tokens of a sample, or its tokens.
        proxy, second, family: Further fields that methods may read.
    """

    rows: str | None = None
    group: tuple[str, ...] = ()
    correct: str | None = None
    reward: str | None = None
    answer: str | None = None
    gold: str | None = None
    text: str | None = None
    strategy: str | None = None
    prompt: str | None = None
    sample_number: str | None = None
    num_correct: str | None = None
    num_samples: str | None = None
    step: str | None = None
    advantage: str | None = None
    tokens: str | None = None
    proxy: str | None = None
    second: str | None = None
    family: str | None = None

    def named(self) -> dict[str, tuple[str, ...]]:
        """Role → its fields, of the roles that have any."""
        names_by_role = {
            role_field.name: getattr(self, role_field.name) for role_field in fields(self)
        }
        return {
            role: (value,) if isinstance(value, str) else tuple(value)
            for role, value in names_by_role.items()
            if value
        }


@dataclass(frozen=True)
class Recognised:
    """What was found, and how it is shown.

    Attributes:
        fields: The field of each role.
        lists: Whether a row is a problem, whose samples are in parallel lists.
        why: Role → why this field.
        examples: Role → a value.
        unread: The fields that have no role.
        notes: What could not be decided, in sentences.
        lacks: What a command may need and the rows do not hold → what the user can do.
        columns: All fields.
        numbers: The fields that have no role and may number the samples of a problem.
        labels: The fields that have no role and differ between samples of a problem, as strategies
            do.
    """

    fields: FieldNames
    lists: bool
    why: Mapping[str, str]
    examples: Mapping[str, str]
    unread: tuple[str, ...]
    notes: tuple[str, ...] = ()
    lacks: Mapping[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def is_named(self, role: str) -> bool:
        """Return whether the user named the field of a role."""
        return self.why.get(role, "").startswith("--")

    @property
    def has_counts(self) -> bool:
        """Whether a row has only counts of its samples."""
        return bool(self.fields.num_correct) and not self.fields.correct

    @property
    def shape(self) -> str:
        """What one row is, in words."""
        if self.has_counts:
            return "one row per problem, with counts of its samples"
        what = f"one row per {'problem, with lists of its samples' if self.lists else 'sample'}"
        return f"{what} in {self.fields.rows}" if self.fields.rows else what

    def in_tasks(self, paths: Sequence[str]) -> Recognised:
        """Return the same with fields that name a task before those that name a problem of it."""
        why = f"{self.why['group']}; {SAME_IDS}"
        return replace(
            self,
            fields=replace(self.fields, group=(*paths, *self.fields.group)),
            why={**self.why, "group": why},
            unread=tuple(path for path in self.unread if path not in paths),
        )

    def table(self) -> str:
        """Return a line for each role: its field, why, and a value."""
        cells = [("role", "field", "why", "example")]
        for role, names in self.fields.named().items():
            if role != "rows":
                shown = role.replace("_", "-")
                cells.append((shown, " + ".join(names), self.why[role], self.examples[role]))
        lines = [table(cells, left=range(4))]
        settings = [path for path in self.unread if setting_of(path)]
        if settings:
            lines.append(f"settings: {', '.join(settings)}")
        if unread := [path for path in self.unread if path not in settings]:
            lines.append(f"not read: {', '.join(unread)}")
        return "\n".join(lines)

    def require(self, needs: Iterable[str]) -> None:
        """Raise an error where the rows lack what a command needs.

        Args:
            needs: What it needs; a mapping also says why.

        Raises:
            ConfigError: Naming the options that say where all of it is.
        """
        lacking = [need for need in ("group", *needs) if need in self.lacks]
        if "reward" in lacking:  # whose field may also say which samples are correct
            lacking = [need for need in lacking if need != "correct"]
        why = needs if isinstance(needs, Mapping) else {}
        messages = [
            (f"{why[need]}, and " if why.get(need) else "") + self.lacks[need] for need in lacking
        ]
        if messages:
            rows = f"the rows have {', '.join(self.columns)}"
            raise ConfigError("; ".join([*dict.fromkeys(messages), rows]))
