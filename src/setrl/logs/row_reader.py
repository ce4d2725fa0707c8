"""Rows of recognised fields → the samples of a problem, column by column."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, compress, islice, pairwise, repeat
from typing import Any, NamedTuple

from setrl.logs.field_table import ROLES
from setrl.logs.grades import Grades
from setrl.logs.options import LogOptions
from setrl.logs.paths import (
    MISSING,
    ReadOnce,
    Record,
    column,
    kinds_of,
    unrolled,
    value_at,
    whole_column,
)
from setrl.logs.recognition import names_prompt
from setrl.logs.records import FURTHER
from setrl.logs.roles import Recognised
from setrl.logs.settings import count_settings, setting_of
from setrl.logs.strategies import strategy_of
from setrl.logs.task_fields import Hashes, TaskFields, task_of, task_paths, task_texts
from setrl.samples.conversation import is_messages, message_text
from setrl.samples.types import Group, Sample, SampleColumns
from setrl.samples.values import (
    is_same,
    read_count,
)
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import count, have

OF_SAMPLES = ("correct", "reward", "answer", "text", "strategy", "advantage", "tokens", "proxy",
              "second", "family")  # fmt: skip
MOST_COUNTED = 1_000_000  # samples of a problem given by counts: each takes memory
UNUSABLE = (KeyError, TypeError, ValueError)  # what reading a row raises that is not as expected

Item = tuple[int, Record]  # the number of a row, and an object of it that holds samples
Columns = dict[str, list[Any]]  # role → a raw value of each sample


class About(NamedTuple):
    """What the rows of a problem share."""

    name: str
    prompt: str
    gold: str | None
    step: int | None
    task: str | None = None


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
        says_correct = fields.correct or fields.num_correct or options.verify
        self.by_answer = bool(fields.answer and fields.gold) and not says_correct
        if options.verify and fields.gold is None:
            raise ConfigError("--verify needs a right answer: name its field with --gold")
        self._verify = options.verify
        self.grades = Grades(recognised, options.correct_above)
        self.required = set(needs) & {"text"}
        if self._verify is None and {"correct", "reward"} & set(needs):
            self.required.add("correct")
        self._reader_of = self._make_readers()
        self._head_paths = (*fields.group, *filter(None, (fields.prompt, fields.gold, fields.step)))
        named = ((setting_of(path), path) for path in (*recognised.unread, *fields.group))
        self._setting_paths = [(name, path) for name, path in named if name]
        self.tasks = TaskFields(task_paths([*recognised.unread, *fields.group]))
        self.numbers = array("q")  # of each object among the samples of its problem; −1: unknown
        self._task_fields: Sequence[str] = ()  # the fields that name the task of a problem
        self._varying_fields: Sequence[str] = ()  # within a problem that the user names
        self.settings: dict[str, Counter[str]] = {}
        self._name_kinds: set[str] = set()
        self._has_messages: bool | None = None  # whether the first prompt is a conversation
        self._unusable_gold: str | None = None
        self.counted: Counter[str] = Counter()

    def _make_readers(self) -> dict[str, ReadOnce]:
        """Return the reader of each role's columns."""
        verdict = self.options.words.read
        strategy = partial(strategy_of, degenerate=self.options.degenerate)
        of_log: dict[str, Callable[[Any], Any]]
        of_log = {"strategy": strategy, "correct": verdict, "reward": verdict}
        read = {
            role: ReadOnce(of_log.get(role, row.read), getattr(self.fields, role))
            for role, row in ROLES.items()
        }
        return {**read, "group": ReadOnce(ROLES["group"].read)}  # whose error names it

    @property
    def list_path(self) -> str | None:
        """The field of a row that is a list of the objects; None if the row is the object."""
        return self.fields.rows

    @property
    def columns(self) -> frozenset[str]:
        """What samples have: fields with a role, and a reward if it is other than 0 and 1."""
        is_named = self.recognised.is_named("reward")
        is_named = is_named and self.fields.reward != self.fields.correct
        has_rewards = self.grades.has_grades or self.grades.has_rewards or is_named
        return frozenset({*self.paths} - {"reward"} | ({"reward"} if has_rewards else set()))

    @property
    def lacks(self) -> Mapping[str, str]:
        """What the rows do not hold → what the user can do."""
        return self.recognised.lacks

    def items(self, record: Record) -> list[Record]:
        """Return the objects of a row that hold samples."""
        return unrolled(record, self.fields.rows)

    def look(self, rows: Sequence[int], objects: Sequence[Record]) -> list[str]:
        """Look at objects before any samples are made of them; return the names of their problems.

        Raises:
            KeyError, TypeError, ValueError: If one does not say which samples are correct.
        """
        names = self._problem_names(rows, objects)
        self._count_settings(objects)
        self.tasks.add(objects)
        if (path := self.fields.sample_number) is not None:
            self.numbers.extend(map(_number_or_minus_1, column(objects, path)))
        correct: list[Any] = []
        if self.fields.correct and self._verify is None:
            correct = self._raw_column("correct", objects)
            self.grades.add_scores(self._reader_of["correct"](_flatten(correct)))
        if self.fields.reward:
            rewards = self._raw_column("reward", objects)
            self.grades.add_rewards(self._reader_of["reward"](_flatten(rewards)))
            if correct and self.fields.correct != self.fields.reward:
                self._compare_with_rewards(correct, rewards)
        return names

    def find_tasks(self, name_I: Hashes) -> Hashes:
        """Find the task of each problem; equal ids of several tasks are several problems.

        Args:
            name_I: A number for the name of each object's problem.

        Returns:
            The same with other numbers where the task is part of the name.
        """
        apart, finer_I = self.tasks.apart(name_I)
        is_named = self.recognised.is_named("group")
        if apart and is_named:
            self._varying_fields = apart
            return name_I
        if apart:
            self.recognised = self.recognised.in_tasks(apart)
            self.fields = self.recognised.fields
            self._head_paths = (*apart, *self._head_paths)
        self._task_fields = self.tasks.several(finer_I)
        return finer_I

    def _problem_names(self, rows: Sequence[int], objects: Sequence[Record]) -> list[str]:
        """Return the name of the problem of each object."""
        columns = [self._name_parts(objects, path) for path in self.fields.group]
        if not columns:
            return [f"row {row + 1}" for row in rows]
        if len(columns) == 1:
            self._name_kinds |= {kind.__name__ for kind in kinds_of(columns[0])}
        is_text = all(kinds_of(values) == {str} for values in columns)
        parts = columns if is_text else [self._reader_of["group"](values) for values in columns]
        return (
            parts[0] if len(parts) == 1 else ["/".join(names) for names in zip(*parts, strict=True)]
        )

    def _name_parts(self, objects: Sequence[Record], path: str) -> list[Any]:
        """Return a field of the problem's name; a task may be missing."""
        is_of_task = path in self.tasks.paths and len(self.fields.group) > 1
        return task_texts(objects, path) if is_of_task else whole_column(objects, path)

    def _count_settings(self, objects: Sequence[Record]) -> None:
        for name, path in self._setting_paths:
            count_settings(self.settings, ((name, value) for value in column(objects, path)))
        if self._has_messages is None:
            self._has_messages = any(map(is_messages, self._raw_prompts(objects[:1])))
        if self._has_messages:
            system = (
                ("system prompt", message_text(message))
                for prompt in filter(is_messages, self._raw_prompts(objects))
                for message in prompt
                if message["role"] == "system"
            )
            count_settings(self.settings, system)

    def _raw_prompts(self, objects: Sequence[Record]) -> list[Any]:
        return column(objects, self.fields.prompt) if self.fields.prompt else []

    def _compare_with_rewards(self, correct: Sequence[Any], rewards: Sequence[Any]) -> None:
        """Count where rewards contradict what is correct, in rows that have as many of both."""
        same = [
            _list_length_or_none(verdict) == _list_length_or_none(reward)
            for verdict, reward in zip(correct, rewards, strict=True)
        ]
        self.grades.compare(
            self._reader_of["correct"](_flatten([*compress(correct, same)])),
            self._reader_of["reward"](_flatten([*compress(rewards, same)])),
        )

    def groups(self, chunk: Sequence[Sequence[Item]]) -> list[Group]:
        """Return problems, each of some objects: the columns of all of them are read together.

        Raises:
            DataError: Naming the file and the line.
        """
        rows, objects = zip(*chain.from_iterable(chunk), strict=True)
        heads = iter([*zip(*(column(objects, path) for path in self._head_paths), strict=True)])
        abouts = [self._describe_problem(items, [*islice(heads, len(items))]) for items in chunk]
        if self.recognised.has_counts:
            return [*map(_make_group, abouts, chunk, map(self._samples_from_counts, chunk))]
        golds = [about.gold for about, items in zip(abouts, chunk, strict=True) for _ in items]
        columns, size_of = self._read_samples(rows, objects, golds)
        sizes = iter(size_of)
        ends = [*accumulate((sum(islice(sizes, len(items))) for items in chunk), initial=0)]
        each: Iterable[Sequence[Sample]] = [
            SampleColumns(end - start, {key: values[start:end] for key, values in columns.items()})
            for start, end in pairwise(ends)
        ]
        if self._verify is not None:
            each = map(self._verify_samples, each, [about.gold for about in abouts])
        return [*map(_make_group, abouts, chunk, each)]

    def _describe_problem(self, items: Sequence[Item], heads: Sequence[tuple[Any, ...]]) -> About:
        """Return what a problem is; a row that says the same as the first one is not read again."""
        if heads.count(heads[0]) == len(heads) if heads else True:
            items = items[:1]
        name, prompt, gold, step = "", None, None, None
        task = task_of(items[0][1], self._task_fields) or None
        for row, item in items:
            objects = [item]
            try:
                [row_name] = self._problem_names([row], objects)
                if name and row_name != name:
                    raise ValueError(
                        f"{name!r} and {row_name!r} have one hash: run the command again"
                    )
                name = row_name
                prompt = self._merge_values(
                    "prompt", name, prompt, self._read_optional("prompt", objects)
                )
                gold = self._merge_golds(name, gold, objects, items[0][0])
                step = self._read_optional("step", objects) if step is None else step
            except UNUSABLE as error:
                raise explained(error, self.where(row)) from None
        prompt = self._name_without_task(name, items[0][1]) if prompt is None else prompt
        return About(name, prompt, gold, step, task)

    def _name_without_task(self, name: str, item: Record) -> str:
        """Return the name of a problem without its task, which stands for an unknown prompt."""
        of_task = [path for path in self.fields.group if path in self.tasks.paths]
        if not of_task or len(of_task) == len(self.fields.group):
            return name
        return name.removeprefix("".join(f"{task_texts([item], path)[0]}/" for path in of_task))

    def _read_optional(self, role: str, objects: Sequence[Record]) -> Any:
        """Return what one object says of its problem; None where it says nothing."""
        path = getattr(self.fields, role)
        values = [None] if path is None else column(objects, path)
        return None if values == [None] else self._reader_of[role](values)[0]

    def _merge_values(
        self, role: str, name: str, earlier: str | None, later: str | None
    ) -> str | None:
        """Return one value for a whole problem; a different one in another row is counted."""
        if earlier is None or later is None or earlier == later:
            return later if earlier is None else earlier
        if role == "prompt" and "--group" not in self.recognised.why.get("group", ""):
            raise ValueError(
                f"the samples of {name!r} have different prompts ({earlier[:40]!r}, "
                f"{later[:40]!r}): name the field that the samples of one problem share with "
                f"--group; {' and '.join(self.fields.group)} is not it"
            )
        self.counted[role] += 1
        return earlier

    def _merge_golds(
        self, name: str, earlier: str | None, objects: Sequence[Record], first: int
    ) -> str | None:
        """Return the right answer of a problem."""
        later = self._read_optional("gold", objects)
        why = self.recognised.why.get("group", "")
        if (
            None not in (earlier, later)
            and earlier != later
            and names_prompt(self.fields.group, why)
        ):
            raise ValueError(
                f"the right answer to {name[:40]!r} is {later!r} here, and {earlier!r} in "
                f"{self.where(first)}: these are two problems, so name the field of their ids with "
                f"--group; --group {self.fields.group[0]} takes them as one"
            )
        return self._merge_values("gold", name, earlier, later)

    def _read_samples(
        self, rows: Sequence[int], objects: Sequence[Record], golds: Sequence[str | None]
    ) -> tuple[Columns, Sequence[int]]:
        """Return the columns of the samples of some objects, and how many each object holds.

        Where that fails, the objects are read one by one, to name the line.
        """
        try:
            columns, sizes = self._raw_columns(objects)
            return self._read_columns(columns, sizes, golds), sizes
        except UNUSABLE as error:
            for row, item, gold in zip(rows, objects, golds, strict=True):
                if len(objects) > 1:
                    self._read_samples([row], [item], [gold])
            raise explained(error, self.where(rows[0])) from None

    def _raw_column(self, role: str, objects: Sequence[Record]) -> list[Any]:
        """Return the raw values of a role.

        Raises:
            KeyError, ValueError: Where one is missing that must be there.
        """
        path = self.paths[role]
        values = column(objects, path)
        if role in self.required and MISSING in values:
            if role == "correct":
                raise ValueError(f"has no {path!r}; write null where it is missing")
            return whole_column(objects, path)
        if role == "strategy" and MISSING in values:  # which is the same as null
            return [None if value is MISSING else value for value in values]
        return values

    def _raw_columns(self, objects: Sequence[Record]) -> tuple[Columns, Sequence[int]]:
        """Return the raw values of all samples, and how many each object holds."""
        columns = {role: self._raw_column(role, objects) for role in self.paths}
        of_one = [values for role, values in columns.items() if role != "tokens"]
        if not (self.recognised.lists or any(map(_has_list, of_one))):
            return columns, [1] * len(objects)
        flat: Columns = {role: [] for role in columns}
        sizes = []
        for row_values in zip(*columns.values(), strict=True):
            lists = self._as_lists(dict(zip(columns, row_values, strict=True)))
            sizes.append(len(next(iter(lists.values()))))
            for role, listed in lists.items():
                flat[role] += listed
        return flat, sizes

    def _as_lists(self, row: Mapping[str, Any]) -> Columns:
        """Return the values of one row, each as a list with an entry for each sample."""
        lists = {role: value for role, value in row.items() if _is_list(value)}
        if not self.recognised.lists:
            lists.pop("tokens", None)
        sizes = {self.paths[role]: len(value) for role, value in lists.items()}
        if len({*sizes.values()}) > 1:
            raise ValueError(f"lists of one problem must be equally long, got {sizes}")
        if self.recognised.lists and not lists:
            raise ValueError("the samples must be lists, as in the first rows")
        if lists and not self.recognised.lists:
            wrong = next(iter(sizes))
            raise ValueError(f"{wrong} is a list here, but it was one value in the first rows")
        size = next(iter(sizes.values()), 1)
        return {role: value if role in lists else [value] * size for role, value in row.items()}

    def _read_columns(
        self, columns: Columns, sizes: Sequence[int], golds: Sequence[str | None]
    ) -> Columns:
        """Return the fields of the samples whose raw values are given."""
        unknown: list[Any] = [None] * sum(sizes)
        values_by_role = {
            role: self._reader_of[role](values)
            for role, values in columns.items()
            if role != "text" and not (role == "correct" and self._verify)
        }
        answers = values_by_role.get("answer", unknown)
        scores = values_by_role.get("correct", unknown)
        if self.by_answer:
            pairs = [*zip(answers, chain.from_iterable(map(repeat, golds, sizes)), strict=True)]
            is_right = {pair: _score_by_answer(*pair) for pair in {*pairs}}
            scores = [is_right[pair] for pair in pairs]
            self.counted["unanswered"] += sum(
                answer is None and gold is not None for answer, gold in pairs
            )
        above = 0.5 if self.options.correct_above is None else self.options.correct_above
        correct = [None if score is None else score > above for score in scores]
        self.counted["unlabelled"] += values_by_role.get("strategy", []).count(None)
        return {
            "reward": scores,
            **{role: values for role, values in values_by_role.items() if role not in FURTHER},
            "correct": unknown if self.grades.is_graded else correct,
            **(_texts_and_turns(columns["text"]) if "text" in columns else {}),
            **_further_fields(columns, values_by_role),
        }

    def _samples_from_counts(self, items: Sequence[Item]) -> Sequence[Sample]:
        """Return the samples of a problem of which only numbers are known."""
        row, item = items[0]
        try:
            right, size = (
                self._reader_of[role](whole_column([item], getattr(self.fields, role)))[0]
                for role in ("num_correct", "num_samples")
            )
            fields = self.fields
            if right is None or not size or right > size:
                raise ValueError(f"{fields.num_correct} must be a whole number from 0 to "
                                 f"{fields.num_samples}, got {right} of {size}")  # fmt: skip
            if size > MOST_COUNTED:
                raise ValueError(f"{fields.num_samples} must be at most {MOST_COUNTED:,}, got "
                                 f"{size:,}")  # fmt: skip
        except UNUSABLE as error:
            raise explained(error, self.where(row)) from None
        if len(items) > 1:
            raise DataError(f"{self.where(items[1][0])}: the counts of a problem come twice: name "
                            "what identifies a problem with --group")  # fmt: skip
        good, bad = Sample(correct=True, reward=1.0), Sample(correct=False, reward=0.0)
        return (good,) * right + (bad,) * (size - right)

    def _verify_samples(self, samples: Sequence[Sample], gold: str | None) -> Sequence[Sample]:
        """Return the samples with the verifier's verdicts and answers; unknown without a gold."""
        assert self._verify is not None
        if gold is None:
            return samples
        try:
            readings = self._verify(gold, [_graded_text(sample) or "" for sample in samples])
        except DataError:
            self.counted["unfit"] += 1
            self._unusable_gold = self._unusable_gold or gold
            return samples
        return tuple(
            sample if _graded_text(sample) is None else
            sample._replace(correct=reading.correct, answer=reading.answer,
                            reward=sample.reward if "reward" in self.paths else
                            float(reading.correct))
            for sample, reading in zip(samples, readings, strict=True)
        )  # fmt: skip

    def size(self, item: Record) -> int | None:
        """Return how many samples the lists or counts of an object hold; None for one sample."""
        if self.recognised.has_counts:
            return read_count(value_at(item, str(self.fields.num_samples)))
        if not self.recognised.lists:
            return None
        values = (self._raw_column(role, [item])[0] for role in self.paths)
        return next(len(value) for value in values if _is_list(value))

    def notes(self) -> list[str]:
        """Return what was noticed, in sentences."""
        notes = list(self.recognised.notes)
        for what, noun, text in (
            ("unfit", "problem", "a right answer that cannot be used for grading, such as "
                      f"{self._unusable_gold!r}: such samples have no grade"),
            ("prompt", "row", "another prompt than the first of its group"),
            ("unlabelled", "sample",
                     "no label (null, or no field), so that no strategy is known. Credit leaves "
                     "such samples out of all sets, and an evaluation leaves their problems out of "
                     "strategies@k; if no label means no strategy, give --degenerate null"),
            ("unanswered", "sample", "no answer (null, or no field), which counts as a wrong one, "
                           "as only the answer says what is right"),
            ("gold", "row", "another right answer than the first of its group"),
        ):  # fmt: skip
            if number := self.counted[what]:
                notes.append(f"{count(number, noun)} {have(number)} {text}")
        if note := self.grades.note():
            notes.append(note)
        if len(self._name_kinds) > 1:
            kinds = " and ".join(sorted(self._name_kinds))
            notes.append(f"{self.fields.group[0]} holds {kinds}: numbers and texts of equal digits "
                         '(7, 7.0, "7") are one problem')  # fmt: skip
        if self._varying_fields:
            fields, group = " ".join(self._varying_fields), " ".join(self.fields.group)
            notes.append(f"a problem has samples of several values of {fields}: "
                         f"--group {fields} {group} separates them")  # fmt: skip
        if self.by_answer and {"correct", "reward"} & set(self.needs):
            notes.append("a sample is correct if its answer is the text or number of the right "
                         "one; --verify compares them as mathematics")  # fmt: skip
        return notes


