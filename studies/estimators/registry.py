"""Read estimators.yaml: the estimators to audit, their packages, and how each is called.

The functions stay where they are: nothing of the packages is copied. A trainer of this file calls
what no user writes: a method of a package's own class, or a part of a long function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from setrl import methods
from setrl.support.files import strict_yaml
from setrl.support.names import look_up
from setrl.theory.audit.calling import Shape
from setrl.theory.audit.shapes import (
    TRAINERS,
    Trainer,
    TrainerCall,
    TrainerSettings,
    groups_M,
    token_mask,
    token_rewards,
    trainer_shape,
)
from studies.estimators.source import Package, Stub

RELEASE = ("title", "version", "home", "needs")
ROWS = Path(__file__).with_name("estimators.yaml")

LEFT_OUT: Mapping[str, str] = {
    "GAE, in verl, SkyRL, EasyR1, NeMo-RL and Trinity-RFT": "a critic's values enter",
    "optimal_token_baseline of verl": "the chances of all tokens enter",
    "spo of verl-recipe": "success rates of earlier steps enter",
    "rae of prime-rl": "rewards of earlier groups enter",
    "gdpo of NeMo-RL": "it refuses a single reward",
    "rec of Trinity-RFT with drop=balance": "it drops samples at random",
    "gvpo of verl-recipe": "it has a loss of its own, and a copy of verl's estimators",
    "OpenPipe ART": "advantages are computed inside the function that tokenises",
    "verifiers 0.4.0": "it stores advantages, and computes none",
}
"""What is not a row → why."""


@dataclass(frozen=True)
class Release:
    """A package at one version.

    Attributes:
        name: The beginning of the name of its folder.
        title: What the page calls it.
        version: Of PyPI, or a commit.
        home: The repository of a commit; "" for a release on PyPI.
        needs: The folder of a package whose functions it calls; or "".
    """

    name: str
    title: str
    version: str
    home: str = ""
    needs: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether it is this library."""
        return self.name == "setrl"

    @property
    def short(self) -> str:
        """The version as people write it."""
        return self.version[:12] if self.home else self.version

    def package(self, sources: Path) -> Package:
        """Return its source: the folder NAME-VERSION among the sources."""
        beside = [sources / self.needs] if self.needs else []
        return Package(sources / f"{self.name}-{self.short}", beside)

    def link(self, path: str, line: int) -> str:
        """Return the address of a line, "" for a release on PyPI."""
        return f"{self.home}/blob/{self.version}/{path}#L{line}" if self.home else ""


@dataclass(frozen=True)
class Row:
    """An estimator that is audited; estimators.yaml says what its keys mean.

    Attributes:
        release: The package.
        name: What the package calls it, with the options that matter.
        where: Its place, as in `Package.load`.
        says: What its documentation says; "" for our own methods, which say it themselves.
        claims: The objective of this documentation, with {N} for the size of the group; or "".
        note: What this documentation does not say, and running the function showed; or "".
        trainer: How it is called; by its parameters if "".
        settings: Its options.
        fields: Name → a number of right samples, and one of wrong samples.
        method: The method that is called of a class, which is made with the settings; or "".
        part: The arguments of `Package.load_part`, or none.
    """

    release: Release
    name: str
    where: str
    says: str
    claims: str = ""
    note: str = ""
    trainer: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    fields: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    method: str = ""
    part: tuple[str, ...] = ()

    def claim(self, size: int) -> str | None:
        """Return the claim for groups of a size."""
        return self.claims.replace("{N}", str(size)).replace("{N-1}", str(size - 1)) or None

    def load(self, sources: Path) -> Ready:
        """Return the function, how it is called, and where it came from."""
        if self.release.is_ours:
            return _ours(self)
        package = self.release.package(sources)
        loaded = (
            package.load_part(self.where, *self.part) if self.part else package.load(self.where)
        )
        options, function = _settings(self.settings), loaded.function
        if self.method:
            function, options = getattr(function(**options), self.method), TrainerSettings()
        trainer = look_up("trainer", self.trainer, {**TRAINERS, **INSIDE}) if self.trainer else None
        fields = {name: _by_reward(*numbers) for name, numbers in self.fields.items()}
        shape = trainer_shape(function, trainer, fields, **options)
        return Ready(function, shape, loaded.path, loaded.line, loaded.sha256, self.says)


@dataclass(frozen=True)
class Ready:
    """An estimator that can be called, with its place and what is said about it."""

    function: Any
    shape: Shape | None
    path: str
    line: int
    sha256: str
    says: str


def _ours(row: Row) -> Ready:
    make = look_up("method", row.where, methods.by_name)
    path = Path(str(inspect.getsourcefile(make)))
    says = " ".join(str(inspect.getdoc(make)).split("\n\n")[0].split()).rstrip(".")
    line = inspect.getsourcelines(make)[1] + 1  # the decorator is before it
    digest = sha256(path.read_bytes()).hexdigest()
    return Ready(make(**row.settings), None, "src/setrl/core/methods.py", line, digest, says)


def rows() -> Iterator[Row]:
    """Yield the rows of estimators.yaml, package by package."""
    for name, package in strict_yaml.read(ROWS)[0].items():
        release = Release(name, *(package.get(key, "") for key in RELEASE))
        shared = {
            key: package[key] for key in ("where", "trainer", "method", "part") if key in package
        }
        for given in package["rows"]:
            row = {**shared, **given}
            row["where"] = row.get("where", "{}").replace("{}", row.pop("of", ""))
            row["says"] = row.get("says", "")
            yield Row(release, **row)


