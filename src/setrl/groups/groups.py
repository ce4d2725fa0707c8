"""Groups of samples in JSON Lines, as other programs log them.

A line may be a group, with its samples as objects or as parallel lists,

    {"id": …, "samples": [{"reward": 1, "strategy": "factoring"}, …]}
    {"id": …, "rewards": [1, 0, …], "clusters": [0, 3, …]}
    {"id": …, "finals": ["12", "13", …], "answer": "12"}

or one sample, with a key that its group shares:

    {"prompt": "…", "reward": 1, "cluster": 3}

Samples may have an `answer`, a `family`, and the numbers `proxy` and `second`, for methods that
read them; null is unknown.

A cluster may be a number or a text. null is degenerate; a sample without the key is unjudged, and
methods that read clusters leave it out. They also leave out samples that `setrl judge` could not
judge; their line says why: {"judged": {"cluster": {"judge": "…", "unknown": "timeout"}}, …}.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from setrl.core.advantages import Advantages, AnyMethod
from setrl.core.samples import DEGENERATE
from setrl.errors import ConfigError, DataError
from setrl.files import json_lines
from setrl.groups.fields import label

FIELD_KEYS = {
    "answers": ("answer", "answers"),
    "families": ("family", "families"),
    "proxy": ("proxy",),
    "second": ("second",),
}
FIELDS = {"rewards", "clusters", *FIELD_KEYS}  # what methods can read of a file's samples
REWARD_KEYS = ("reward", "correct", "score")
CLUSTER_KEYS = ("cluster", "strategy", "final", "answer")
TEXT_KEYS = ("text", "sample", "completion", "response", "output", "generation", "final")
PROMPT_KEYS = ("prompt", "problem", "question")
GROUP_KEYS = ("group", "id", "uid", "prompt", "problem")
SHARED_KEYS = ("group", "uid", "prompt", "problem", "id")  # if every sample is a line
UNJUDGED = object()
T = TypeVar("T")


@dataclass(frozen=True)
class Keys:
    """The keys of a file's fields; None means the usual ones.

    Attributes:
        reward: Of a sample's reward.
        cluster: Of its strategy.
        text: Of its text.
        prompt: Of a line's prompt.
        group: Of the group that a line belongs to.
    """

    reward: str | None = None
    cluster: str | None = None
    text: str | None = None
    prompt: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class LoggedLine:
    """One line of a file.

    Attributes:
        record: The line as it is.
        group: The name of its group.
        samples: An object for each sample.
        is_sample: Whether the line itself is the sample, and its group has other lines.
    """

    record: dict[str, Any]
    group: str
    samples: list[dict[str, Any]]
    is_sample: bool


@dataclass(frozen=True)
class CreditGroup:
    """The rewards and strategies of one prompt's samples.

    Attributes:
        name: Its name in the file.
        rewards: One for each sample; NaN for null.
        clusters: Text or number of each sample's strategy; None is degenerate.
        fields: Further fields that a sample has: answers, families, proxy, second; None is unknown.
    """

    name: str
    rewards: list[float]
    clusters: list[Any]
    fields: dict[str, list[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class LoggedGroup:
    """The texts of one prompt's samples, and the lines of the file that hold them.

    Attributes:
        prompt: The prompt.
        texts: The texts of its samples.
        lines: The lines; together they have a sample for each text, in order.
    """

    prompt: str
    texts: tuple[str, ...]
    lines: tuple[LoggedLine, ...]

    @property
    def samples(self) -> list[dict[str, Any]]:
        """The samples as the file has them."""
        return [sample for line in self.lines for sample in line.samples]


def read_groups(path: Path, keys: Keys, degenerate: str | None = None) -> list[CreditGroup]:
    """The groups of a file with their rewards and clusters.

    Args:
        path: The file.
        keys: The keys of its fields.
        degenerate: A label that stands for none, as 100 in Poly-EPO's code; null and −1 always do.

    Raises:
        DataError: Naming the file, the line, and the key that is missing or wrong.
    """

    def read(line: LoggedLine) -> list[tuple[float, Any, dict[str, Any]]]:
        clusters = [cluster_of(sample, keys.cluster, line.record) for sample in line.samples]
        rewards = [reward_of(sample, keys.reward) for sample in line.samples]
        fields = [_fields_of(sample) for sample in line.samples]
        return list(zip(rewards, without(clusters, degenerate), fields, strict=True))

    groups = []
    for name, lines in _by_group(path, keys, read).items():
        rewards, clusters, found = zip(*chain.from_iterable(lines), strict=True)
        known = {key for sample in found for key in sample}
        fields = {key: [sample.get(key) for sample in found] for key in sorted(known)}
        groups.append(CreditGroup(name, [*rewards], [*clusters], fields))
    return groups


def _fields_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The further fields that a sample has and that can be used; an answer may be anything else."""
    found = {}
    for name, keys in FIELD_KEYS.items():
        kinds = str | int | float | None if name in ("answers", "families") else int | float | None
        for key in keys:
            if key in sample and isinstance(sample[key], kinds):
                found[name] = sample[key]
    return found


def without(clusters: Sequence[Any], degenerate: str | None) -> list[Any]:
    """Clusters with None, which is degenerate, in place of the label that stands for it."""
    return [
        None if degenerate is not None and label(cluster) == degenerate else cluster
        for cluster in clusters
    ]


