"""Which field of a log has which role: named by the user, or recognised and shown.

A field is recognised by its name (case, "_" and "-" do not matter, and of a nested field the last
part counts) and by the type of its values in the first rows: `field_table`. Where two fields may
have a role and disagree, nothing is guessed: the error names the option that decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from setrl.logs.field_table import (
    ALSO_VERDICTS,
    EITHER,
    PROMPTS,
    ROLES,
    ROW_LISTS,
    SAMPLE_LISTS,
    SAYS_CORRECT,
    SCORES,
    STRATEGIES,
)
from setrl.logs.field_values import (
    all_are,
    is_label,
    is_list_of_objects,
    is_verdict,
    is_whole,
    kind,
    or_list,
    plain_name,
    shown,
    why_no_verdict,
)
from setrl.logs.first_rows import FirstRows
from setrl.logs.options import VerdictWords, hint
from setrl.logs.paths import Record, is_mapping_of_rows, unrolled
from setrl.logs.roles import SAME_IDS, FieldNames, Recognised
from setrl.logs.task_fields import task_paths
from setrl.samples.values import read_count, read_score
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import plural

SNIFFED = 2000  # rows that decide what the fields are
MARKS = ("judged.", "credit.")  # what setrl adds to a row about itself
VERDICTS = (*SAYS_CORRECT, *SCORES)
MAY_BE_LISTS = ("correct", "reward", "answer", "text", "strategy")  # of the samples of a problem


class OddValueError(ValueError):
    """A value without a meaning, in a field whose other values have one.

    Attributes:
        row: The place of its row among the first rows.
    """

    def __init__(self, row: int, what: str):
        super().__init__(what)
        self.row = row


def recognise(
    records: Sequence[Record],
    given: FieldNames,
    verify: bool = False,
    needs: Collection[str] = (),
    strategies: Sequence[str] = STRATEGIES,
    words: VerdictWords | None = None,
) -> Recognised:
    """Return the field of each role.

    Args:
        records: The first rows of a file, at least one.
        given: The fields that the user names; they are not questioned.
        verify: Whether a verifier says which samples are correct.
        needs: What the command cannot do without: correct, reward, text, prompt or strategy.
        strategies: The names that a field of strategies may have.
        words: What further words mean that say whether a sample is correct.

    Raises:
        ConfigError: If a named field is not there, or what is needed cannot be decided.
        OddValueError: If what is needed is there in most rows, and has no meaning in one of them.
    """
    rows = (
        given.rows
        or _mapping_path(records)
        or _row_list_path(FirstRows(records, range(len(records))))
    )
    try:
        unrolled_rows = [unrolled(record, rows) for record in records]
    except (KeyError, TypeError):
        raise ConfigError(f"--rows: {rows!r} must be a list of objects in every row") from None
    items = [(item, place) for place, row in enumerate(unrolled_rows) for item in row][:SNIFFED]
    if not items:
        raise DataError(f"{rows} holds no rows")
    first = FirstRows(*zip(*items, strict=True))
    given = replace(given, rows=rows)
    search = _Search(first, given, verify, "text" in needs, strategies, words or VerdictWords())
    recognised = search.result()
    if odd := next((search.odd[need] for need in needs if need in search.odd), None):
        raise OddValueError(*odd)
    recognised.require(needs)
    return recognised


def _mapping_path(records: Sequence[Record]) -> str | None:
    """Return the one mapping in the rows whose values are lists of rows, as of EvalPlus."""
    paths = {path for record in records for path in _mapping_paths(record, "")}
    return next(iter(paths)) if len(paths) == 1 else None


def _mapping_paths(record: Record, before: str) -> Iterator[str]:
    for key, value in record.items():
        if is_mapping_of_rows(value) and not {*map(plain_name, value)} <= {*ROW_LISTS}:
            yield f"{before}{key}"
        elif isinstance(value, dict):
            yield from _mapping_paths(value, f"{before}{key}.")


def _row_list_path(first: FirstRows) -> str | None:
    """Return the list of objects inside the rows, if there is one."""
    lists = [path for path, column in first.columns.items() if all_are(column, is_list_of_objects)]
    named = [path for path in lists if plain_name(path) in ROW_LISTS]
    if len(lists) > 1 and len(named) != 1:
        raise ConfigError(f"several fields are lists of objects ({', '.join(lists)}): "
                          "name the one that holds the samples with --rows")  # fmt: skip
    return next(iter(named or lists), None)


class _Search:
    """Looks for the field of each role among the columns of the first rows."""

    def __init__(
        self,
        first: FirstRows,
        given: FieldNames,
        verify: bool,
        needs_text: bool,
        strategies: Sequence[str],
        words: VerdictWords,
    ):
        self.first, self.columns, self.rows = first, first.columns, given.rows
        self.verify, self.needs_text, self.strategies = verify, needs_text, strategies
        self.paths = {
            role: paths if role == "rows" else tuple(map(self._resolve_path, paths))
            for role, paths in given.named().items()
        }
        self.why = {role: f"--{role.replace('_', '-')}" for role in self.paths}
        self.given = frozenset(self.paths)
        self.judged = self._judged_names()
        self.notes: list[str] = []
        self.lacks: dict[str, str] = {}
        self.odd: dict[str, tuple[int, str]] = {}
        verdicts = self.paths.get("correct", ()), self.paths.get("reward", ())
        named = first.named((*VERDICTS, *ALSO_VERDICTS, *ROLES["reward"].names))
        first.change({*chain(named, *verdicts)} & self.columns.keys() if words else (), words.meant)
        for role in self.given - {"rows"}:
            for path in self.paths[role]:
                if path not in self.columns:
                    raise ConfigError(f"{self.why[role]}: there is no field {path!r}; the rows "
                                      f"have {', '.join(self.columns)}")  # fmt: skip

    def _resolve_path(self, name: str) -> str:
        """Return the path of a field that the user names, which may be inside the list of rows."""
        inner = f"{self.rows}.{name}"
        return inner if name not in self.columns and inner in self.columns else name

    def _judged_names(self) -> list[str]:
        """Return the names of the labels that `setrl judge` has added, of one sample and lists."""
        parts = [path.split(".") for path in self.columns if path.startswith("judged.")]
        names = dict.fromkeys(plain_name(part[1]) for part in parts)
        return [form for name in names for form in (name, plural(name))]

    def result(self) -> Recognised:
        self._find_correct()
        self._find_group()
        self._tell_tasks_apart()
        if self.strategies is not STRATEGIES:  # the name gold, which answers may have, among them
            self._find_strategy()
        self._find_answers()
        self._find_strategy()
        self._find_tokens()
        for role in ("sample_number", "text", "prompt"):  # in this order: sample may be both
            self._take_by_name(role)
        self._find_reward()
        for role in ("step", "advantage", "proxy", "second", "family"):
            self._take_by_name(role)
        self._drop_constant_numbers_and_varying_steps()
        self._check_correct()
        self._check_texts()
        return self._build_recognised()

    def _build_recognised(self) -> Recognised:
        used = {path for paths in self.paths.values() for path in paths}
        unread = tuple(p for p in self.columns if p not in used and not p.startswith(MARKS))
        examples = {
            role: " + ".join(shown(self.first.example(path)) for path in paths)
            for role, paths in self.paths.items()
            if role != "rows"
        }
        fields = {k: v if k == "group" else v[0] for k, v in self.paths.items()}
        lists = [path for role in MAY_BE_LISTS for path in self.paths.get(role, ())]
        return Recognised(
            FieldNames(**fields),  # type: ignore[arg-type]
            any(map(self.first.is_list, lists)),
            self.why,
            examples,
            unread,
            tuple(self.notes),
            self.lacks,
            tuple(self.columns),
            tuple(path for path in unread if self._may_number_samples(path)),
            tuple(path for path in unread if self._may_hold_strategies(path)),
        )

    def _may_hold_strategies(self, path: str) -> bool:
        """Whether a field may hold strategies: texts or numbers that differ within problems."""
        column = self.columns[path]
        if not all_are(column, or_list(is_label)):
            return False
        return self.first.is_list(path) or True in self._differs_in_groups(path)

    def _may_number_samples(self, path: str) -> bool:
        """Whether a field may number the samples of a problem: 0 and 1 alone may be a grade."""
        column = self.columns[path]
        is_number = all_are(column, is_whole) and len({*column.values()}) > 2
        return is_number and True in self._differs_in_groups(path)

    def _differs_in_groups(self, path: str) -> set[bool]:
        return self.first.differs(path, self.paths.get("group", ()))

    def _free_paths(
        self, role: str, names: Sequence[str] | None = None, lists: bool = True
    ) -> list[str]:
        """Return the paths that may have a role and have none yet, in the order of its names."""
        fits = or_list(ROLES[role].fits) if lists else ROLES[role].fits
        used = {path for paths in self.paths.values() for path in paths}
        if role != "strategy":
            used |= {path for path in self.columns if plain_name(path) in self.judged}
        free = self.first.named(ROLES[role].names if names is None else names, fits)
        return [path for path in free if path not in used]

    def _give_role(self, role: str, *paths: str, why: str = "its name") -> None:
        self.paths[role], self.why[role] = paths, why

    def _take_by_name(self, role: str, names: Sequence[str] | None = None) -> None:
        if role not in self.paths and (free := self._free_paths(role, names)):
            self._give_role(role, free[0])

    def _find_correct(self) -> None:
        if "correct" in self.paths:
            return
        free = self._free_paths("correct") or self._free_paths("correct", SCORES)
        if not free:
            return
        also = [p for p in self._free_paths("correct", ALSO_VERDICTS) if self._is_binary(p)]
        path, *others = dict.fromkeys([*free, *also])
        verdicts = {candidate: self._read_verdicts(candidate) for candidate in (path, *others)}
        differing = next(
            (candidate for candidate in others if verdicts[candidate] != verdicts[path]), None
        )
        if differing is not None:
            self.lacks["correct"] = (
                f"{path} and {differing} may both say whether a sample is correct, and "
                "they differ: choose one with --correct"
            )
            return
        agree = f"; {others[0]} is the same" if others else ""
        self._give_role("correct", path, why=f"its name; {kind(self.first.example(path))}{agree}")

    def _is_binary(self, path: str) -> bool:
        """Whether the verdicts of a field are 0 and 1, and no grades."""
        return all(read_score(value) in (None, 0, 1) for _, value in self.first.listed(path))

    def _read_verdicts(self, path: str) -> list[Any]:
        return [
            [read_score(verdict) for verdict in value]
            if isinstance(value, list)
            else read_score(value)
            for value in self.columns[path].values()
        ]

    def _find_group(self) -> None:
        if "group" in self.paths:
            return
        distinct, size = self.first.distinct, len(self.first)
        free = [path for path in self._free_problem_names() if len(self.columns[path]) == size]
        if not free:
            if not self._row_is_problem():
                self.lacks["group"] = (
                    "no field says which samples are of one problem: name it with --group"
                )
        elif self._is_per_sample():
            repeated = [path for path in free if 0 < distinct(path) < size]
            chosen = (repeated or free)[0]
            why = "--prompt" if chosen in self.paths.get("prompt", ()) else "its name"
            self._give_role("group", chosen, why=f"{why}; its values repeat" if repeated else why)
        else:
            inner = [p for p in free if self.rows and p.startswith(f"{self.rows}.")]
            outer = [p for p in free if p not in inner]
            self._give_role("group", (inner or free)[0])
            if inner and outer and distinct(outer[0]) > 1 and distinct(inner[0]) < size:
                why = "their names; together they name a problem"
                self._give_role("group", outer[0], inner[0], why=why)

    def _tell_tasks_apart(self) -> None:
        """Let fields such as task and split be part of a problem's name where ids repeat."""
        if "group" not in self.paths.keys() - self.given:
            return
        apart: list[str] = []
        base = self.paths["group"]
        for path in task_paths(path for path in self.columns if path not in base):
            if all_are(self.columns[path], is_label) and True in self._differs_in_groups(path):
                apart.append(path)
                why = f"{self.why['group'].partition(';')[0]}; {SAME_IDS}"
                self._give_role("group", *apart, *base, why=why)

    def _free_problem_names(self) -> list[str]:
        """Return the fields that may name a problem: ids, prompts, and the numbers of rows."""
        free = self._free_paths("group", lists=False)
        prompts = self.paths.get("prompt", ())
        named = [p for p in prompts if all_are(self.columns[p], ROLES["group"].fits)]
        if not named:
            return free
        # A prompt that the user names still tells problems apart, better than a coarser field that
        # has the name of a prompt, and better than a number of the row.
        late = [
            path
            for path in free
            if (name := plain_name(path)) in ("idx", "index")
            or (name in PROMPTS and self.first.distinct(path) < self.first.distinct(named[0]))
        ]
        return [*(path for path in free if path not in late), *named, *late]

    def _row_is_problem(self) -> bool:
        """Return whether a row without an id is a problem with all its samples."""
        of_samples = self.rows is not None and plain_name(self.rows) in SAMPLE_LISTS
        return of_samples or not self._is_per_sample()

    def _is_per_sample(self) -> bool:
        """Return whether a row is one sample, not a problem with lists or counts of its samples."""
        if "correct" in self.paths:
            return not self.first.is_list(self.paths["correct"][0])
        names = [name for role in ("answer", "text", "reward") for name in ROLES[role].names]
        lists = self.first.named([*names, *STRATEGIES, EITHER])
        return self._find_counts() is None and not any(map(self.first.is_list, lists))

    def _find_answers(self) -> None:
        self._take_by_name("answer")
        # Two right answers of one prompt are two problems, which the reader refuses.
        is_by_prompt = names_prompt(self.paths.get("group", ()), self.why.get("group", ""))
        golds = [path for path in self._free_paths("gold", lists=False)
                 if is_by_prompt or True not in self._differs_in_groups(path)]  # fmt: skip
        if golds and "gold" not in self.paths:
            self._give_role("gold", golds[0])
        for path in self._free_paths("answer", (EITHER,)):
            is_list = isinstance(self.first.example(path), list)
            differs = self._differs_in_groups(path)
            if "answer" not in self.paths and (is_list or True in differs):
                self._give_role("answer", path, why="its name; it differs within problems")
            elif "gold" not in self.paths and not is_list and True not in differs:
                if not differs and "answer" not in self.paths and self._is_per_sample():
                    self.notes.append(
                        f"{path} may be the model's answer or the right one: "
                        f"--answer {path} or --gold {path} says which"
                    )
                    continue
                self._give_role("gold", path, why="its name; one value per problem")

    def _find_strategy(self) -> None:
        """Take a judge's labels, else a field with the name of a strategy."""
        if "strategy" in self.paths:
            return
        names = [*self.judged, *self.strategies]
        if self.strategies is not STRATEGIES:  # names of right labels, which no judge has added
            names = [name for name in self.strategies if name not in self.judged]
        self._take_by_name("strategy", names)
        if "strategy" not in self.paths:
            answer = self.paths.get("answer", ("",))[0]
            self.lacks["strategy"] = "no field holds strategies: name it with --strategy" + (
                f" (--strategy {answer} takes each answer as a strategy)" if answer else ""
            )
            return
        taken = self.columns[self.paths["strategy"][0]]
        others = [
            path for path in self._free_paths("strategy", names) if self.columns[path] != taken
        ]
        if others:
            self.notes.append(f"the strategy is {self.paths['strategy'][0]}; --strategy "
                              f"{others[0]} reads that field instead")  # fmt: skip

    def _find_reward(self) -> None:
        """Take a reward, whether or not another field says which samples are correct."""
        has_correct = "correct" in self.paths
        names = ROLES["reward"].names
        self._take_by_name("reward", names if has_correct else (*names, "score"))
        if "reward" not in self.paths:
            self._look_for_odd("reward", names)
        if not has_correct and "reward" in self.given and "correct" not in self.lacks:
            self._give_role("correct", *self.paths["reward"], why="--reward")

    def _find_tokens(self) -> None:
        """Take numbers of tokens, or tokens; one number a sample of a list of ids is an id."""
        is_list = not self._is_per_sample()
        for path in self._free_paths("tokens", lists=False):
            example = self.first.example(path)
            is_ids = plain_name(path).endswith("ids")
            if not is_ids or isinstance(example[0] if is_list and example else example, list):
                self._give_role("tokens", path)
                return

    def _drop_constant_numbers_and_varying_steps(self) -> None:
        """Leave the step out where samples of several steps share a group."""
        varies = {
            role: True in self._differs_in_groups(self.paths[role][0])
            for role in ("sample_number", "step")
            if role in self.paths.keys() - self.given
        }
        if varies.get("sample_number") is False:
            del self.paths["sample_number"]
        if varies.get("step"):
            path = self.paths.pop("step")[0]
            group = " ".join(self.paths.get("group", ()))
            self.notes.append(f"a problem has samples of several steps: --group {group} {path} "
                              "separates them")  # fmt: skip

    def _check_texts(self) -> None:
        if "text" not in self.paths and self.needs_text and "answer" in self.paths:
            self._give_role(
                "text", *self.paths["answer"], why="the answer; no field holds the text"
            )
        if "text" not in self.paths:
            self.lacks["text"] = "no field holds what the model wrote: name it with --text"
        names = {plain_name(path) for path in self.paths.get("group", ())}
        if "prompt" not in self.paths and not names & set(PROMPTS):
            self.lacks["prompt"] = "no field holds what the model was given: name it with --prompt"

    def _find_counts(self) -> tuple[str, str] | None:
        """Return the fields of counts: of correct samples, and of all."""
        inner = f"{self.rows}." if self.rows else ""  # prefer counts in the list's objects
        pairs = [
            (c, n)
            for c in self._free_paths("num_correct", lists=False)
            for n in self._free_paths("num_samples", lists=False)
            if n.startswith(inner) == c.startswith(inner)
        ]
        return next(filter(self._are_counts_possible, pairs), next(iter(pairs), None))

    def _are_counts_possible(self, pair: tuple[str, str]) -> bool:
        """Return whether no row has more correct samples than samples."""
        counts = zip(*(map(read_count, self.columns[path].values()) for path in pair), strict=False)
        return all(c <= n for c, n in counts if c is not None and n is not None)

    def _check_correct(self) -> None:
        """Use counts of correct samples if no field says which are; else note what is missing."""
        has_texts = {"text", "gold"} <= self.paths.keys()
        by_answer = {"answer", "gold"} <= self.paths.keys() or (self.verify and has_texts)
        if "correct" in self.paths or "correct" in self.lacks or by_answer:
            return
        if "num_correct" not in self.paths and (pair := self._find_counts()) is not None:
            self._give_role("num_correct", pair[0])
            self._give_role("num_samples", pair[1])
        if {"num_correct", "num_samples"} <= self.paths.keys():
            return
        texts = ", or --verify, which grades the boxed answers of the texts" * has_texts
        self._look_for_odd("correct", VERDICTS)
        unclear = self._why_no_usable_verdict()
        self.lacks["correct"] = unclear or (
            "no field says whether a sample is correct: name it with --correct, or the model's "
            "and the right answer with --answer and --gold, or counts with --num-correct and "
            f"--num-samples{texts}"
        )
        if "reward" not in self.paths:
            self.lacks["reward"] = unclear or (
                "no field holds rewards: name it with --reward, or a field that says whether a "
                "sample is correct with --correct"
            )

    def _look_for_odd(self, role: str, names: Collection[str]) -> None:
        """Remember the first value that says nothing, in a field most of whose values do."""
        for path in self._paths_in_order(names):
            each = [(row, why_no_verdict(value), value) for row, value in self.first.listed(path)]
            odd = [(row, why + hint([value])) for row, why, value in each if why]
            if 0 < len(odd) < len(each) / 2:
                row, why = odd[0]
                self.odd.setdefault(role, (row, f"{path} must be {why}"))

    def _why_no_usable_verdict(self) -> str | None:
        """Say which field has the name of a verdict and holds none; None if none does."""
        for path in self._paths_in_order(VERDICTS):
            column = self.columns[path]
            if all(value is None for value in column.values()):
                return (f"{path} seems to say whether a sample is correct, but it is null in all "
                        f"of the first {len(column):,} rows")  # fmt: skip
            for _, value in self.first.listed(path):
                if not is_verdict(value):
                    return (
                        f"{path} seems to say whether a sample is correct, but it holds "
                        f"{shown(value)!r}: values must be true or false, numbers, or words "
                        "such as correct and wrong; or name another field with --correct"
                        + hint([value])
                    )
        return None

    def _paths_in_order(self, names: Collection[str]) -> list[str]:
        """Return the paths with one of the names, in the order of the fields."""
        named = {*self.first.named(names)}
        return [path for path in self.columns if path in named]


def names_prompt(group: Sequence[str], why: str) -> bool:
    """Return whether a problem is named by its prompt, and not because the user said so."""
    is_prompt = why.startswith("--prompt") or (len(group) == 1 and plain_name(group[0]) in PROMPTS)
    return is_prompt and why != "--group"
