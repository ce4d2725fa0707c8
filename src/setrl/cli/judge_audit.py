"""`setrl judge-audit`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from setrl.cli.judge import JudgeOptions, opened
from setrl.core import methods
from setrl.errors import ConfigError, DataError
from setrl.files import read_json, refuse_file_of_others, refuse_own_input
from setrl.groups.fields import DEGENERATE_NOTE, seems_to_mark_degenerate
from setrl.groups.groups import (
    REWARD_KEYS,
    LoggedGroup,
    labels_of,
    read_texts,
    reward_of,
    without,
)

if TYPE_CHECKING:
    from setrl.judges.base import Judge
    from setrl.judges.pairwise import PairwiseJudge

GOLD_KEYS = ("gold", "strategy", "strategies")
WRITTEN = ("audit.json", "audit.md", "audit.html", "audit.png")


@dataclass(frozen=True, kw_only=True)
class JudgeAudit(JudgeOptions):
    """Measure how far a judge can be trusted: in other orders, about pairs, against gold labels.

    Writes audit.json, audit.md, audit.html and audit.png, with the effect of the disagreement on
    the advantages of Poly-EPO if the samples have rewards.

    Attributes:
        cache: SQLite file of lm's judgements; in the output folder by default.
        output: A folder for the results; FILE.audit by default.
        orders: How often each group is judged, its samples in another order each time.
        seed: Of the orders.
        pairs: Whether the judge is asked about pairs, too: each sample with one of each cluster,
            or all pairs.
        gold: The key of a sample's right label, if it is not gold or strategy.
        degenerate: The right label of samples in no cluster, as 100 in Poly-EPO's code; null and −1
            always are.
        set_size: K of Poly-EPO, whose advantages are compared.
        reward: The key of a sample's reward, if it is not reward, correct or score.
    """

    orders: int = 5
    seed: int = 0
    pairs: Literal["none", "representatives", "all_pairs"] = "none"
    gold: str | None = None
    degenerate: str | None = None
    set_size: int = 4
    reward: str | None = None

    resumes = True  # after an interruption, from the judgements of its folder

    def run(self) -> None:
        """Audit a judge on a file, write the results into a folder and print the table.

        Raises:
            ConfigError: If a setting is wrong.
            DataError: If the file is wrong, or no group could be judged.
        """
        from setrl.evaluation.judge_audit import audit
        from setrl.judges import Group
        from setrl.report.judge_audit import write_audit

        folder = self.output or self.file.with_name(f"{self.file.stem}.audit")
        settings = self.settings(cache=folder / "judgements.sqlite")
        self._check(folder)
        logged = read_texts(self.file, self.keys)
        gold, rewards = self._gold(logged), self._rewards(logged)
        if rewards is not None and max(map(len, rewards)) <= self.set_size:
            print(f"note: no group has more than --set-size {self.set_size} samples: the effect on "
                  "advantages is unknown", file=sys.stderr)  # fmt: skip
        method = methods.poly_epo(self.set_size)
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            judges = _judges(stack, settings, self.orders)
            pairwise = self._pairwise(judges[0])
            groups = [Group(one.prompt, one.texts) for one in logged]
            found = audit(
                groups,
                judges.__getitem__,
                orders=self.orders,
                seed=self.seed,
                pairwise=pairwise,
                gold=gold,
                rewards=rewards,
                method=method,
            )
        if found.unknown == found.groups * found.orders:
            raise DataError(f"{self.file}: {judges[0].name} could not judge any group")
        about: dict[str, Any] = {"judge": judges[0].name, "file": self.file.name, "seed": self.seed}
        about |= {"method": method.name, "set_size": method.set_size}
        if pairwise is not None:
            about["pairs"] = asdict(pairwise.counts)
        written = write_audit(found, about, folder, groups, gold)
        print(written[1].read_text(encoding="utf-8"))
        print("\n".join(map(str, written)))

    def _check(self, folder: Path) -> None:
        for name in WRITTEN:
            refuse_own_input(folder / name, self.file, self.config)
            refuse_file_of_others(folder / name, lambda _: _holds_audit(folder), "an earlier audit")
        for name in ("orders", "set_size"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                raise ConfigError(f"--{option} must be at least 1, got {getattr(self, name)}")

    def _pairwise(self, judge: Judge) -> PairwiseJudge | None:
        from setrl.judges.pairwise import PairwiseJudge, by_judge

        if self.pairs == "none":
            return None
        return PairwiseJudge(by_judge(judge), self.pairs, name=f"pairs by {judge.name}")

    def _gold(self, logged: list[LoggedGroup]) -> list[list[int]] | None:
        """The right labels of all samples; None if no key is named and no usual one is in all."""
        key = self.gold or next((name for name in GOLD_KEYS if _all_have(logged, name)), None)
        if key is None:
            return None
        if not _all_have(logged, key):
            raise DataError(f"{self.file}: a sample has no {key!r}, which --gold names")
        golds_G = [[sample[key] for sample in group.samples] for group in logged]
        if self.degenerate is None and seems_to_mark_degenerate(golds_G):
            print(f"note: {DEGENERATE_NOTE}", file=sys.stderr)
        labels_G = [labels_of(without(golds, self.degenerate)) for golds in golds_G]
        return [[int(label) for label in labels] for labels in labels_G]

    def _rewards(self, logged: list[LoggedGroup]) -> list[list[float]] | None:
        """The rewards of all samples; None if no key is named and no usual one is in all."""
        if self.reward is None and not any(_all_have(logged, name) for name in REWARD_KEYS):
            return None
        try:
            return [[reward_of(one, self.reward) for one in group.samples] for group in logged]
        except (KeyError, TypeError) as error:
            raise DataError(f"{self.file}: {error.args[0]}") from None


def _judges(stack: ExitStack, settings: Mapping[str, Any], orders: int) -> list[Judge]:
    """A judge for each order; the same one, unless it shows samples in an order of its own."""
    from setrl.judges.config import reseeded

    judges = [stack.enter_context(opened(settings))]
    for number in range(1, orders):
        other = reseeded(settings, by=number)
        judges.append(judges[0] if other == settings else stack.enter_context(opened(other)))
    return judges


def _all_have(logged: list[LoggedGroup], key: str) -> bool:
    return all(key in sample for group in logged for sample in group.samples)


def _holds_audit(folder: Path) -> bool:
    """Whether a folder holds what an earlier call wrote."""
    with suppress(DataError, OSError):
        return {"schema_version", "judge"} <= read_json(folder / WRITTEN[0]).keys()
    return False