def read_texts(path: Path, keys: Keys) -> list[LoggedGroup]:
    """The groups of a file with their texts, in the order of their first lines.

    A text that is null is "", a number is written out.

    Raises:
        DataError: Naming the file, the line, and the key that is missing.
    """
    prompts: dict[str, str] = {}

    def read(line: LoggedLine) -> tuple[LoggedLine, list[str]]:
        prompt = _text(line.record, keys.prompt, PROMPT_KEYS, "line", "prompt")
        if prompts.setdefault(line.group, prompt) != prompt:
            raise ValueError(f"group {line.group!r} has two different prompts")
        return line, [_text(one, keys.text, TEXT_KEYS, "sample", "text") for one in line.samples]

    groups = []
    for name, found in _by_group(path, keys, read).items():
        lines, texts = zip(*found, strict=True)
        groups.append(LoggedGroup(prompts[name], tuple(chain.from_iterable(texts)), lines))
    return groups


def _by_group(path: Path, keys: Keys, read: Callable[[LoggedLine], T]) -> dict[str, list[T]]:
    """Group → what is read from each of its lines; only that is kept in memory."""
    groups: dict[str, list[T]] = {}
    for number, _, record in json_lines.read(path):
        try:
            line = _logged_line(record, keys.group, default_name=f"line {number}")
            groups.setdefault(line.group, []).append(read(line))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}:{number}: {error.args[0]}") from None
    if not groups:
        raise DataError(f"{path} holds no groups")
    return groups


def _logged_line(record: dict[str, Any], key: str | None, default_name: str) -> LoggedLine:
    if key and key not in record:
        raise KeyError(f"no key {key!r}, which --group names; it has {_list(record)}")
    lists = {key: value for key, value in record.items() if isinstance(value, list)}
    objects = lists.get("samples", [])
    if objects and all(isinstance(sample, dict) for sample in objects):
        samples = objects
    else:
        samples = _unzipped(lists, gold=record.get("answer")) if lists else [record]
    usual = GROUP_KEYS if lists else SHARED_KEYS
    names = [str(record[name]) for name in ((key,) if key else usual) if name in record]
    return LoggedLine(record, names[0] if names else default_name, samples, is_sample=not lists)


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


def reward_of(sample: Mapping[str, Any], key: str | None) -> float:
    """The reward of a sample; NaN for null.

    Raises:
        KeyError, TypeError: If there is none, or it is no number.
    """
    found = _key(sample, key, REWARD_KEYS, "sample", "reward")
    value = sample[found]
    if value is not None and not isinstance(value, int | float):
        raise TypeError(f"{found} must be a number, true, false or null, got {value!r}")
    return float("nan") if value is None else float(value)


def cluster_of(sample: dict[str, Any], key: str | None, line: Mapping[str, Any]) -> Any:
    """A sample's label as it is in the file; `UNJUDGED` if it has none.

    Args:
        sample: The sample.
        key: The key of its label; None looks for the usual ones.
        line: Its line, which may say that a judge failed.

    Raises:
        KeyError: If it lacks the key that was named.
    """
    unknown = sample.get("unknown")
    for name in (key,) if key else CLUSTER_KEYS:
        is_marked = isinstance(unknown, list) and name in unknown
        if is_marked or _is_unknown(line, name.removesuffix("s")):
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


def _text(
    record: Mapping[str, Any], key: str | None, usual: Sequence[str], owner: str, option: str
) -> str:
    found = _key(record, key, usual, owner, option)
    value = record[found]
    if not isinstance(value, str | int | float | None):
        raise TypeError(f"{found} must be a text, got {type(value).__name__}")
    return "" if value is None else str(value)


def _key(
    record: Mapping[str, Any], key: str | None, usual: Sequence[str], owner: str, option: str
) -> str:
    """The key if it is named, else the first of the usual ones that the record has."""
    wanted = (key,) if key else usual
    for name in wanted:
        if name in record:
            return name
    raise KeyError(f"a {owner} has no {' or '.join(map(repr, wanted))}; it has {_list(record)}; "
                   f"name its key with --{option}")  # fmt: skip


def _list(record: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, record))


def credit_groups(groups: list[CreditGroup], method: AnyMethod) -> Advantages:
    """The advantages of ragged groups: (B, N) with N the size of the largest.

    Raises:
        DataError: If the method reads clusters and no sample has one.
        ConfigError: If the method reads what the file does not hold, or no group is large enough.
    """
    held = FIELDS - set(FIELD_KEYS) | {name for group in groups for name in group.fields}
    if unknown := sorted(set(method.reads) - held):
        keys = [FIELD_KEYS[name][0] for name in unknown if name in FIELD_KEYS]
        raise ConfigError(
            f"{method.name} reads {', '.join(unknown)}, which the file does not hold"
            + (f": give its samples the key {' and '.join(map(repr, keys))}" if keys else "")
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
    fields: dict[str, Any] = {
        name: _field(groups, name, most) for name in method.reads if name in FIELD_KEYS
    }
    # A sample without an answer votes for nobody, as in training.
    advantages = method.advantages(rewards_BN, clusters=clusters_BN, abstain=True, **fields)
    if advantages.skipped_B.all():
        usable = advantages.usable_BN.sum(axis=1).max()
        raise ConfigError(
            f"{method.name} with set_size={method.set_size} needs {method.fewest_samples} samples "
            f"that can be used, and no group has more than {usable}"
        )
    return advantages


def _field(groups: list[CreditGroup], name: str, width: int) -> np.ndarray:
    """A field of all groups, (B, N), None where it is unknown and behind the end of a group."""
    found = np.full((len(groups), width), None, dtype=object)
    for row, group in enumerate(groups):
        values = group.fields.get(name, [])
        found[row, : len(values)] = values
    return found


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
