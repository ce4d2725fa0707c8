"""What a judge is asked, what it answers (who shares a strategy), and what it is called.

A name is the judge's kind and every setting that changes labels: `setrl judge` resumes a file only
under an equal name, so a name that lacked a setting would mix the labels of two judges.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from types import BuiltinFunctionType, FunctionType
from typing import Any, Protocol, TypeVar, runtime_checkable

from setrl.samples.labels import by_first_appearance
from setrl.samples.types import Group
from setrl.samples.values import DEGENERATE, read_label
from setrl.support.errors import RunError
from setrl.support.secrets import is_secret

T = TypeVar("T")

Places = Sequence[int | None]  # of samples' texts among those that a judge is asked about


@dataclass(frozen=True)
class Judgement:
    """The strategies of one prompt's samples, or why they are unknown.

    Attributes:
        labels_N: Labels ≥ 0 by first appearance, `DEGENERATE` (−1) for a sample of none, None for
            one that is unknown; None if the group could not be judged.
        names_N: The name of each sample's strategy, if the judge gives names.
        families_N: The family (macro-strategy) of each sample's strategy, labelled as strategies
            are, if the judge tells two levels apart.
        reason: Why they are unknown, in one word of a small set; None if they are known.
        detail: What the judge or its server answered instead, shortened; None if that is not known.
    """

    labels_N: tuple[int | None, ...] | None
    names_N: tuple[str | None, ...] | None = None
    reason: str | None = None
    detail: str | None = field(default=None, compare=False)
    families_N: tuple[int | None, ...] | None = None

    def read(self, num_samples: int, judge: Judge | None = None) -> Judgement:
        """Return the judgement with its labels as every door reads them.

        Raises:
            RunError: Naming the judge, unless it gives each sample a number, −1 or None.
        """
        if self.labels_N is None:
            return self
        try:
            return replace(
                self,
                labels_N=_read_labels(self.labels_N, self.names_N, num_samples),
                families_N=self.families_N and _read_labels(self.families_N, None, num_samples),
            )
        except ValueError as error:
            who = "a judge" if judge is None else f"the judge {judge.name!r}"
            raise RunError(f"{who} must give {error}") from None


def _read_labels(
    labels_N: Sequence[Any], names_N: Sequence[Any] | None, num_samples: int
) -> tuple[int | None, ...]:
    sizes = {len(labels_N), len(labels_N if names_N is None else names_N)}
    if sizes != {num_samples}:
        raise ValueError(f"{num_samples} samples one label each, got {max(sizes - {num_samples})}")
    labels: list[Any] = [read_label(label) for label in (*labels_N, *(names_N or ()))][:num_samples]
    if any(isinstance(label, str) for label in labels):
        raise ValueError(f"numbers as labels, and names beside them, got {labels_N!r:.80}")
    return tuple(labels)


def fields_given(judge: Judge | None) -> set[str]:
    """Return the fields of methods that a judge gives: families only from one of two levels."""
    levels = (
        {"strategies", "families"} if getattr(judge, "gives_families", False) else {"strategies"}
    )
    return set() if judge is None else levels


def _judge_known_texts(judge: Callable[..., list[Judgement]], sees_copies: bool) -> Any:
    @functools.wraps(judge)
    def of_known(self: Judge, groups: Sequence[Group]) -> list[Judgement]:
        questions = [_ask_about_texts(group, sees_copies) for group in groups]
        judgements = judge(self, [group for group, _ in questions])
        places = (places_N for _, places_N in questions)
        pairs = zip(judgements, places, strict=True)
        return [_spread_labels(judgement, places_N, self) for judgement, places_N in pairs]

    return of_known


def _submit_known_texts(submit: Callable[..., Future[Judgement]], sees_copies: bool) -> Any:
    @functools.wraps(submit)
    def of_known(self: BackgroundJudge, group: Group) -> Future[Judgement]:
        question, places_N = _ask_about_texts(group, sees_copies)
        answer = submit(self, question)
        return answer if question is group else _spread_answer(answer, places_N, self)

    return of_known


def _ask_about_texts(group: Group, sees_copies: bool) -> tuple[Group, Places]:
    """Return what a judge is asked about, and the place there of each sample's text.

    A sample whose text is unknown has no place: its strategy is unknown, too.
    """
    place: dict[Any, int] = {}
    keys = ((sample.text, i if sees_copies else 0) for i, sample in enumerate(group.samples))
    places_N = [None if k[0] is None else place.setdefault(k, len(place)) for k in keys]
    is_whole = len(place) == len(group)
    return (group if is_whole else Group.of_texts(group.prompt, [k[0] for k in place])), places_N


def _spread_labels(judgement: Judgement, places_N: Places, judge: Judge) -> Judgement:
    """Give each sample what its text got."""
    num_asked = max((i for i in places_N if i is not None), default=-1) + 1
    judgement = judgement.read(num_asked, judge)
    if judgement.labels_N is None:
        return judgement
    of_texts = {name: getattr(judgement, name) for name in ("labels_N", "names_N", "families_N")}
    of_samples: dict[str, Any] = {
        name: None if values is None else tuple(None if i is None else values[i] for i in places_N)
        for name, values in of_texts.items()
    }
    return replace(judgement, **of_samples)


def _spread_answer(answer: Future[Judgement], places_N: Places, judge: Judge) -> Future[Judgement]:
    """Return a future that gives each sample what its text gets."""
    whole: Future[Judgement] = Future()
    whole.set_running_or_notify_cancel()  # only the question itself can be cancelled

    def pass_on(done: Future[Judgement]) -> None:
        try:
            whole.set_result(_spread_labels(done.result(), places_N, judge))
        except BaseException as error:
            whole.set_exception(error)

    answer.add_done_callback(pass_on)
    return whole


@runtime_checkable
class Judge(Protocol):
    """Says which samples of a prompt use the same strategy.

    Inherit from it, or write all three members yourself. A subclass is asked about the different
    texts of each group only, and equal texts get one label: no judge can tell them apart. With
    `class Mine(Judge, sees_copies=True)` it is asked about copies, too. It is not asked about
    samples whose text is unknown, and their labels are unknown. A subclass that is a
    dataclass has a name: its kind, and its fields without those with `compare=False`.
    """

    def __init_subclass__(cls, *, sees_copies: bool = False, **others: Any) -> None:
        super().__init_subclass__(**others)
        ways: dict[str, Callable[[Any, bool], Any]] = {
            "judge": _judge_known_texts,
            "submit": _submit_known_texts,
        }
        for name in ways.keys() & vars(cls):
            setattr(cls, name, ways[name](vars(cls)[name], sees_copies))

    @property
    def name(self) -> str:
        """What the judge is called in logs; equal names mean equal labels.

        `setrl judge` resumes a file only under an equal name, so the name has every setting that
        changes labels.
        """
        return name_of(self)

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return one judgement per group, in the order of the groups.

        It blocks until all are made, and never raises for a failure of a service: a group that
        could not be judged gets a judgement with a reason.
        """

    def close(self) -> None:
        """Release threads, connections and files; most judges hold none."""
        return