def explained(error: Exception, where: str) -> Exception:
    """Return an error that names the file and the line of a row."""
    if isinstance(error, DataError | ConfigError):
        return error
    what = f"has no {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
    return DataError(f"{where}: {what}")


def _number_or_minus_1(value: Any) -> int:
    """Return the number of a sample; −1 where a row has none, or a list of them."""
    number = None if value is MISSING or isinstance(value, list) else read_count(value)
    return -1 if number is None else number


def _make_group(about: About, items: Sequence[Item], samples: Sequence[Sample]) -> Group:
    rows = tuple(dict.fromkeys(row for row, _ in items))
    extra = {} if about.task is None else {"task": about.task}
    return Group(about.name, about.prompt, samples, about.gold, about.step, rows, more=extra)


def _score_by_answer(answer: str | None, gold: str | None) -> float | None:
    return None if gold is None else float(is_same(answer, gold))


def _graded_text(sample: Sample) -> str | None:
    """Return the answer of a sample in a box, or the text where no answer is known."""
    return sample.last_text if sample.answer is None else f"\\boxed{{{sample.answer}}}"


def _texts_and_turns(values: list[Any]) -> Columns:
    """Return texts, and the messages of those that are conversations."""
    if kinds_of(values) <= {str}:
        return {"text": values}
    texts, turns = zip(*map(_text_and_turns, values), strict=True)
    return {"text": [*texts], "turns": [*turns]}