def _settings(given: Mapping[str, Any]) -> TrainerSettings:
    return TrainerSettings(
        {name: _settings(one) if isinstance(one, dict) else one for name, one in given.items()}
    )


def _by_reward(right: float, wrong: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda rewards, _labels: np.where(rewards > 0, right, wrong)


def _with(trainer: str, **arguments: Callable[[TrainerCall], Any]) -> Trainer:
    """Return a trainer that passes further arguments."""
    known = TRAINERS[trainer]
    return replace(known, arguments={**known.arguments, **arguments})


def _options(batch: TrainerCall) -> TrainerSettings:
    return batch.settings


def _trl_trainer(batch: TrainerCall) -> TrainerSettings:
    import torch

    return TrainerSettings(batch.settings, reward_funcs=[None], reward_weights=torch.ones(1))


def _columns(batch: TrainerCall) -> SimpleNamespace:
    """Return the batch of columns that functions of verl's trainers get as a whole."""
    columns = {
        "token_level_rewards": token_rewards(batch),
        "response_mask": token_mask(batch),
        "acc": token_rewards(batch).sum(-1),
        "prompts": token_mask(batch)[:, :0],
        "attention_mask": token_mask(batch),
    }
    return SimpleNamespace(batch=columns, non_tensor_batch={"uid": groups_M(batch)})


def _column(name: str) -> Callable[[Any, Mapping[str, Any]], np.ndarray]:
    """Read what was written into a column of the batch: for each sample, or for its tokens."""

    def read(_result: Any, arguments: Mapping[str, Any]) -> np.ndarray:
        written = np.asarray(next(iter(arguments.values())).batch[name])
        return written if written.ndim == 1 else written[:, 0]

    return read


def _prime_config(_batch: TrainerCall) -> TrainerSettings:
    return TrainerSettings(algorithm=TrainerSettings(reward_gt_coef=1.0, reward_dpo_coef=0.0))


def _experiences(batch: TrainerCall) -> list[SimpleNamespace]:
    """Return all samples as one experience of OpenRLHF's maker."""
    rewards_MT, mask_MT = token_rewards(batch), token_mask(batch)
    one = SimpleNamespace(
        index=list(range(len(mask_MT))),
        rewards=rewards_MT.sum(-1),
        action_mask=mask_MT,
        kl=rewards_MT * 0,
        info={},
    )
    return [one]


def _experience_maker(batch: TrainerCall) -> TrainerSettings:
    """Return the `self` of OpenRLHF's maker; returns without a discount are its only other part."""
    estimator = batch.settings.estimator
    advantage = TrainerSettings(estimator=estimator, gamma=1.0, no_std_norm=False)
    args = TrainerSettings(
        rollout=TrainerSettings(n_samples_per_prompt=batch.samples.num_samples),
        algo=TrainerSettings(advantage=advantage),
        reward=TrainerSettings(clip_range=None),
    )
    return TrainerSettings(
        strategy=TrainerSettings(args=args),
        kl_ctl=TrainerSettings(value=0.0),
        advantage_estimator=estimator,
        get_cumulative_returns=lambda rewards, _mask, _gamma: rewards.flip(-1).cumsum(-1).flip(-1),
    )


def _read_experience(_result: Any, arguments: Mapping[str, Any]) -> np.ndarray:
    return np.asarray(arguments["experiences"][0].advantages)[:, 0]


def _rollout_manager(batch: TrainerCall) -> TrainerSettings:
    sizes = {
        "n_samples_per_prompt": batch.samples.num_samples,
        "rollout_batch_size": len(batch.samples.rewards),
    }
    return TrainerSettings(
        custom_reward_post_process_func=None, args=TrainerSettings(sizes, **batch.settings)
    )


def _inside(read: Callable[..., Any], **arguments: Callable[[TrainerCall], Any]) -> Trainer:
    return Trainer("the package itself", "", arguments, read, frozenset())


INSIDE: Mapping[str, Trainer] = {
    "trl_inside": _with("trl", self=_trl_trainer, device=lambda _: "cpu"),
    "trl_async": replace(
        _inside(
            TRAINERS["trl"].read,
            logger=lambda _: Stub("logger"),
            all_rewards=lambda batch: [batch.samples.rewards.ravel().tolist()],
        ),
        dtype="float64",
        takes_batches=False,
    ),
    "verl_remax": _with(
        "verl", reward_baselines=lambda batch: token_rewards(batch).sum(-1) * 0 + 1
    ),
    "verl_sppo": _inside(_column("seq_level_rewards"), data=_columns),
    "verl_prime": replace(
        TRAINERS["verl"],
        arguments={
            "data": _columns,
            "response_mask": token_mask,
            "n_samples": lambda batch: batch.samples.num_samples,
            "config": _prime_config,
        },
    ),
    "prime_rl_inside": _with("prime_rl", self=_options),
    "openrlhf": _inside(_read_experience, self=_experience_maker, experiences=_experiences),
    "nemo_rl_inside": _with("nemo_rl", self=_options),
    "trinity_columns": _inside(_column("advantages"), exps=_columns),
    "slime_inside": _with("slime", self=_rollout_manager),
}
"""Name → how a package calls its own method, or runs the part of a function."""
