"""Groups of samples that somebody else logged: JSON Lines → advantages.

A line may be a group, with its samples as objects or as parallel lists,

    {"id": …, "samples": [{"reward": 1, "strategy": "factoring"}, …]}
    {"id": …, "rewards": [1, 0, …], "clusters": [0, 3, …]}
    {"id": …, "finals": ["12", "13", …], "answer": "12"}

or one sample, with a key that its group shares:

    {"prompt": "…", "reward": 1, "cluster": 3}

A cluster may be a number or a text. null is degenerate; a sample without the key is unjudged, and
left out by methods that read clusters. So is one whose line says that `setrl judge` tried, and why
it failed: {"judged": {"cluster": {"judge": "…", "unknown": "timeout"}}, …}.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl.core.advantages import Advantages, Method
from setrl.core.samples import DEGENERATE
from setrl.errors import ConfigError, DataError
from setrl.files import json_lines

FIELDS = frozenset({"rewards", "clusters"})  # what a file tells of a sample
REWARD_KEYS = ("reward", "correct", "score")
CLUSTER_KEYS = ("cluster", "strategy", "final", "answer")
GROUP_KEYS = ("group", "id", "uid", "prompt", "problem")
SHARED_KEYS = ("group", "uid", "prompt", "problem", "id")  # of samples that are a line each
UNJUDGED = object()


@dataclass(frozen=True)
class Keys:
    """The keys of a file's fields; None looks for the usual ones."""

    reward: str | None = None
    cluster: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class CreditGroup:
    """The samples of one prompt.

    Attributes:
        name: What the file calls it.
        rewards: One for each sample; NaN where it is null.
        clusters: Text or number of each sample's strategy; None is degenerate.
    """

    name: str
    rewards: list[float]
    clusters: list[Any]


@dataclass(frozen=True)
class Line:
    """What one line of a file holds.

    Attributes:
        name: Its group.
        samples: An object each.
        is_sample: Whether the line itself is the sample, and its group has other lines.
    """

    name: str
    samples: list[dict[str, Any]]
    is_sample: bool


def read_groups(path: Path, keys: Keys) -> list[CreditGroup]:
    """The groups of a file.

    Raises:
        DataError: Naming the file, the line, and the key that is missing or wrong.
    """
    groups: dict[str, CreditGroup] = {}
    for number, _, record in json_lines.read(path):
        try:
            one = _group(record, keys, default_name=f"line {number}")
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}:{number}: {error.args[0]}") from None
        known = groups.setdefault(one.name, one)
        if known is not one:
            known.rewards.extend(one.rewards)
            known.clusters.extend(one.clusters)
    if not groups:
        raise DataError(f"{path} holds no groups")
    return list(groups.values())


def credit_groups(groups: list[CreditGroup], method: Method) -> Advantages:
    """The advantages of ragged groups: (B, N) with N the size of the largest.

    Raises:
        DataError: If the method reads clusters and no sample has one.
        ConfigError: If the method reads what files have not, or no group is large enough for it.
    """
    if unknown := set(method.reads) - FIELDS:
        raise ConfigError(
            f"{method.name} reads {', '.join(unknown)}, which a file of groups has not"
        )
    # At least as wide as the method needs: that no group is wide enough is answered in words below.
    most = max(method.fewest_samples, *(len(group.rewards) for group in groups))
    rewards_BN = np.full((len(groups), most), np.nan)
    clusters_BN = np.full((len(groups), most), np.nan)
    for row, group in enumerate(groups):
        rewards_BN[row, : len(group.rewards)] = group.rewards
        clusters_BN[row, : len(group.clusters)] = labels_of(group.clusters)
    if "clusters" in method.reads and np.isnan(clusters_BN).all():
        raise DataError(
            f"{method.name} needs clusters: name their key with --cluster, "
            f"or use one of {', '.join(CLUSTER_KEYS)}"
        )
    advantages = method.advantages(rewards_BN, clusters=clusters_BN)
    if advantages.skipped_B.all():
        usable = advantages.usable_BN.sum(axis=1).max()
        raise ConfigError(
            f"{method.name} with set_size={method.set_size} needs {method.fewest_samples} samples "
            f"that can be used, and no group has more than {usable}"
        )
    return advantages