def _text_and_turns(value: Any) -> tuple[str | None, tuple[Any, ...]]:
    if isinstance(value, str):
        return value, ()
    if value is None or value is MISSING or value != value:  # NaN
        return None, ()
    if isinstance(value, int | float):
        return str(value), ()
    if not is_messages(value):
        raise TypeError(f"neither text nor messages: {str(value)[:80]!r}")
    return Sample.of(value)[0], tuple(value)


def _further_fields(columns: Columns, values_by_role: Columns) -> Columns:
    """Return the further fields of each sample, if any has one; None where it has none."""
    roles = [role for role in FURTHER if role in columns]
    more = [
        {role: values_by_role[role][i] for role in roles if columns[role][i] is not MISSING} or None
        for i in range(len(columns[roles[0]]) if roles else 0)
    ]
    return {"more": more} if roles else {}


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and not is_messages(value)


def _has_list(values: Sequence[Any]) -> bool:
    return list in kinds_of(values) and any(map(_is_list, values))


def _list_length_or_none(value: Any) -> int | None:
    return len(value) if isinstance(value, list) else None


def _flatten(values: Sequence[Any]) -> Sequence[Any]:
    """Return the values of samples, of which a row may hold a list."""
    if list not in kinds_of(values):
        return values
    return [item for value in values for item in (value if isinstance(value, list) else (value,))]