@runtime_checkable
class BackgroundJudge(Judge, Protocol):
    """A judge that works while its caller does something else."""

    def submit(self, group: Group) -> Future[Judgement]:
        """Ask about one group without waiting; the future gives what `judge` would."""


def judgement_by_names(names: Sequence[Any]) -> Judgement:
    """Give equal names one label; −1 is of no strategy, None unknown.

    >>> judgement_by_names(["factoring", -1, "formula", None, "factoring"]).labels_N
    (0, -1, 1, None, 0)

    Raises:
        ValueError: If a name is no label.
    """
    labels = list(map(read_label, names))
    shown = tuple(None if name in (None, DEGENERATE) else str(name) for name in labels)
    return Judgement(by_first_appearance(labels), shown)


def name_of(value: Any) -> str:
    """Return the kind of a dataclass and its fields, without those at their defaults.

    A field with `compare=False` changes no labels and is left out. The first field has no label.

    Raises:
        TypeError: If the value is not a dataclass.
    """
    kind = type(value).__name__
    if not is_dataclass(value):
        raise TypeError(
            f"{kind} needs a name with every setting that changes labels: make it a dataclass, "
            "or give it the attribute `name`"
        )
    settings = changed_settings(value)
    first = fields(value)[0].name if fields(value) else ""
    settings_texts = [
        f"{kind_of(kind)}:{shown_setting(settings.pop(first))}"
        if first in settings
        else kind_of(kind)
    ]
    return ", ".join([*settings_texts, *labelled_settings(settings)])


def changed_settings(value: Any, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a dataclass that are compared and are not at their defaults.

    A key or a password changes no label, and must not be written.
    """
    settings = {item.name: getattr(value, item.name) for item in fields(value) if item.compare}
    defaults = {
        item.name: item.default if item.default_factory is MISSING else item.default_factory()
        for item in fields(value)
    }
    names = (name for name in settings if name not in leave_out and not is_secret(name))
    return {name: settings[name] for name in names if settings[name] != defaults[name]}


def labelled_settings(settings: dict[str, Any]) -> list[str]:
    """Return each setting with its label.

    >>> labelled_settings({"threshold": 0.1, "family": None})
    ['threshold 0.1', 'family None']
    """
    return [f"{name} {shown_setting(value)}" for name, value in settings.items()]


def kind_of(class_name: str) -> str:
    """Return the kind that a class is called after.

    >>> kind_of("ExactJudge"), kind_of("LMJudge"), kind_of("_OneStrategy")
    ('exact', 'lm', 'one_strategy')
    """
    words = re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", class_name.removesuffix("Judge"))
    return "_".join(words).lower()


def shown_setting(value: Any) -> str:
    """Return a setting as text that is equal in every process.

    >>> shown_setting(len), shown_setting((1, 2)), shown_setting("m")
    ('builtins:len', '(1, 2)', 'm')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | list):
        return f"({', '.join(map(shown_setting, value))})"
    if isinstance(value, type | FunctionType | BuiltinFunctionType):
        return f"{value.__module__}:{value.__qualname__}"
    if hasattr(value, "judge") or is_dataclass(value):
        name = value.name if hasattr(value, "judge") else name_of(value)
        return name if name.isidentifier() else f"[{name}]"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
