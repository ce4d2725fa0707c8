"""`setrl credit`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tyro.conf import Positional

from setrl import files
from setrl.core import methods
from setrl.core.advantages import Advantages, AnyMethod
from setrl.errors import DataError, usage_errors
from setrl.files import json_lines, strict_yaml
from setrl.groups.fields import DEGENERATE_NOTE, seems_to_mark_degenerate
from setrl.groups.groups import UNJUDGED, CreditGroup, Keys, credit_groups, read_groups


@dataclass(frozen=True)
class CreditLog:
    """Give every sample of logged groups its advantage.

    Attributes:
        file: JSON Lines: a group a line, or a sample a line.
        method: {methods}; or a method as a config has it, with its arguments, such as
            "{method: order_grad, weights: [0, 0.5, 1]}" or "{method: sum, of:
            [{method: grpo, weight: 0.5}, {method: poly_epo}]}".
        set_size: K, for methods that have one.
        reward: The key of a sample's reward, if it is not reward, correct or score.
        cluster: The key of its strategy, if it is not cluster, strategy, final or answer.
        group: The key that the samples of a group share, for files of a sample a line.
        degenerate: The label of samples in no cluster, as 100 in Poly-EPO's code; null and −1
            always are.
        output: Where the groups are written (JSONL), with advantages; standard output by default.
    """

    file: Positional[Path]
    method: str = "poly_epo"
    set_size: int | None = None
    reward: str | None = None
    cluster: str | None = None
    group: str | None = None
    degenerate: str | None = None
    output: Path | None = None

    def run(self) -> None:
        """Write the groups with their advantages, and a summary to stderr."""
        files.refuse_own_input(self.output, self.file)
        files.refuse_file_of_others(self.output, _holds_advantages, "output of setrl credit")
        with usage_errors():
            method = methods.from_config(self._spec())
            keys = Keys(self.reward, self.cluster, group=self.group)
            groups = read_groups(self.file, keys, self.degenerate)
            advantages = credit_groups(groups, method)
        if self.output is None:
            for record in _records(groups, advantages, method):
                print(files.json_text(record))
            sys.stdout.flush()  # so that a full disk is noticed here
        else:
            files.write_lines(self.output, _records(groups, advantages, method))
        labels = ([one for one in group.clusters if one is not UNJUDGED] for group in groups)
        if self.degenerate is None and seems_to_mark_degenerate(labels):
            print(f"note: {DEGENERATE_NOTE}", file=sys.stderr)
        print(_summary(groups, advantages, method), file=sys.stderr)

    def _spec(self) -> dict[str, Any]:
        """The method and its K, as a config has them."""
        size = {} if self.set_size is None else {"set_size": self.set_size}
        if not self.method.lstrip().startswith("{"):
            return {"method": self.method, **size}
        return strict_yaml.mapping(self.method) | size


def _holds_advantages(path: Path) -> bool:
    """Whether the first line of a file was written by this command."""
    with suppress(DataError, OSError):
        first = next(json_lines.read(path, "leave_out"), None)
        return first is not None and {"method", "advantages"} <= first.record.keys()
    return False


def _summary(groups: list[CreditGroup], advantages: Advantages, method: AnyMethod) -> str:
    """What the advantages look like, in a few lines."""
    sizes = [len(group.rewards) for group in groups]
    each = str(sizes[0]) if len(set(sizes)) == 1 else f"{min(sizes)} to {max(sizes)}"
    values_BN, usable_BN = advantages.values_BN, advantages.usable_BN
    rewards_BN = np.zeros(values_BN.shape)
    for row, group in enumerate(groups):
        rewards_BN[row, : sizes[row]] = group.rewards
    right_BN, wrong_BN = usable_BN & (rewards_BN > 0.5), usable_BN & (rewards_BN <= 0.5)
    dead_B = (np.abs(values_BN) < 1e-12).all(axis=1)
    lines = [
        f"{method.name}, K = {method.set_size}: {len(groups)} groups of {each} samples, "
        f"{right_BN.sum()} right and {wrong_BN.sum()} wrong ({advantages.estimator})",
        f"left out: {sum(sizes) - usable_BN.sum()} samples; "
        f"too few samples: {advantages.skipped_B.sum()} groups",
        f"no signal: {dead_B.sum()} groups; wrong samples pushed up: "
        f"{(wrong_BN & (values_BN > 1e-12)).sum()}; right samples pushed down: "
        f"{(right_BN & (values_BN < -1e-12)).sum()}",
    ]
    return "\n".join(lines)


def _records(
    groups: list[CreditGroup], advantages: Advantages, method: AnyMethod
) -> Iterator[dict[str, Any]]:
    for row, group in enumerate(groups):
        yield {
            "schema_version": 1,
            "group": group.name,
            "method": method.name,
            "set_size": method.set_size,
            "rewards": group.rewards,
            "clusters": [None if label is UNJUDGED else label for label in group.clusters],
            "advantages": advantages.values_BN[row, : len(group.rewards)].tolist(),
            "skipped": bool(advantages.skipped_B[row]),
        }
