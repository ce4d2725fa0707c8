"""One small function an engine: samples as it meets them → the advantages of its rows."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from setrl import AnyMethod, grouped_advantages, set_advantages
from setrl.cli.credit import CreditLog
from setrl.rewards import Combine
from setrl.tasks import Problem
from setrl.train.gathering.scorer import SampledGroup, Scorer
from setrl.train.trl.asynchronous import credit_worker
from tests.engines.conformance.features import (
    FEATURES,
    PROMPTS,
    PROXY,
    REWARDS,
    RIGHT,
    Feature,
    column,
    texts,
)
from tests.engines.conformance.groups import Case, Sample
from tests.engines.example.engine import SetLoop
from tests.engines.test_async import group as trl_group
from tests.engines.test_async import loop_of

Rows = list[list[float]]  # of each sample, the advantages of its rows
Credit = Callable[[Case, AnyMethod, Any], Rows]
Start = Callable[[Feature], Callable[[], Any]]


@dataclass(frozen=True)
class Adapter:
    """A way into the library.

    Attributes:
        credit: (case, method, what the engine needs) → the advantages of each sample's rows.
        lacks: What the engine's own batches never hold.
        rewards_only: Whether it passes no strategies.
        digits: Absolute tolerance: engines keep advantages in float32.
        start: A feature → a run with it, whose calls are steps that return the advantages; None if
            the engine takes no feature.
        without: Feature → why it is not tried here: the file of its test, or the reason why the
            engine does not take it.
    """

    credit: Credit
    lacks: frozenset[str] = frozenset()
    rewards_only: bool = False
    digits: float = 1e-12
    start: Start | None = None
    without: Mapping[str, str] = field(default_factory=dict)


def in_rows(case: Case, values: Any) -> Rows:
    """The advantage of each sample, once for each of its rows."""
    return [[float(v)] * one.rows for one, v in zip(case.samples, values, strict=True)]


def rewards_of(case: Case) -> torch.Tensor:
    kind = torch.bfloat16 if "bf16" in case.needs else torch.float32
    return torch.tensor([one.reward for one in case.samples], dtype=kind)


def dense(case: Case, method: AnyMethod, _: Any) -> Rows:
    """`set_advantages`: (B, N) with a mask where a group is narrower."""
    groups = list(case.groups.values())
    width = max(map(len, groups)) + case.padding
    rewards_BN = torch.zeros((len(groups), width), dtype=rewards_of(case).dtype)
    mask_BN = np.zeros(rewards_BN.shape, dtype=bool)
    labels_BN = np.full(rewards_BN.shape, None)
    for row, places in enumerate(groups):
        rewards_BN[row, : len(places)] = rewards_of(case)[places]
        labels_BN[row, : len(places)] = [case.samples[place].label for place in places]
        mask_BN[row, : len(places)] = True
    found = set_advantages(rewards_BN, method, strategies=labels_BN, mask=mask_BN)
    assert not found.values_BN[~torch.as_tensor(mask_BN)].any()
    values = dict(zip(chain(*groups), found.values_BN[torch.as_tensor(mask_BN)], strict=True))
    return in_rows(case, [values[place] for place in range(len(case.samples))])


def flat(case: Case, method: AnyMethod, _: Any) -> Rows:
    """`grouped_advantages`: a row per sample, padding as a group of its own without rewards."""
    pad = case.padding
    rewards_M = torch.cat([rewards_of(case), torch.full((pad,), torch.nan)])
    names = [one.group for one in case.samples] + ["padding"] * pad
    labels_M = [one.label for one in case.samples] + [None] * pad
    values = grouped_advantages(rewards_M, names, method, strategies=labels_M)
    assert not values[len(case.samples) :].any()
    return in_rows(case, values[: len(case.samples)])


def log(case: Case, method: AnyMethod, folder: Path) -> Rows:
    """`setrl credit` on a file of a sample a line, in which null is degenerate."""
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(_record(one)) + "\n" for one in case.samples))
    size = None if method.name == "grpo" else method.set_size
    output = folder / "credit.jsonl"
    command = CreditLog(file=path, method=method.name, set_size=size, output=output)
    with contextlib.redirect_stderr(io.StringIO()):
        command.run()
    left: dict[str, list[float]] = {}
    for row in map(json.loads, output.read_text().splitlines()):
        # What is unknown is null in the file; in a loss it counts as 0.
        left.setdefault(row["group"], []).append(row["advantage"] or 0.0)
    return in_rows(case, [left[one.group].pop(0) for one in case.samples])


def _record(sample: Sample) -> dict[str, Any]:
    missing = sample.reward != sample.reward
    record = {"group": sample.group, "reward": None if missing else sample.reward}
    return record if sample.label is None else record | {"strategy": sample.label}


def trl(case: Case, method: AnyMethod, trainer: Any) -> Rows:
    """`SetGRPOTrainer`: what its step hands to the loss."""
    trainer.method = method
    trainer.fixed = list(rewards_of(case)), labels_of(case)
    inputs = [{"prompt": [{"role": "user", "content": one.group}]} for one in case.samples]
    return in_rows(case, trainer._generate_and_score_completions(inputs)["advantages"])


def labels_of(case: Case) -> list[Any]:
    return [one.label for one in case.samples]


class Fixed:
    """Functions for a worker, which asks about one group: they are sent to its process."""

    def __init__(self, values: list[Any], name: str):
        self.values, self.__name__ = values, name

    def __call__(self, completions: list[Any], **_: Any) -> list[Any]:
        return self.values


def trl_async(case: Case, method: AnyMethod, make_worker: Any) -> Rows:
    """`credit_worker`: what a group's rows carry to the trainer."""
    rows: dict[int, list[float]] = {}
    for places in case.groups.values():
        members = [case.samples[place] for place in places]
        rewards = [None if one.reward != one.reward else one.reward for one in members]
        worker = make_worker(reward_funcs=[Fixed(rewards, "rewards")], num_generations=len(places))
        credit_worker(worker, method, Fixed([one.label for one in members], "labels"))
        samples = asyncio.run(loop_of(worker)._score_group(trl_group([m.rows for m in members])))
        left = iter(samples)
        for place in places:
            rows[place] = [next(left).advantage for _ in range(case.samples[place].rows)]
    return [rows[place] for place in range(len(case.samples))]


