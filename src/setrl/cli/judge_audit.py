"""`setrl judge-audit`."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setrl.cli.judge import JudgeOptions, opened_judge
from setrl.core import methods
from setrl.logs.field_table import STRATEGIES
from setrl.logs.log import Log, open_log
from setrl.logs.options import LOSS
from setrl.samples.types import Group
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import read_json, refuse_file_of_others, refuse_own_input
from setrl.support.wording import count

if TYPE_CHECKING:
    from setrl.judges.base import Judge

GOLD_NAMES = ("gold", *STRATEGIES)
WRITTEN = ("audit.json", "audit.md", "audit.html")


@dataclass(frozen=True, kw_only=True)
class JudgeAudit(JudgeOptions):
    """Measure how far a judge can be trusted: other orders, pairs, gold labels.

    Write audit.json, audit.md and audit.html. If the samples have rewards, they show how
    much the disagreement changes the advantages of Poly-EPO.

    Attributes:
        cache: The SQLite file with lm's judgements; in the output folder by default.
        output: A folder for the results; FILE.audit by default.
        orders: How often each group is judged, each time with its samples in another order.
        seed: The seed of the orders.
        pairs: Ask the judge about pairs, too: each sample with one sample of each strategy.
        strategy: The field with the right label of a sample, by default gold or the name of a
            strategy; labels that `setrl judge` has added are not right ones.
        set_size: The K of Poly-EPO, whose advantages are compared.

    Json:
        files: The files that were written.
        verdict: How far the judge can be trusted, in sentences.
        audit: What audit.json holds.
    """

    orders: int = 5
    seed: int = 0
    pairs: bool = False
    set_size: int = 4

    resumes = True  # after an interruption, from the judgements of its folder

    def run(self) -> None:
        """Audit a judge on a file, write the results into a folder and print the table.

        Raises:
            ConfigError: If a setting is wrong.
            DataError: If the file is wrong, or no group could be judged.
        """
        from setrl.evaluate.judge_audit import audit
        from setrl.judges.pairwise import ByJudge, PairwiseJudge
        from setrl.show.report.judge_audit import audit_in_words, write_audit

        folder = self.output or self.file.with_name(f"{self.file.stem}.audit")
        settings = self.settings(cache=folder / "judgements.sqlite")
        self._check_options(folder)
        log = open_log(self.file, self.log_options, ["text", "prompt"], strategies=GOLD_NAMES)
        self.say([log.head])
        groups = [_keep_samples_with_texts(group) for group in log]
        gold, rewards = self._gold_labels(log, groups), _rewards_of_groups(log, groups)
        self.note(log.notes())
        if bare := sum(map(len, log)) - sum(map(len, groups)):
            self.note([f"{LOSS}{count(bare, 'sample')} without text"])
        if rewards is not None and max(map(len, rewards)) <= self.set_size:
            print(f"note: no group has more than --set-size {self.set_size} samples: the effect on "
                  "advantages is unknown", file=sys.stderr)  # fmt: skip
        method = methods.poly_epo(self.set_size)
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            judges = _judge_for_each_order(stack, settings, self.orders)
            pairwise = PairwiseJudge(ByJudge(judges[0])) if self.pairs else None
            findings = audit(
                groups,
                judges.__getitem__,
                orders=self.orders,
                seed=self.seed,
                pairwise=pairwise,
                gold=gold,
                rewards=rewards,
                method=method,
            )
        if findings.unknown == findings.groups * findings.orders:
            raise DataError(f"{self.file}: {judges[0].name} could not judge any group")
        about: dict[str, Any] = {
            "judge": judges[0].name,
            "file": self.file.name,
            "seed": self.seed,
            "method": method.name,
            "set_size": method.set_size,
        }
        if pairwise is not None:
            about["pairs"] = asdict(pairwise.counts)
        written = write_audit(findings, about, folder, groups, gold)
        if self.json:
            record = read_json(written[0])
            self.say_json(
                files=[str(path) for path in written], verdict=audit_in_words(record), audit=record
            )
        else:
            print(written[1].read_text(encoding="utf-8"))
            print("\n".join(map(str, written)))

    def _check_options(self, folder: Path) -> None:
        if self.gold is not None:
            raise ConfigError("--gold names the right answer of a problem; the right labels of "
                              "samples are named with --strategy")  # fmt: skip
        for name in WRITTEN:
            refuse_own_input(folder / name, self.file, self.config)
            refuse_file_of_others(folder / name, lambda _: _holds_audit(folder), "an earlier audit")
        for name in ("orders", "set_size"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                raise ConfigError(f"--{option} must be at least 1, got {getattr(self, name)}")

    def _gold_labels(self, log: Log, groups: list[Group]) -> list[list[int]] | None:
        """Return the right labels of all samples; None if some are unknown and none is named."""
        if "strategy" not in log.reader.columns:
            return None
        labels_G = [[sample.strategy for sample in group.samples] for group in groups]
        if any(label is None for labels in labels_G for label in labels):
            if self.strategy is None:
                return None
            raise DataError(f"{self.file}: a sample has no {self.strategy!r}, which --strategy "
                            "names")  # fmt: skip
        from setrl.samples.labels import by_first_appearance

        return [list(by_first_appearance(labels)) for labels in labels_G]


def _keep_samples_with_texts(group: Group) -> Group:
    """Return the samples of a group that a judge can see."""
    return replace(group, samples=tuple(s for s in group.samples if s.text is not None))


def _rewards_of_groups(log: Log, groups: list[Group]) -> list[list[float]] | None:
    """Return the rewards of all samples, NaN where one is unknown; None if the log has none."""
    if "reward" in log.reader.lacks:
        return None
    return [[math.nan if s.reward is None else s.reward for s in group.samples] for group in groups]


def _judge_for_each_order(
    stack: ExitStack, settings: Mapping[str, Any], orders: int
) -> list[Judge]:
    """Return a judge for each order: the same one, unless it shuffles the samples itself."""
    from setrl.judges.config import reseeded

    judges = [stack.enter_context(opened_judge(settings))]
    for number in range(1, orders):
        other = reseeded(settings, by=number)
        judges.append(judges[0] if other == settings else stack.enter_context(opened_judge(other)))
    return judges


def _holds_audit(folder: Path) -> bool:
    """Return whether a folder holds what an earlier call wrote."""
    with suppress(DataError, OSError):
        return {"schema_version", "judge"} <= read_json(folder / WRITTEN[0]).keys()
    return False
