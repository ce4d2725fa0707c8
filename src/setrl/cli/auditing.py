"""What `setrl judge-audit` does: a file's groups, their rewards and gold labels → the audit."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from setrl.cli.judge_options import opened
from setrl.core import methods
from setrl.errors import ConfigError, DataError
from setrl.evaluation.judge_audit import audit
from setrl.judges.base import Judge
from setrl.judges.config import reseeded
from setrl.judges.pairwise import PairwiseJudge, by_judge
from setrl.logs.groups import REWARD_KEYS, labels_of, reward_of
from setrl.logs.judged_groups import LoggedGroup, TextKeys, read_logged
from setrl.report.judge_audit import write_audit

GOLD_KEYS = ("gold", "strategy", "strategies")


@dataclass(frozen=True)
class AuditOptions:
    """How to audit; see `setrl judge-audit --help`."""

    orders: int = 5
    seed: int = 0
    pairs: Literal["none", "representatives", "all_pairs"] = "none"
    gold: str | None = None
    reward: str | None = None
    set_size: int = 4

    def __post_init__(self) -> None:
        for name in ("orders", "set_size"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                raise ConfigError(f"--{option} must be at least 1, got {getattr(self, name)}")


def audit_and_print(
    path: Path, folder: Path, settings: Mapping[str, Any], keys: TextKeys, options: AuditOptions
) -> None:
    """Audit a judge on a file, write the results into a folder and print the table.

    Raises:
        ConfigError: If a setting is wrong.
        DataError: If the file is wrong, or no group could be judged.
    """
    logged = read_logged(path, keys)
    gold = _gold(path, logged, options.gold)
    rewards = _rewards(path, logged, options.reward)
    if rewards is not None and max(map(len, rewards)) <= options.set_size:
        print(f"note: no group has more than --set-size {options.set_size} samples: nothing can be "
              "said of advantages", file=sys.stderr)  # fmt: skip
    method = methods.poly_epo(options.set_size)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        judges = _judges(stack, settings, options.orders)
        pairwise = _pairwise(judges[0], options)
        found = audit(
            [one.group for one in logged],
            judges.__getitem__,
            orders=options.orders,
            seed=options.seed,
            pairwise=pairwise,
            gold=gold,
            rewards=rewards,
            method=method,
        )
    if found.unknown == found.groups * found.orders:
        raise DataError(f"{path}: {judges[0].name} could not judge any group")
    about: dict[str, Any] = {"judge": judges[0].name, "file": path.name, "seed": options.seed}
    about |= {"method": method.name, "set_size": method.set_size}
    if pairwise is not None:
        about["pairs"] = asdict(pairwise.counts)
    written = write_audit(found, about, folder)
    print(written[1].read_text(encoding="utf-8"))
    print("\n".join(map(str, written)))


def _judges(stack: ExitStack, settings: Mapping[str, Any], orders: int) -> list[Judge]:
    """One for each order; the same one, where it goes by the order that it is given."""
    judges = [stack.enter_context(opened(settings))]
    for number in range(1, orders):
        other = reseeded(settings, by=number)
        judges.append(judges[0] if other == settings else stack.enter_context(opened(other)))
    return judges


def _pairwise(judge: Judge, options: AuditOptions) -> PairwiseJudge | None:
    if options.pairs == "none":
        return None
    return PairwiseJudge(by_judge(judge), options.pairs, name=f"pairs by {judge.name}")


def _gold(path: Path, logged: list[LoggedGroup], key: str | None) -> list[list[int]] | None:
    """The right labels of all samples; None where no key was named and no usual one is there."""
    samples_G = [_samples(group) for group in logged]
    if key is None:
        key = next((name for name in GOLD_KEYS if _all_have(samples_G, name)), None)
    elif not _all_have(samples_G, key):
        raise DataError(f"{path}: a sample has no {key!r}, which --gold names")
    if key is None:
        return None
    return [
        [int(label) for label in labels_of([one[key] for one in samples])] for samples in samples_G
    ]


def _rewards(path: Path, logged: list[LoggedGroup], key: str | None) -> list[list[float]] | None:
    """The rewards of all samples; None where no key was named and no usual one is there."""
    samples_G = [_samples(group) for group in logged]
    if key is None and not any(_all_have(samples_G, name) for name in REWARD_KEYS):
        return None
    try:
        return [[reward_of(one, key) for one in samples] for samples in samples_G]
    except (KeyError, TypeError) as error:
        raise DataError(f"{path}: {error.args[0]}") from None


def _samples(group: LoggedGroup) -> list[dict[str, Any]]:
    return [sample for line in group.lines for sample in line.samples]


def _all_have(samples_G: list[list[dict[str, Any]]], key: str) -> bool:
    return all(key in sample for samples in samples_G for sample in samples)
