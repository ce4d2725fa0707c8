"""A control run as its report reads it: whatever is there, missing parts left empty."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from setrl import files
from setrl.evaluation.estimators import Floats
from setrl.logs.run_folder import BASE, find_arms, read_config
from setrl.report.style import SPARE_HUES, SPARE_LINES, SPARE_MARKERS, Look

QUALITY = ("success", "validity")  # one of them is what diversity is held against
NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")
HUES = {  # arms by how their names begin, the longest first
    BASE: "#808080",
    "ppo_ent": "#E69F00",
    "ppo_kl": "#D55E00",
    "ppo_ucb": "#8C6D31",
    "ppo": "#D55E00",
    "reinforce": "#56B4E9",
    "poly": "#0072B2",
    "maxpo": "#009E73",
    "pass_k": "#CC79A7",
}


@dataclass(frozen=True)
class Outcome:
    """A metric of an arm over its seeds.

    Attributes:
        mean: Over seeds where it is defined; NaN where it is nowhere.
        stderr: Its standard error; NaN for fewer than two seeds.
    """

    mean: float
    stderr: float


@dataclass(frozen=True)
class ControlArm:
    """One arm of a control run.

    Attributes:
        name: Its name; "base" for the policy that all start from.
        evaluations: Seed → metric → value, NaN where undefined.
        curves: Seed → logged key → values over steps; "step" among them.
    """

    name: str
    evaluations: dict[int, dict[str, float]]
    curves: dict[int, dict[str, Floats]]

    def outcome(self, metric: str) -> Outcome:
        """Mean and standard error over seeds."""
        found = [one.get(metric, math.nan) for one in self.evaluations.values()]
        values = np.array([value for value in found if not math.isnan(value)])
        if not len(values):
            return Outcome(math.nan, math.nan)
        few = len(values) < 2
        spread = math.nan if few else float(values.std(ddof=1) / math.sqrt(len(values)))
        return Outcome(float(values.mean()), spread)


@dataclass(frozen=True)
class ControlData:
    """All that a control run's report shows."""

    folder: Path
    run: dict[str, Any]
    config: dict[str, Any]
    arms: dict[str, ControlArm]
    looks: dict[str, Look]

    @property
    def name(self) -> str:
        """Name of the run."""
        return str(self.run.get("name") or self.folder.name)

    @property
    def evaluated(self) -> list[ControlArm]:
        """Arms with an evaluation."""
        return [arm for arm in self.arms.values() if arm.evaluations]

    @property
    def metrics(self) -> list[str]:
        """The names of the evaluations' metrics, in the task's order."""
        rows = [row for arm in self.evaluated for row in arm.evaluations.values()]
        return list(dict.fromkeys(name for row in rows for name in row))

    @property
    def quality(self) -> str | None:
        """The metric of success."""
        return next((name for name in QUALITY if name in self.metrics), None)

    @property
    def diversity(self) -> list[str]:
        """Metrics of diversity: the effective number, and what many tries are good for."""
        effective = [name for name in self.metrics if name.startswith("effective")]
        rooms = [name for name in self.metrics if name.endswith("room_sets")]
        tries = [name for name in self.metrics if "@" in name]
        return [*(effective or rooms)[-1:], *tries[-1:]]


def read_control(run_dir: Path) -> ControlData:
    """Read a control run's directory.

    Raises:
        ConfigError: When there is no such folder.
    """
    arms = {}
    for found in find_arms(run_dir):
        seeds = found.seeds.items()
        evaluations = {seed: row for seed, folder in seeds if (row := _evaluation(folder))}
        curves = {seed: _columns(files.read_lines(f / "metrics.jsonl")) for seed, f in seeds}
        arms[found.arm] = ControlArm(found.arm, evaluations, curves)
    run, config = files.read_json(run_dir / "run.json"), read_config(run_dir)
    return ControlData(run_dir, run, config, arms, looks(list(arms)))


def _evaluation(folder: Path) -> dict[str, float]:
    found = files.read_json(folder / "evaluation.json").get("metrics", {})
    return {name: math.nan if value is None else float(value) for name, value in found.items()}


def _columns(records: list[dict[str, Any]]) -> dict[str, Floats]:
    keys = dict.fromkeys(key for record in records for key in record)
    return {
        key: np.array([_number(record.get(key)) for record in records], dtype=np.float64)
        for key in keys
    }


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def sweep(arm: str) -> str:
    """The sweep that an arm is in: its name with every number replaced.

    >>> sweep("ppo_ent_0.65"), sweep("poly_n8_k4"), sweep("reinforce")
    ('ppo_ent_#', 'poly_n#_k#', 'reinforce')
    """
    return NUMBER.sub("#", arm)


def numbers(arm: str) -> tuple[float, ...]:
    """The numbers in an arm's name, by which the arms of a sweep are in order."""
    return tuple(float(found[0]) for found in NUMBER.finditer(arm))


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """The look of each arm: a hue a kind of arm, line and marker a sweep within the kind."""
    sweeps = list(dict.fromkeys(map(sweep, arms)))
    found: dict[str, Look] = {}
    seen: dict[str, int] = {}
    for name in sweeps:
        kind = next((k for k in sorted(HUES, key=len, reverse=True) if name.startswith(k)), name)
        turn = seen[kind] = seen.get(kind, -1) + 1
        spare = SPARE_HUES[len(seen) % len(SPARE_HUES)]
        line, marker = SPARE_LINES[turn % 5], (*SPARE_MARKERS, "o", "s", "D")[turn % 8]
        found[name] = Look(
            sweep_label(name, arms),
            HUES.get(kind, spare),
            "-" if turn == 0 else line,
            "o" if turn == 0 else marker,
        )
    return {arm: found[sweep(arm)] for arm in arms}


def sweep_label(name: str, arms: Sequence[str]) -> str:
    """What people call a sweep: its words; an arm in none keeps its whole name."""
    members = [arm for arm in arms if sweep(arm) == name]
    if len(members) == 1:
        return members[0].replace("_", " ")
    words = [word for word in name.split("_") if "#" not in word]
    return " ".join(words) or name.replace("_", " ").replace("#", "")
