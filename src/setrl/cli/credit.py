"""`setrl credit`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tyro.conf import Positional

from setrl.cli.output import Said
from setrl.cli.shared_options import LogFields, MethodOptions
from setrl.core.advantages import Advantages, AnyMethod
from setrl.logs.log import Log, open_log
from setrl.logs.writing import (
    CREDIT,
    begins_as,
    credit_record,
    is_of_method,
    refuse_taken,
    rows_with,
)
from setrl.samples.types import Group
from setrl.support import files
from setrl.support.errors import ConfigError, usage_errors
from setrl.support.wording import MISSING, between, count, plural
from setrl.train import method_config
from setrl.train.scoring import ScoredBatch
from setrl.train.scoring.credit import needs_of, refuse_missing, scored_groups

BATCH = 256  # groups that are credited at once, whose rows are in memory until they are written


@dataclass(frozen=True, kw_only=True)
class CreditLog(MethodOptions, LogFields, Said):
    """Add the advantage of every sample to the rows of a log.

    If a row or an object is one sample, it gets the key `advantage`. If a row has lists of samples,
    it gets the list `advantages`. The advantage is null if it is unknown: the sample lacks what the
    method reads, such as a label, or the group was skipped, because too few of its samples can be
    used. The key `credit` in each row names the method of each key with advantages. Other fields
    are kept. The rows of a group are written together, at the place of its first row.

    Attributes:
        file: The samples: an evaluation file, a log, or the folder of another tool's log
            (docs/importing.md).
        method: {methods}. --set gives its options. Or a method in the form of a config, such as
            "{method: sum, of: [{method: grpo, weight: 0.5}, {method: poly_epo}]}".
        set_size: The set size K, for methods that have one.
        into: The key of the advantage: by default advantage, or advantage_METHOD if the log has an
            advantage already.
        output: The file for the rows (JSONL); standard output by default.
        allow_damaged: Leave out lines that cannot be read, and count them, instead of stopping:
            they get no row, and the credit of their groups is computed without them.
        json: Print the summary as one JSON object; the rows need --output then.

    Json:
        output: The file with the rows.
        into: The key of the advantages.
        method: The method.
        set_size: Its K.
        estimator: How the credit was computed.
        groups: The number of groups.
        samples: The number of samples.
        right: The number of right samples that were credited; samples whose credit is null are in
            neither number.
        wrong: The number of wrong ones.
        left_out: The number of samples that could not be used.
        skipped: The number of groups with too few samples that can be used.
        dead: The number of groups in which every advantage is 0, without the skipped ones.
        wrong_up: The number of wrong samples with a positive advantage.
        right_down: The number of right samples with a negative advantage.
    """

    file: Positional[Path]
    method: str = "poly_epo"
    set_size: int | None = None
    into: str | None = None
    output: Path | None = None
    allow_damaged: bool = False

    def run(self) -> None:
        """Write the rows with their advantages, and a summary to stderr."""
        if self.json and self.output is None:
            raise ConfigError("--json prints the summary: name a file for the rows with --output")
        files.refuse_own_input(self.output, self.file)
        with usage_errors():
            method = method_config.from_config(self._method_spec())
        log = open_log(self.file, self.log_options, needs_of(method))
        refuse_missing(log, method)
        into = self.into or _choose_key(log, method)
        refuse_taken(log, [into])
        files.refuse_file_of_others(
            self.output, lambda path: _is_credited(path, log, into), "this log with credit"
        )
        self.say([log.head])
        summary = CreditSummary(method, into)
        with usage_errors():
            if self.output is None:
                _print_rows(self._credited_rows(log, method, summary))
            else:
                files.write_lines(self.output, self._credited_rows(log, method, summary))
        self.note(log.notes())
        if self.json:
            self.say_json(output=str(self.output), **summary.counts())
        else:
            print(summary.text(), file=sys.stderr)

    def _method_spec(self) -> dict[str, Any]:
        """Return the method and its arguments, as a config has them."""
        size = {} if self.set_size is None else {"set_size": self.set_size}
        return self.spec(self.method) | size

    def _credited_rows(
        self, log: Log, method: AnyMethod, summary: CreditSummary
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a log with their advantages.

        Raises:
            ConfigError: When no group is large enough.
        """
        about = {**self._method_spec(), "method": method.name, "set_size": method.set_size}
        each = log.with_rows()
        while with_rows := list(islice(each, BATCH)):
            groups = [group for group, _ in with_rows]
            batch = scored_groups(groups, method)
            advantages = batch.advantages
            summary.add(groups, batch)
            for b, (group, rows) in enumerate(with_rows):
                values = _known_advantages(advantages, b, len(group))
                facts = {summary.into: {**about, "skipped": bool(advantages.skipped_B[b])}}
                for row in rows_with(log, rows, {summary.into: values}, CREDIT, facts):
                    if len(row[CREDIT]) > 1:  # facts of an earlier version, or of other columns
                        row[CREDIT] = credit_record(row, log.reader.list_path)
                    yield row
        summary.refuse_no_credit()