def scorer(case: Case, method: AnyMethod, _: Any) -> Rows:
    """`Scorer`, from which the engine of the Tinker protocol has its advantages."""
    task: Any = SimpleNamespace(
        rewards=[Fixed(list(rewards_of(case)), "rewards")],
        strategy=SimpleNamespace(function=Fixed(labels_of(case), "labels")),
        combine=Combine((1.0,)),
    )
    groups = [
        SampledGroup(Problem(name), name, ["text"] * len(one), [[1]] * len(one), [False] * len(one))
        for name, one in case.groups.items()
    ]
    batch = Scorer(task).score(groups, method, np.random.default_rng(0))
    return in_rows(case, batch.advantages.values_BN.ravel())


def example(case: Case, method: AnyMethod, _: Any) -> Rows:
    """`SetLoop`, the example of the guide: what its loop adds to the weights of samples."""
    names = {place: f"{one.group} {place}" for place, one in enumerate(case.samples)}
    groups = {name: [names[place] for place in places] for name, places in case.groups.items()}
    loop = SetLoop(
        list(groups),
        [Fixed(list(rewards_of(case)), "rewards")],
        len(next(iter(groups.values()))),
        lambda prompt, i: (groups[prompt][i], False),
        method=method,
        strategy_func=Fixed(labels_of(case), "labels"),
    )
    loop.train()
    weights = [loop.weights[one.group, names[i]] for i, one in enumerate(case.samples)]
    return in_rows(case, weights)