def read_line(record: dict[str, Any], group: str | None, default_name: str) -> Line:
    """The group that a line is, or the single sample of one.

    Args:
        record: The line.
        group: The key of its name; None looks for the usual ones.
        default_name: The name of a line that has none.

    Raises:
        KeyError, ValueError: With what is wrong.
    """
    if group and group not in record:
        raise KeyError(f"no key {group!r}, which --group names; it has {_list(record)}")
    lists = {key: value for key, value in record.items() if isinstance(value, list)}
    objects = lists.get("samples", [])
    if objects and all(isinstance(sample, dict) for sample in objects):
        samples = objects
    else:
        samples = _unzipped(lists, gold=record.get("answer")) if lists else [record]
    usual = GROUP_KEYS if lists else SHARED_KEYS
    named = [str(record[key]) for key in ((group,) if group else usual) if key in record]
    return Line(named[0] if named else default_name, samples, is_sample=not lists)


def _group(record: dict[str, Any], keys: Keys, default_name: str) -> CreditGroup:
    line = read_line(record, keys.group, default_name)
    rewards = [reward_of(sample, keys.reward) for sample in line.samples]
    clusters = [cluster_of(sample, keys.cluster, record) for sample in line.samples]
    return CreditGroup(line.name, rewards, clusters)


def _unzipped(lists: dict[str, list], gold: Any) -> list[dict[str, Any]]:
    """Parallel lists → samples, under the singular of each key; right is what equals the gold."""
    sizes = {key: len(value) for key, value in lists.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"lists of one group must be equally long, got {sizes}")
    columns = {**{key.removesuffix("s"): value for key, value in lists.items()}, **lists}
    samples = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if gold is not None and not any(key in columns for key in REWARD_KEYS):
        for sample in samples:
            sample["reward"] = float(str(sample.get("final")) == str(gold))
    return samples


def reward_of(sample: dict[str, Any], key: str | None) -> float:
    """The reward of a sample; NaN where it is null.

    Raises:
        KeyError, TypeError: If there is none, or it is no number.
    """
    found = next((name for name in ((key,) if key else REWARD_KEYS) if name in sample), None)
    if found is None:
        wanted = repr(key) if key else " or ".join(map(repr, REWARD_KEYS))
        raise KeyError(f"a sample has no {wanted}; it has {_list(sample)}")
    value = sample[found]
    if value is not None and not isinstance(value, int | float):
        raise TypeError(f"{found} must be a number, true, false or null, got {value!r}")
    return float("nan") if value is None else float(value)


def cluster_of(sample: dict[str, Any], key: str | None, line: Mapping[str, Any]) -> Any:
    """A sample's label as it stands there; `UNJUDGED` where it has none.

    Args:
        sample: The sample.
        key: The key of its label; None looks for the usual ones.
        line: The line that it stands on, which may say that a judge failed.

    Raises:
        KeyError: If it lacks the key that was named.
    """
    for name in (key,) if key else CLUSTER_KEYS:
        if _is_unknown(line, name.removesuffix("s")):
            return UNJUDGED
        if name in sample:
            return sample[name]
    if key:
        raise KeyError(f"a sample has no {key!r}, which --cluster names")
    return UNJUDGED


def _is_unknown(line: Mapping[str, Any], key: str) -> bool:
    judged = line.get("judged")
    by = judged.get(key) if isinstance(judged, dict) else None
    return isinstance(by, dict) and by.get("unknown") is not None


def _list(record: dict[str, Any]) -> str:
    return ", ".join(map(repr, record))


def labels_of(clusters: list[Any]) -> list[float]:
    """Any labels → small integers; degenerate stays −1 and unjudged becomes NaN."""
    numbers: dict[str, int] = {}
    labels = []
    for cluster in clusters:
        if cluster is UNJUDGED:
            labels.append(float("nan"))
        elif cluster is None or cluster == DEGENERATE:
            labels.append(float(DEGENERATE))
        else:
            labels.append(float(numbers.setdefault(json.dumps(cluster), len(numbers))))
    return labels