def _choose_key(log: Log, method: AnyMethod) -> str:
    """Return the key of the advantage: another one where the log has the trainer's advantage."""
    is_taken = "advantage" in log.reader.columns
    return f"advantage_{method.name}" if is_taken else "advantage"


def _known_advantages(advantages: Advantages, b: int, size: int) -> list[float | None]:
    """Return the advantages of a group; None for a sample that was in no set."""
    is_known = advantages.usable_BN[b, :size] & ~advantages.skipped_B[b]
    values = advantages.values_BN[b, :size]
    return [float(v) if has_value else None for v, has_value in zip(values, is_known, strict=True)]


def _print_rows(rows: Iterator[dict[str, Any]]) -> None:
    """Print rows once all of them are known: an error is not seen after half of the output."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as whole:
        for row in rows:
            whole.write(f"{files.json_text(row)}\n")
        whole.seek(0)
        shutil.copyfileobj(whole, sys.stdout)
    sys.stdout.flush()  # so that a full disk is noticed here


def _is_credited(path: Path, log: Log, into: str) -> bool:
    """Return whether a file begins with the first row of a log, written by this command."""
    first = begins_as(path, log, (CREDIT, into, plural(into))) or {}
    return any(map(is_of_method, credit_record(first).values()))


@dataclass
class CreditSummary:
    """What the advantages look like.

    Attributes:
        method: The method.
        into: The key of the advantages.
        sizes: Samples of each group.
    """

    method: AnyMethod
    into: str
    sizes: list[int] = field(default_factory=list)
    _estimator: str = ""
    _counts: dict[str, int] = field(default_factory=dict)

    def add(self, groups: list[Group], batch: ScoredBatch) -> None:
        """Count the advantages of some groups."""
        advantages, correct_BN = batch.advantages, batch.samples.correct
        values_BN, usable_BN = advantages.values_BN, advantages.usable_BN
        sizes = [len(group) for group in groups]
        credited_BN = usable_BN & ~advantages.skipped_B[:, None]
        right_BN, wrong_BN = (credited_BN & (correct_BN == value) for value in (1, 0))
        dead_B = (np.abs(values_BN) < 1e-12).all(axis=1) & ~advantages.skipped_B
        counts = {
            "right": right_BN.sum(),
            "wrong": wrong_BN.sum(),
            "left_out": sum(sizes) - usable_BN.sum(),
            "skipped": advantages.skipped_B.sum(),
            "dead": dead_B.sum(),
            "wrong_up": (wrong_BN & (values_BN > 1e-12)).sum(),
            "right_down": (right_BN & (values_BN < -1e-12)).sum(),
        }
        most = max(int(usable_BN.sum(axis=1).max()), self._counts.get("most", 0))
        self._counts = {key: self._counts.get(key, 0) + int(n) for key, n in counts.items()}
        self._counts["most"] = most
        self.sizes += sizes
        self._estimator = str(advantages.estimator)

    def refuse_no_credit(self) -> None:
        """Raise an error if all groups were skipped.

        Raises:
            ConfigError: Saying how many samples the method needs.
        """
        if self._counts["skipped"] == len(self.sizes):
            raise ConfigError(
                f"{self.method.name} with set_size={self.method.set_size} needs "
                f"{self.method.fewest_samples} samples that can be used, and no group has more "
                f"than {self._counts['most']}"
            )

    def counts(self) -> dict[str, Any]:
        """Return all counts; right and wrong samples count None if no sample is graded."""
        c: dict[str, int | None] = {key: n for key, n in self._counts.items() if key != "most"}
        if not c["right"] and not c["wrong"]:
            c |= dict.fromkeys(("right", "wrong", "wrong_up", "right_down"))
        return {
            "into": self.into,
            "method": self.method.name,
            "set_size": self.method.set_size,
            "estimator": self._estimator,
            "groups": len(self.sizes),
            "samples": sum(self.sizes),
            **c,
        }

    def text(self) -> str:
        """Return a few lines."""
        c = {key: MISSING if n is None else n for key, n in self.counts().items()}
        size = f", K = {self.method.set_size}" if self.method.set_size > 1 else ""
        left_out, skipped = self._counts["left_out"], self._counts["skipped"]
        null = (
            f"{self.into} is null: {count(left_out, 'sample')} left out; all samples of "
            f"{count(skipped, 'group')} with too few that can be used\n"
        )
        return (
            f"{self.method.name}{size}: {count(len(self.sizes), 'group')} of "
            f"{between(min(self.sizes), max(self.sizes))} sample{'s' * (max(self.sizes) != 1)}; "
            f"credited: {c['right']} right and {c['wrong']} wrong ({self._estimator})\n"
            f"{null if left_out or skipped else ''}"
            f"groups without a signal: {c['dead']}; wrong samples pushed up: {c['wrong_up']}; "
            f"right samples pushed down: {c['right_down']}"
        )
