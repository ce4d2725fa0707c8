"""What the evaluations of a run show: pass@k with bands, paired differences, problems by arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from setrl.evaluate.bands import Band, every_k, first_loss, pass_values, simultaneous_band
from setrl.evaluate.intervals import IntervalConfig, mean_over_problems, paired_difference
from setrl.evaluate.metrics import powers_of_two
from setrl.evaluate.problems import ByArm, on_common
from setrl.evaluate.samples import Evaluation
from setrl.evaluate.verdicts import ranges
from setrl.show.lab.view.catalogue import CatalogueEntry, LogSource
from setrl.support import files
from setrl.support.errors import ConfigError, DataError, explain
from setrl.support.files.run_folder import is_base

USUAL_REFERENCE = "grpo"
PROBLEMS_SHOWN = 400
PROMPT_SHOWN = 300
CURVES = 24  # arms that one page compares


class EvaluationPages:
    """The evaluations of runs, read once as long as their files do not change."""

    def __init__(self) -> None:
        self._pages: dict[tuple[Any, ...], dict[str, Any]] = {}

    def page(self, entry: CatalogueEntry, split: str | None, against: str | None) -> dict[str, Any]:
        """One split of a run.

        Args:
            entry: The run.
            split: "test" or the first one by default.
            against: The arm that the others are compared with; the arm "grpo", or the first one.

        Raises:
            LookupError: If there is no such split.
            DataError: If nothing of it can be read.
        """
        if not entry.evaluations:
            raise LookupError("evaluations")
        usual = "test" if "test" in entry.evaluations else next(iter(entry.evaluations))
        name = usual if split is None else split
        arms = entry.evaluations[name]
        key = (entry.id, name, against, _state(arms))
        if key not in self._pages:
            self._pages = {key: _page(arms, against)}  # one page: somebody looks at it
        return {"splits": list(entry.evaluations), "split": name, **self._pages[key]}


def _state(arms: Mapping[str, Mapping[int, LogSource]]) -> tuple[Any, ...]:
    paths = (path for arm in arms.values() for seed in arm.values() for path in seed.paths)
    return tuple((path, (about := path.stat()).st_size, about.st_mtime_ns) for path in paths)


def _page(sources: Mapping[str, Mapping[int, LogSource]], against: str | None) -> dict[str, Any]:
    read, notes = _read(sources)
    arms, left_out, _ = on_common(read)
    notes += left_out
    ks = every_k(min(evaluation.n for found in arms.values() for evaluation in found))
    values = {name: pass_values(found, ks) for name, found in arms.items()}
    reference = _reference(list(arms), against)
    places = [place for place, k in enumerate(ks) if k in powers_of_two(ks[-1])]
    return files.plain_json({
        "notes": notes,
        "reference": reference,
        "ks": ks,
        "shown_ks": [ks[place] for place in places],
        "level": IntervalConfig().level,
        "problems": len(next(iter(arms.values()))[0]),
        "arms": [_curve(name, arms[name], values[name], ks, places) for name in arms],
        "differences": [
            _difference(name, values[name], values[reference], ks, places)
            for name in arms
            if name != reference
        ],
        "matrix": _matrix(arms),
    })  # fmt: skip


def _read(
    sources: Mapping[str, Mapping[int, LogSource]],
) -> tuple[dict[str, list[Evaluation]], list[str]]:
    """Arm → the evaluations that can be read; what cannot be read is a sentence."""
    found: dict[str, list[Evaluation]] = {}
    notes: list[str] = []
    for name, seeds in sources.items():
        for source in seeds.values():
            try:
                evaluation = source.load()
                found.setdefault(name, []).append(evaluation)
            except (ConfigError, DataError, OSError) as error:
                notes.append(f"{name} is left out: {explain(error)}")
    if not found:
        raise DataError(" ".join(notes) or "there is no evaluation")
    if len(found) > CURVES:
        notes.append(f"the first {CURVES} of {len(found)} arms are shown")
    return dict(list(found.items())[:CURVES]), notes


def _reference(names: list[str], against: str | None) -> str:
    if against in names:
        return str(against)
    trained = [name for name in names if not is_base(name)]
    return USUAL_REFERENCE if USUAL_REFERENCE in names else (trained or names)[0]


def _curve(
    name: str, found: Sequence[Evaluation], values_KRP: np.ndarray, ks: list[int], places: list[int]
) -> dict[str, Any]:
    """One arm: pass@k with an interval at some k, and a band that holds for all k at once."""
    estimates = [mean_over_problems(values_KRP[place]) for place in places]
    band = simultaneous_band(ks, values_KRP, bounds=(0, 1))
    return {
        "name": name,
        "seeds": len(found),
        "samples": min(one.n for one in found),
        "most_samples": max(int(np.max(one.sizes)) for one in found),
        "values": band.values,
        "low": band.low,
        "high": band.high,
        "intervals": [[one.value, one.low, one.high] for one in estimates],
        "by_seed": [estimate.per_seed for estimate in estimates],
    }


def _difference(
    name: str, of_arm: np.ndarray, of_reference: np.ndarray, ks: list[int], places: list[int]
) -> dict[str, Any]:
    """One arm minus the reference, paired over problems."""
    band = simultaneous_band(ks, of_arm, of_reference, bounds=(-1, 1))
    paired = [paired_difference(of_arm[place], of_reference[place]) for place in places]
    return {
        "name": name,
        "values": band.values,
        "low": band.low,
        "high": band.high,
        "intervals": [[one.value, one.low, one.high] for one in paired],
        "above": ranges(band.above, ks),
        "below": ranges(band.below, ks),
        "loses_first": _loss(band),
        "reference_loses_first": _loss(band.negated()),
    }


def _loss(band: Band) -> dict[str, Any] | None:
    """Where the first k may lie at which the difference is below 0; None without a band."""
    return asdict(first_loss(band)) if band.is_known else None


def _matrix(arms: ByArm) -> dict[str, Any]:
    """Return the share of correct samples by problem and arm, the most different ones first."""
    shares = {
        name: np.mean([one.correct_count_P / one.sizes for one in found], axis=0)
        for name, found in arms.items()
    }
    shares_PA = np.array(list(shares.values())).T
    order = np.argsort(-(shares_PA.max(axis=1) - shares_PA.min(axis=1)), kind="stable")
    prompts = next(iter(arms.values()))[0].prompts
    return {
        "arms": list(shares),
        "problems": len(prompts),
        "rows": [
            {"prompt": prompts[p][:PROMPT_SHOWN], "shares": shares_PA[p].tolist()}
            for p in order[:PROBLEMS_SHOWN]
        ],
    }
