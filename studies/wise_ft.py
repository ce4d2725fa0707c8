"""`python -m studies.wise_ft RUN FOLDER`: arms whose weights are mixed with the base's afterwards.

    θ(t) = (1 − t)·θ_base + t·θ_trained

WiSE-FT (arXiv:2109.01903) as a rival that costs no training: does some t keep the strategies of the
base at the accuracy of the arm? Every θ(t) is evaluated with the run's own settings: the same
problems, n and seeds as its arms.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro

from setrl.evaluate.summary import evaluations_of, summarise
from setrl.logs.run import BASE, CONFIG, Arm, Run
from setrl.models.local import load_tokenizer, load_weights
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.run import LanguageModelArms, quiet_libraries
from studies.summaries import SHOWN, by_arm

SOURCE = "source.json"  # the run whose models are evaluated again in a folder
Weights = Mapping[str, torch.Tensor]


def mixed(base: Weights, trained: Weights, t: float) -> dict[str, torch.Tensor]:
    """(1 − t)·base + t·trained, weight by weight; t = 0 and t = 1 give them unchanged.

    Args:
        base: The weights at t = 0, by name.
        trained: The weights at t = 1: the same names and shapes.
        t: Any finite number; outside [0, 1] it extrapolates.

    Raises:
        ConfigError: If the two are not weights of the same model.
    """
    shapes = [{name: one.shape for name, one in weights.items()} for weights in (base, trained)]
    if shapes[0] != shapes[1]:
        names = sorted(set(shapes[0].items()) ^ set(shapes[1].items()))
        raise ConfigError(f"the weights belong to different models: {names[0][0]} is not in both")
    if t in (0, 1):
        return dict(trained if t else base)
    both = ((name, base[name], trained[name]) for name in base)
    return {
        name: ((1 - t) * first + t * last).to(last.dtype) if last.is_floating_point() else last
        for name, first, last in both
    }


@dataclass(frozen=True)
class Mixtures(LanguageModelArms):
    """A finished run, whose models are mixed with its base."""

    def evaluate(self, arm: str, seed: int, t: float, folder: Path) -> None:
        """Evaluate θ(t) of an arm and a seed as the run evaluated its arms, into a folder."""
        trained = Run(self.run_dir).seed(arm, seed).final
        first, last = (load_weights(path, self.config.dtype) for path in (self.base, trained))
        last.load_state_dict(mixed(first.state_dict(), last.state_dict(), t))
        with tempfile.TemporaryDirectory() as model:
            last.save_pretrained(model)
            load_tokenizer(trained).save_pretrained(model)
            self.evaluate_model(model, folder)


def opened(run_dir: Path, arms: Sequence[str]) -> tuple[Mixtures, dict[str, list[int]]]:
    """Open a run, and find the seeds of each arm whose training is finished.

    Raises:
        ConfigError: If the run, one of the arms, or its weights are missing.
    """
    if not (run_dir / CONFIG).is_file():
        raise ConfigError(f"{run_dir} is not the folder of a run: it has no {CONFIG}")
    resolved = ResolvedConfig.load(run_dir / CONFIG)
    if resolved.engine is not None:
        raise ConfigError(f"{run_dir}: a server trained this run, and keeps its weights")
    seeds = {}
    for arm in arms or tuple(resolved.arms):
        if arm not in resolved.arms:
            known = ", ".join(resolved.arms)
            raise ConfigError(f"{run_dir} has no arm {arm!r}: it has {known}")
        seeds[arm] = [n for n, seed in Arm(run_dir / arm).seeds.items() if seed.final.is_dir()]
        if not seeds[arm]:
            raise ConfigError(f"{run_dir}: no training of the arm {arm!r} is finished yet")
    return Mixtures(resolved, run_dir, run_dir), seeds


def claim(folder: Path, run_dir: Path) -> None:
    """Keep a folder for what is evaluated of one run, mixtures or samples.

    Raises:
        ConfigError: If it holds something else.
    """
    source = {"schema_version": 1, "run": str(run_dir.resolve())}
    if not (folder / SOURCE).exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise ConfigError(f"{folder} holds other files: give a new folder")
        files.write_json(folder / SOURCE, source)
    if files.read_json(folder / SOURCE) != source:
        raise ConfigError(f"{folder} was made from another run: give a new folder")


def evaluations_in(run_dir: Path, folder: Path, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return split → model → seed → evaluation, of the base, the arms and their mixtures."""
    found: dict[str, dict[str, Any]] = {}
    for part in (evaluations_of(Run(run_dir)), evaluations_of(Run(folder))):
        for split, models in part.items():
            wanted = {name: models[name] for name in (BASE, *names) if name in models}
            found.setdefault(split, {}).update(wanted)
    return found


def name_of(arm: str, t: float) -> str:
    """Return the name of a mixture of an arm."""
    return f"{arm}-wise-{t:g}"


def run(
    run_dir: Path,
    out_dir: Path,
    arms: Sequence[str] = (),
    shares: Sequence[float] = (0.25, 0.5, 0.75),
) -> Path:
    """Evaluate mixtures of the arms of a finished run with its base, and write wise_ft.json.

    What is evaluated already is not evaluated again. wise_ft.json has for each split and model,
    the base and the arms among them, the means over problems and seeds, and over each seed.

    Args:
        run_dir: The folder of the run.
        out_dir: Where everything is written; a folder for mixtures of only this run.
        arms: Its arms; all by default.
        shares: The values of t.

    Returns:
        The path of wise_ft.json.
    """
    quiet_libraries()
    mixtures, seeds = opened(run_dir, arms)
    claim(out_dir, run_dir)
    names = list(seeds)
    for arm, own in seeds.items():
        for t in shares:
            names.append(name_of(arm, t))
            for seed in own:
                folder = Run(out_dir).seed(names[-1], seed).path
                mixtures.evaluate(arm, seed, t, folder)
    summary = summarise(evaluations_in(run_dir, out_dir, names), None)
    splits = by_arm(summary, SHOWN)
    path = out_dir / "wise_ft.json"
    files.write_json(path, {"schema_version": 1, "run": run_dir.name, "splits": splits})
    return path


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
