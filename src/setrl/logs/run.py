"""The folder of a run, read when it is asked for: `Run` → `Arm` → `Seed`.

Training writes it (`setrl.train.runs`); reports, the explorer, resume and `compare` read it here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from setrl.support import files
from setrl.support.errors import ConfigError, DataError
from setrl.support.files import strict_yaml

SCHEMA_VERSION = 1
HEAT = "_temperature_"  # in the name of an arm that was sampled otherwise
BASE = "base"  # the model that every arm starts from: its folder, and its name in figures
FIGURES = "figures"
RECORD = "run.json"
CONFIG = "config.yaml"

RunKind = Literal["comparison", "control"]


@dataclass(frozen=True)
class _Folder:
    """A folder whose files are read once, when they are first asked for."""

    path: Path

    def knowing(self, **values: Any) -> Self:
        """Return the same with values that no file tells, such as the arms of given files."""
        folder = copy(self)
        vars(folder).update(values)
        return folder

    @cached_property
    def record(self) -> dict[str, Any]:
        """run.json: schema version, status, when, and what else is known; empty if missing."""
        return files.read_json(self.path / RECORD)


@dataclass(frozen=True)
class Run(_Folder):
    """A run: arms, each trained once with each seed.

    What is in its folder, and what reads it:

        <run>/
            run.json                    `record`: kind, status, command, versions, commit
            config.yaml                 `config`: what `setrl train` or `setrl control` was given
            base/                       `arms["base"]`: what every arm starts from
                evaluation/…            as of a seed, below
                temperature_0.5/        `arms["base_temperature_0.5"]`: the base, sampled otherwise
            <arm>/seed_<s>/             `arms["grpo"].seeds[0]`: a training run
                run.json                `record`; `error`: why it failed
                metrics.jsonl           `metrics`, `steps`: an object for each step
                rollouts/step_<n>.jsonl     `rollouts[10]`: the samples of a step, a prompt a line
                evaluation/<split>.jsonl    `evaluations["test"]`: of a language model
                evaluation.json         `outcome`: of a control policy
                checkpoints/checkpoint-<n>/ `checkpoints[50]`: where training goes on
                checkpoints/state.json …     the same of an arm that a server trains
                final/                  `final`: the trained model, once all steps are done
                temperature_0.5/        `arms["grpo_temperature_0.5"]`: it, sampled otherwise
                tensorboard/            where `report_to: tensorboard` asks for it
                judge.sqlite            what a judge that is a model has answered
                traceback.txt           where the training run failed
            summary.json, figures/, report.html     what `setrl report` made of all this

    Nothing is read before it is asked for. Lists of files, such as `rollouts`, are made anew each
    time, because a run may be going on; the content of a file is read once.
    """

    @cached_property
    def kind(self) -> RunKind | None:
        """What was trained; None if the folder is not a run of setrl.

        Raises:
            ConfigError: If the run was written by a later version of setrl.
            DataError: If run.json is damaged.
        """
        path = self.path / RECORD
        try:
            version, kind = (self.record.get(key) for key in ("schema_version", "kind"))
        except (OSError, ValueError):
            if path.is_file() and b'"schema_version"' in path.read_bytes()[:64]:
                raise  # our file, cut off
            return None
        if isinstance(version, int) and kind is not None and version != SCHEMA_VERSION:
            raise ConfigError(
                f"{path} has schema version {version}, and this version of setrl reads "
                f"{SCHEMA_VERSION}: use the version of setrl that wrote it"
            )
        return kind if isinstance(version, int) and kind in get_args(RunKind) else None

    @property
    def name(self) -> str:
        """What people call it."""
        return str(self.record.get("name") or self.path.name)

    @cached_property
    def config(self) -> dict[str, Any]:
        """config.yaml, with every default; empty if the file is missing.

        Raises:
            DataError: If the file is damaged.
        """
        path = self.path / CONFIG
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            config, _ = strict_yaml.parse(text, str(path))
        except (ConfigError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: is damaged: {error}") from None
        return config if isinstance(config, dict) else {}

    @cached_property
    def arms(self) -> dict[str, Arm]:
        """Name → arm: the base first, then in the order of the config, then by name.

        Raises:
            ConfigError: If the folder does not exist.
        """
        if not self.path.is_dir():
            raise ConfigError(f"{self.path} is not a run directory: the folder does not exist")
        base = Arm(self.path / BASE)
        trained = [arm for folder in self.path.iterdir() if (arm := Arm(folder)).trained]
        order = [*(self.config.get("arms") or ())]
        trained.sort(key=lambda arm: (order.index(arm.name) if arm.name in order else len(order),
                                      arm.name))  # fmt: skip
        colder = [cold for arm in trained for cold in arm.colder()]
        arms = [base, *base.colder(), *trained, *colder]
        return {arm.name: arm for arm in arms if arm.path.is_dir()}

    @property
    def base(self) -> Seed:
        """The model that every arm starts from, whether its folder is there or not."""
        return Seed(self.path / BASE)

    def seed(self, arm: str, number: int) -> Seed:
        """Return the training run of an arm with a seed, whether its folder is there or not."""
        return Seed(self.path / arm / f"seed_{number}", number)


@dataclass(frozen=True)
class Arm(_Folder):
    """An arm of a run; or any folder with evaluations of one model, which then is its seed 0.

    Attributes:
        name: Its name, by default the folder's; "base" of the model that every arm starts from, and
            "base_temperature_0.5" of its samples at another temperature.
        heat: Of each seed's folder, the part that holds such samples, "temperature_0.5".
    """

    name: str = ""
    heat: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.path.name)

    @cached_property
    def seeds(self) -> dict[int, Seed]:
        """Seed → training run; a model that no seed trained, such as the base, is under 0."""
        return self.trained or {0: Seed(self.path / self.heat)}

    @cached_property
    def trained(self) -> dict[int, Seed]:
        """Seed → training run; none of the base."""
        if not self.path.is_dir() or is_base(self.name):
            return {}
        named = ((re.fullmatch(r"seed_(\d+)", path.name), path) for path in self.path.iterdir())
        folders = sorted((int(match[1]), path) for match, path in named if match)
        seeds = {number: Seed(path / self.heat, number) for number, path in folders}
        return {number: seed for number, seed in seeds.items() if seed.path.is_dir()}

    def colder(self) -> list[Arm]:
        """Return the arm as it was sampled at each other temperature."""
        folders = (self.path.glob(f"{seeds}temperature_*") for seeds in ("", "seed_*/"))
        heats = sorted({folder.name for matches in folders for folder in matches})
        return [Arm(self.path, f"{self.name}_{heat}", heat) for heat in heats]


@dataclass(frozen=True)
class Seed(_Folder):
    """A training run: one arm with one seed; or the base, which has only evaluations.

    Attributes:
        number: The seed.
    """

    number: int = 0

    @property
    def error(self) -> str | None:
        """Why training failed; an earlier failure of a run that goes on does not count."""
        is_failed = self.record.get("status") == "failed"
        return str(self.record.get("error")) if is_failed else None

    @property
    def metrics_file(self) -> Path:
        """The metrics: one JSON object for each step."""
        return self.path / "metrics.jsonl"

    @cached_property
    def metrics(self) -> dict[str, np.ndarray]:
        """Key → value at each logged step; NaN if a step has none; "step" among the keys.

        Of a step that was logged twice, by a run that was resumed, the last counts.
        """
        logged = files.read_lines(self.metrics_file)
        by_step = {record["step"]: record for record in logged if "step" in record}
        rows = [by_step[step] for step in sorted(by_step)]
        keys = dict.fromkeys(key for row in rows for key in row)
        return {key: np.array([number_or_nan(row.get(key)) for row in rows]) for key in keys}

    @property
    def steps(self) -> np.ndarray:
        """The logged steps; environment steps of a control run."""
        return self.metrics.get("step", np.zeros(0))

    @property
    def last_step(self) -> int:
        """The last logged step; 0 before the first."""
        return int(self.steps[-1:].sum())

    def rollout_file(self, step: int) -> Path:
        """Return the file of a step's samples: one JSON object for each prompt."""
        return self.path / "rollouts" / f"step_{step:06d}.jsonl"

    @property
    def rollouts(self) -> dict[int, Path]:
        """Step → file of its samples, for the steps that have one."""
        paths = (self.path / "rollouts").glob("step_*.jsonl")
        return _by_number(paths, "step_")

    @property
    def evaluations(self) -> dict[str, Path]:
        """Split → evaluation file, which `setrl.evaluate.load_evaluation` reads."""
        return {path.stem: path for path in sorted((self.path / "evaluation").glob("*.jsonl"))}

    @property
    def outcome_file(self) -> Path:
        """The evaluation of a finished control policy."""
        return self.path / "evaluation.json"

    @cached_property
    def outcome(self) -> dict[str, float]:
        """Metric → value of a control policy: NaN for what is not a number, {} without a file."""
        metrics = files.read_json(self.outcome_file).get("metrics", {})
        items = metrics.items() if isinstance(metrics, dict) else ()
        return {str(name): number_or_nan(value) for name, value in items}

    @property
    def checkpoint_folder(self) -> Path:
        """The folder of checkpoints, from which an interrupted run resumes."""
        return self.path / "checkpoints"

    def checkpoint(self, step: int) -> Path:
        """Return the folder of the checkpoint after a step."""
        return self.checkpoint_folder / f"checkpoint-{step}"

    @property
    def checkpoints(self) -> dict[int, Path]:
        """Step → folder of every checkpoint, complete or not."""
        paths = self.checkpoint_folder.glob("checkpoint-*")
        return _by_number(paths, "checkpoint-")

    def cold(self, temperature: float) -> Seed:
        """Return what was sampled of its model at another temperature."""
        return Seed(self.path / f"temperature_{temperature:g}", self.number)

    @property
    def final(self) -> Path:
        """The last model and its tokenizer; exists once training is finished."""
        return self.path / "final"


def is_base(arm: str) -> bool:
    """Whether an arm is the base, at whatever temperature: nothing trained it."""
    return arm.partition(HEAT)[0] == BASE


def base_as_cold(arm: str) -> str | None:
    """Return the base at the temperature at which an arm was sampled once more; else None.

    >>> base_as_cold("grpo_temperature_0.5"), base_as_cold("grpo")
    ('base_temperature_0.5', None)
    """
    _, heat, temperature = arm.partition(HEAT)
    return f"{BASE}{heat}{temperature}" if heat else None


def number_or_nan(value: Any) -> float:
    """Return a number of a record; NaN for anything else."""
    return float(value) if isinstance(value, int | float) else math.nan


def _by_number(paths: Iterable[Path], prefix: str) -> dict[int, Path]:
    """Return number → path, in order; names with something else behind the prefix are not ours."""
    numbers = {path.stem.removeprefix(prefix): path for path in paths}
    return dict(sorted((int(text), path) for text, path in numbers.items() if text.isdecimal()))
