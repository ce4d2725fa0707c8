"""Which field of a log has which role: named by the user, or recognised and shown.

A field is recognised by its name (case, "_" and "-" do not matter, and of a nested field the last
part counts) and by the type of its values in the first rows. Where two fields may have a role and
disagree, nothing is guessed: the error names the option that decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from setrl.logs.field_names import (
    ALSO_VERDICTS,
    ANSWERS,
    COUNTS_ALL,
    COUNTS_CORRECT,
    EITHER,
    GOLDS,
    GROUPS,
    NUMBERS,
    PROMPTS,
    REWARDS,
    ROW_LISTS,
    SAMPLE_LISTS,
    SAYS_CORRECT,
    SCORES,
    STEPS,
    STRATEGIES,
    TEXTS,
    TOKENS,
)
from setrl.logs.field_values import (
    all_are,
    is_label,
    is_name,
    is_objects,
    is_text,
    is_tokens,
    is_verdict,
    is_whole,
    kind,
    or_list,
    plain_name,
    shown,
    why_no_verdict,
)
from setrl.logs.paths import unrolled
from setrl.logs.records import Record
from setrl.logs.roles import FieldNames, Recognised
from setrl.samples.conversation import is_messages
from setrl.samples.values import read_count, read_score
from setrl.support.errors import ConfigError, DataError
from setrl.support.wording import plural

SNIFFED = 2000  # rows that decide what the fields are
ROLLOUT = ("step", "group")  # setrl's own files, whose groups are numbered anew in each step
MARKS = ("judged.", "credit.")  # what setrl adds to a row about itself


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
) -> Recognised:
    """Return the field of each role.

    Args:
        records: The first rows of a file, at least one.
        given: The fields that the user names; they are not questioned.
        verify: Whether a verifier says which samples are correct.
        needs: What the command cannot do without: correct, reward, text, prompt or strategy.
        strategies: The names that a field of strategies may have.

    Raises:
        ConfigError: If a named field is not there, or what is needed cannot be decided.
        OddValueError: If what is needed is there in most rows, and has no meaning in one of them.
    """
    rows = given.rows or _row_list(records)
    try:
        unrolled_rows = [unrolled(record, rows) for record in records]
    except (KeyError, TypeError):
        raise ConfigError(f"--rows: {rows!r} must be a list of objects in every row") from None
    items = [(item, place) for place, row in enumerate(unrolled_rows) for item in row][:SNIFFED]
    if not items:
        raise DataError(f"{rows} holds no rows")
    search = _Search(items, replace(given, rows=rows), verify, "text" in needs, strategies)
    found = search.result()
    if odd := next((search.odd[need] for need in needs if need in search.odd), None):
        raise OddValueError(*odd)
    found.require(needs)
    return found


def _row_list(records: Sequence[Record]) -> str | None:
    """Return the list of objects inside the rows, if there is one."""
    found = [path for path, values in _columns(records).items() if all_are(values, is_objects)]
    named = [path for path in found if plain_name(path) in ROW_LISTS]
    if len(found) > 1 and len(named) != 1:
        raise ConfigError(f"several fields are lists of objects ({', '.join(found)}): "
                          "name the one that holds the samples with --rows")  # fmt: skip
    return next(iter(named or found), None)


class _Search:
    """Looks for the field of each role among the columns of the first rows."""

    def __init__(
        self,
        items: Sequence[tuple[Record, int]],
        given: FieldNames,
        verify: bool,
        needs_text: bool,
        strategies: Sequence[str],
    ):
        self.verify, self.needs_text, self.strategies = verify, needs_text, strategies
        self.columns = _columns(item for item, _ in items)
        self.row_of = [row for _, row in items]
        self.size = len(items)
        self.rows = given.rows
        self.found = {
            role: paths if role == "rows" else tuple(map(self._path, paths))
            for role, paths in given.named().items()
        }
        self.why = {role: f"--{role.replace('_', '-')}" for role in self.found}
        self.given = frozenset(self.found)
        self.judged = self._judged()
        self._strategy_names = list(dict.fromkeys([*self.judged, *strategies]))
        if strategies is not STRATEGIES:  # names of right labels, which no judge has added
            self._strategy_names = [name for name in strategies if name not in self.judged]
        self.notes: list[str] = []
        self.lacks: dict[str, str] = {}
        self.odd: dict[str, tuple[int, str]] = {}
        for role in self.given - {"rows"}:
            for path in self.found[role]:
                if path not in self.columns:
                    raise ConfigError(f"{self.why[role]}: there is no field {path!r}; the rows "
                                      f"have {self._all_fields}")  # fmt: skip

    def _path(self, name: str) -> str:
        """Return the path of a field that the user names, which may be inside the list of rows."""
        inner = f"{self.rows}.{name}"
        return inner if name not in self.columns and inner in self.columns else name

    def result(self) -> Recognised:
        self._find_correct()
        self._find_group()
        if self.strategies is not STRATEGIES:  # the name gold, which answers may have, among them
            self._find_strategy()
        self._find_answers()
        self._find_strategy()
        self._find_tokens()
        self._take("sample_number", NUMBERS, is_whole)  # before texts: the name sample may be both
        self._take("text", TEXTS, is_text)
        self._take("prompt", PROMPTS, is_text)
        self._find_reward()
        for role, names, is_one in (
            ("step", STEPS, is_whole),
            ("advantage", ("advantage",), is_verdict),
            ("proxy", ("proxy",), is_verdict),
            ("second", ("second",), is_verdict),
            ("family", ("family", "families"), is_label),
        ):
            self._take(role, names, is_one)
        self._drop_constant_numbers()
        self._drop_varying_steps()
        self._check_correct()
        self._check_texts()
        return self._recognised()

    def _recognised(self) -> Recognised:
        used = {path for paths in self.found.values() for path in paths}
        unread = tuple(p for p in self.columns if p not in used and not p.startswith(MARKS))
        examples = {
            role: " + ".join(shown(self._example(path)) for path in paths)
            for role, paths in self.found.items()
            if role != "rows"
        }
        one = {k: v if k == "group" else v[0] for k, v in self.found.items()}
        lists = any(
            self._is_list(path)
            for role in ("correct", "reward", "answer", "text", "strategy")
            for path in self.found.get(role, ())
        )
        return Recognised(
            FieldNames(**one),  # type: ignore[arg-type]
            lists,
            self.why,
            examples,
            unread,
            tuple(self.notes),
            self.lacks,
            tuple(self.columns),
            tuple(path for path in unread if self._numbers_samples(path)),
        )

    def _numbers_samples(self, path: str) -> bool:
        """Whether a field may number the samples of a problem: 0 and 1 alone may be a grade."""
        column = self.columns[path]
        is_number = all_are(column, is_whole) and len({*column.values()}) > 2
        return is_number and True in self._within_groups(path)

    @property
    def _all_fields(self) -> str:
        return ", ".join(self.columns)

    def _is_list(self, path: str) -> bool:
        example = self._example(path)
        return isinstance(example, list) and not is_messages(example)

    def _example(self, path: str) -> Any:
        return next((value for value in self.columns[path].values() if value is not None), None)

    def _free(self, names: Sequence[str], is_one: Callable[[Any], bool]) -> list[str]:
        """Paths with one of the names, in the order of the names, whose values are of the type."""
        used = {path for paths in self.found.values() for path in paths}
        if names is not self._strategy_names:
            used |= {path for path in self.columns if plain_name(path) in self.judged}
        return [
            path
            for name in names
            for path, values in self.columns.items()
            if name in _norms(path, values) and path not in used and all_are(values, is_one)
        ]

    def _name(self, role: str, *paths: str, why: str = "its name") -> None:
        self.found[role], self.why[role] = paths, why

    def _take(self, role: str, names: Sequence[str], is_one: Callable[[Any], bool]) -> None:
        if role not in self.found and (free := self._free(names, or_list(is_one))):
            self._name(role, free[0])

    def _find_correct(self) -> None:
        if "correct" in self.found:
            return
        for names in (SAYS_CORRECT, SCORES):
            free = self._free(names, or_list(is_verdict))
            if not free:
                continue
            also = self._free(ALSO_VERDICTS, or_list(is_verdict))
            free += [path for path in also if path not in free and self._is_binary(path)]
            kinds = {path: self._verdicts(path) for path in free}
            differing = [path for path in free if kinds[path] != kinds[free[0]]]
            if differing:
                self.lacks["correct"] = (
                    f"{free[0]} and {differing[0]} may both say whether a sample is correct, and "
                    "they differ: choose one with --correct"
                )
                return
            agree = f"; {free[1]} is the same" if len(free) > 1 else ""
            self._name("correct", free[0], why=f"its name; {kind(self._example(free[0]))}{agree}")
            return

    def _is_binary(self, path: str) -> bool:
        """Whether the verdicts of a field are 0 and 1, and no grades."""
        values = (one for each in self._verdicts(path) for one in (
            each if isinstance(each, list) else [each]))  # fmt: skip
        return all(one in (None, 0, 1) for one in values)

    def _verdicts(self, path: str) -> list[Any]:
        return [
            [read_score(one) for one in value] if isinstance(value, list) else read_score(value)
            for value in self.columns[path].values()
        ]

    def _find_group(self) -> None:
        if "group" in self.found:
            return
        if self.rows == "samples" and {"schema_version", *ROLLOUT} <= self.columns.keys():
            self._name("group", *ROLLOUT, why="a file of setrl's rollouts")
            return
        free = [p for p in self._free_names() if len(self.columns[p]) == self.size]
        if not free:
            if self._row_is_problem():
                return
            self.lacks["group"] = (
                "no field says which samples are of one problem: name it with --group"
            )
            return
        if self._is_per_sample():
            repeated = [p for p in free if 0 < self._distinct(p) < self.size]
            chosen = (repeated or free)[0]
            why = "--prompt" if chosen in self.found.get("prompt", ()) else "its name"
            self._name("group", chosen, why=f"{why}; its values repeat" if repeated else why)
            return
        inner = [p for p in free if self.rows and p.startswith(f"{self.rows}.")]
        outer = [p for p in free if p not in inner]
        self._name("group", (inner or free)[0])
        if inner and outer and self._distinct(outer[0]) > 1 and (
            self._distinct(inner[0]) < self.size
        ):  # fmt: skip
            why = "their names; together they name a problem"
            self._name("group", outer[0], inner[0], why=why)

    def _free_names(self) -> list[str]:
        """Return the fields that may name a problem: ids, prompts, and the numbers of rows."""
        free = self._free(GROUPS, is_name)
        named = [p for p in self.found.get("prompt", ()) if all_are(self.columns[p], is_name)]
        if not named:
            return free
        # A prompt that the user names still tells problems apart, better than a coarser field that
        # has the name of a prompt, and better than a number of the row.
        late = [
            path
            for path in free
            if (name := plain_name(path)) in ("idx", "index")
            or (name in PROMPTS and self._distinct(path) < self._distinct(named[0]))
        ]
        return [*(path for path in free if path not in late), *named, *late]

    def _row_is_problem(self) -> bool:
        """Return whether a row without an id is a problem with all its samples."""
        of_samples = self.rows is not None and plain_name(self.rows) in SAMPLE_LISTS
        return of_samples or not self._is_per_sample()

    def _is_per_sample(self) -> bool:
        """Return whether a row is one sample, not a problem with lists or counts of its samples."""
        path = self.found.get("correct", (None,))[0]
        if path is not None:
            return not self._is_list(path)
        if self._counts() is not None:
            return False
        names = {*ANSWERS, *TEXTS, *REWARDS, *STRATEGIES, EITHER}
        lists = [path for path in self.columns if self._is_list(path)]
        return not any(_norms(path, self.columns[path]) & names for path in lists)

    def _distinct(self, path: str) -> int:
        return len({json.dumps(value, default=str) for value in self.columns[path].values()})

    def _within_groups(self, path: str) -> set[bool]:
        """Return the answers of all groups to: does the field differ within the group?"""
        first: dict[Any, Any] = {}
        found = set()
        for place, value in self.columns[path].items():
            names = tuple(str(self.columns[p].get(place)) for p in self.found.get("group", ()))
            key = names or self.row_of[place]
            if key in first:
                found.add(first[key] != value)
            first.setdefault(key, value)
        return found

    def _is_varied(self, role: str) -> bool:
        return True in self._within_groups(self.found[role][0])

    def _find_answers(self) -> None:
        self._take("answer", ANSWERS, is_label)
        # Two right answers of one prompt are two problems, which the reader refuses.
        is_by_prompt = names_prompt(self.found.get("group", ()), self.why.get("group", ""))
        golds = [path for path in self._free(GOLDS, is_label)
                 if is_by_prompt or True not in self._within_groups(path)]  # fmt: skip
        if golds and "gold" not in self.found:
            self._name("gold", golds[0])
        for path in self._free((EITHER,), or_list(is_label)):
            is_list = isinstance(self._example(path), list)
            differs = self._within_groups(path)
            if "answer" not in self.found and (is_list or True in differs):
                self._name("answer", path, why="its name; it differs within problems")
            elif "gold" not in self.found and not is_list and True not in differs:
                if not differs and "answer" not in self.found and self._is_per_sample():
                    self.notes.append(
                        f"{path} may be the model's answer or the right one: "
                        f"--answer {path} or --gold {path} says which"
                    )
                    continue
                self._name("gold", path, why="its name; one value per problem")

    def _find_strategy(self) -> None:
        """Take a judge's labels, else a field with the name of a strategy."""
        if "strategy" in self.found:
            return
        names = self._strategy_names
        self._take("strategy", names, is_label)
        found = self.found.get("strategy", (None,))[0]
        if found is None:
            self.lacks["strategy"] = "no field holds strategies: name it with --strategy" + (
                f" (--strategy {self.found['answer'][0]} takes each answer as a strategy)"
                if "answer" in self.found
                else ""
            )
            return
        others = [path for path in self._free(names, or_list(is_label)) if path != found]
        differing = [p for p in others if self.columns[p] != self.columns[found]]
        if differing and "strategy" not in self.given:
            self.notes.append(f"the strategy is {found}; --strategy {differing[0]} reads that "
                              "field instead")  # fmt: skip

    def _judged(self) -> list[str]:
        """Return the names of the labels that `setrl judge` has added, of one sample and lists."""
        parts = [path.split(".") for path in self.columns if path.startswith("judged.")]
        names = dict.fromkeys(plain_name(part[1]) for part in parts)
        return [form for name in names for form in (name, plural(name))]

    def _find_reward(self) -> None:
        """Take a reward, whether or not another field says which samples are correct."""
        has_correct = "correct" in self.found
        self._take("reward", REWARDS if has_correct else (*REWARDS, "score"), is_verdict)
        if "reward" not in self.found:
            self._look_for_odd("reward", REWARDS)
        if not has_correct and "reward" in self.given and "correct" not in self.lacks:
            self._name("correct", *self.found["reward"], why="--reward")

    def _find_tokens(self) -> None:
        """Take numbers of tokens, or tokens; one number a sample of a list of ids is an id."""
        is_list = not self._is_per_sample()
        for path in self._free(TOKENS, is_tokens):
            one = self._example(path)
            is_ids = plain_name(path).endswith("ids")
            if not is_ids or isinstance(one[0] if is_list and one else one, list):
                self._name("tokens", path)
                return

    def _drop_constant_numbers(self) -> None:
        role = "sample_number"
        if role in self.found and role not in self.given and not self._is_varied(role):
            del self.found[role]

    def _drop_varying_steps(self) -> None:
        """Leave the step out where samples of several steps share a group."""
        if "step" in self.found and "step" not in self.given and self._is_varied("step"):
            path = self.found.pop("step")[0]
            group = " ".join(self.found.get("group", ()))
            self.notes.append(f"a problem has samples of several steps: --group {group} {path} "
                              "separates them")  # fmt: skip

    def _check_texts(self) -> None:
        if "text" not in self.found and self.needs_text and "answer" in self.found:
            self._name("text", *self.found["answer"], why="the answer; no field holds the text")
        if "text" not in self.found:
            self.lacks["text"] = "no field holds what the model wrote: name it with --text"
        names = {plain_name(path) for path in self.found.get("group", ())}
        if "prompt" not in self.found and not names & set(PROMPTS):
            self.lacks["prompt"] = "no field holds what the model was given: name it with --prompt"

    def _counts(self) -> tuple[str, str] | None:
        correct = self._free(COUNTS_CORRECT, is_whole)
        every = self._free(COUNTS_ALL, is_whole)
        inner = f"{self.rows}." if self.rows else ""  # prefer counts in the list's objects
        pairs = [(c, n) for c in correct for n in every
                 if n.startswith(inner) == c.startswith(inner)]  # fmt: skip
        return next(filter(self._fits, pairs), next(iter(pairs), None))

    def _fits(self, pair: tuple[str, str]) -> bool:
        """Return whether no row has more correct samples than samples."""
        counts = zip(*(map(read_count, self.columns[path].values()) for path in pair), strict=False)
        return all(c <= n for c, n in counts if c is not None and n is not None)

    def _check_correct(self) -> None:
        """Use counts of correct samples if no field says which are; else note what is missing."""
        if "correct" in self.found:
            return
        has_texts = {"text", "gold"} <= self.found.keys()
        if "correct" in self.lacks or {"answer", "gold"} <= self.found.keys() or (
            self.verify and has_texts
        ):  # fmt: skip
            return
        if "num_correct" not in self.found and (pair := self._counts()) is not None:
            self._name("num_correct", pair[0])
            self._name("num_samples", pair[1])
        if not {"num_correct", "num_samples"} <= self.found.keys():
            texts = ", or --verify, which grades the boxed answers of the texts" * has_texts
            self._look_for_odd("correct", (*SAYS_CORRECT, *SCORES))
            self.lacks["correct"] = self._unclear() or (
                "no field says whether a sample is correct: name it with --correct, or the model's "
                "and the right answer with --answer and --gold, or counts with --num-correct and "
                f"--num-samples{texts}"
            )
            if "reward" not in self.found:
                self.lacks["reward"] = self._unclear() or (
                    "no field holds rewards: name it with --reward, or a field that says whether a "
                    "sample is correct with --correct"
                )

    def _look_for_odd(self, role: str, names: Collection[str]) -> None:
        """Remember the first value that says nothing, in a field most of whose values do."""
        for path, values in self.columns.items():
            if not _norms(path, values) & {*names}:
                continue
            each = [(place, why_no_verdict(one)) for place, one in _listed(values)]
            odd = [(place, why) for place, why in each if why]
            if 0 < len(odd) < len(each) / 2:
                place, why = odd[0]
                self.odd.setdefault(role, (self.row_of[place], f"{path} must be {why}"))

    def _unclear(self) -> str | None:
        """Return the field that has the name of a verdict, and a value that is not a verdict."""
        for path, values in self.columns.items():
            if _norms(path, values) & {*SAYS_CORRECT, *SCORES}:
                if all(value is None for value in values.values()):
                    return (f"{path} seems to say whether a sample is correct, but it is null in "
                            f"all of the first {len(values):,} rows")  # fmt: skip
                for _, value in _listed(values):
                    if not is_verdict(value):
                        return (
                            f"{path} seems to say whether a sample is correct, but it holds "
                            f"{shown(value)!r}: values must be true or false, numbers, or words "
                            "such as correct and wrong; or name another field with --correct"
                        )
        return None


def _listed(values: Mapping[int, Any]) -> list[tuple[int, Any]]:
    """Return the place and the value of each sample: a row may have a list of them."""
    return [
        (place, one)
        for place, value in values.items()
        for one in (value if isinstance(value, list) else [value])
    ]


def names_prompt(group: Sequence[str], why: str) -> bool:
    """Return whether a problem is named by its prompt, and not because the user said so."""
    is_prompt = why.startswith("--prompt") or (len(group) == 1 and plain_name(group[0]) in PROMPTS)
    return is_prompt and why != "--group"


def _columns(records: Iterable[Record]) -> dict[str, dict[int, Any]]:
    """Path → row → value, of every field that is not an object itself."""
    columns: dict[str, dict[int, Any]] = {}
    for place, record in enumerate(records):
        for path, value in _leaves(record, ""):
            columns.setdefault(path, {})[place] = value
    return columns


def _leaves(record: Record, before: str) -> Iterable[tuple[str, Any]]:
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _norms(path: str, values: Mapping[int, Any]) -> set[str]:
    """Return the name in plain letters, for a list also in the singular."""
    name = plain_name(path)
    is_list = any(isinstance(value, list) for value in values.values())
    return {name, name.removesuffix("s")} if is_list else {name}