def start_example(feature: Feature) -> Callable[[], Any]:
    loop = SetLoop(
        PROMPTS,
        [column(rewards) for rewards in feature.rewards_R],
        4,
        lambda prompt, i: (f"{prompt} {i}", feature.cut[PROMPTS.index(prompt)][i]),
        method=feature.method,
        steps=feature.steps,
        **feature.given,
    )

    def step() -> Any:
        loop.weights.clear()
        loop.step()
        return [[loop.weights[p, text] for text in texts(b)] for b, p in enumerate(PROMPTS)]

    return step


def start_scorer(feature: Feature) -> Callable[[], Any]:
    given = dict(feature.given)
    task: Any = SimpleNamespace(
        rewards=[column(rewards) for rewards in feature.rewards_R],
        strategy=SimpleNamespace(function=None),
        combine=given.pop("combine", Combine((1.0,))),
        correct=given.pop("correct", None),
    )
    made = Scorer(task, **given)
    groups = [
        SampledGroup(Problem(p), p, texts(b), [[1]] * 4, feature.cut[b])
        for b, p in enumerate(PROMPTS)
    ]
    rng = np.random.default_rng(0)
    return lambda: made.score(groups, feature.method, rng).advantages.values_BN


ARRAYS = {  # what the two functions of arrays take
    "which samples are right": {"correct": np.array(RIGHT)},
    "a field": {"proxy": np.array(PROXY)},
}


def start_dense(feature: Feature) -> Callable[[], Any]:
    more = ARRAYS[_name(feature)]
    return lambda: set_advantages(np.array(REWARDS), feature.method, **more).values_BN


def start_flat(feature: Feature) -> Callable[[], Any]:
    more = {key: value.ravel() for key, value in ARRAYS[_name(feature)].items()}
    names = [p for p in PROMPTS for _ in range(4)]
    rewards_M = np.ravel(REWARDS)
    return lambda: grouped_advantages(rewards_M, names, feature.method, **more).reshape(2, 4)


def _name(feature: Feature) -> str:
    return next(name for name, one in FEATURES.items() if one is feature)


OF_ARRAYS = dict.fromkeys(
    FEATURES.keys() - ARRAYS.keys(), "a function of arrays takes finished rewards and labels"
)
OF_TRL = {
    "which samples are right": "tests/engines/test_correct.py",
    "a field": "tests/engines/test_fields.py",
    "two rewards": "tests/engines/test_combining.py",
    "truncated samples": "tests/engines/test_combining.py",
    "a judge": "tests/engines/test_judging.py",
    "the stop rule": "tests/engines/test_stop_rule.py",
}
OF_WORKER = dict.fromkeys(OF_TRL, "tests/engines/test_async.py") | {
    "a judge": "TRL's worker is another process, which takes functions and no judge",
    "the stop rule": "tests/engines/test_stop_rule.py",
}
ADAPTERS = {
    "set_advantages": Adapter(dense, start=start_dense, without=OF_ARRAYS),
    "grouped_advantages": Adapter(flat, start=start_flat, without=OF_ARRAYS),
    "setrl credit": Adapter(
        log,
        frozenset({"padding"}),
        without=dict.fromkeys(FEATURES, "a log has finished columns: tests/samples/test_credit.py"),
    ),
    # TRL's sampler keeps the N samples of a prompt together; a conversation is one row.
    "SetGRPOTrainer": Adapter(
        trl, frozenset({"ragged", "any_order", "turns", "padding"}), digits=1e-6, without=OF_TRL
    ),
    # Samples are drawn group by group; a conversation is one row.
    "Scorer": Adapter(
        scorer, frozenset({"ragged", "any_order", "turns", "padding"}), start=start_scorer
    ),
    # A group at a time, always whole.
    "credit_worker": Adapter(
        trl_async, frozenset({"ragged", "any_order", "padding", "bf16"}), without=OF_WORKER
    ),
    # It samples equally many texts for each prompt, and keeps them together.
    "example": Adapter(
        example, frozenset({"ragged", "any_order", "turns", "padding"}), start=start_example
    ),
}
