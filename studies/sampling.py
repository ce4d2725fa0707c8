"""`python -m studies.sampling RUN FOLDER`: the models of a finished run, sampled in other ways.

How far do more samples of a problem, or another temperature, give back what training narrowed? The
problems and the seeds of the samples are the run's own; only n and the temperature differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tyro

from setrl.evaluate.summary import evaluations_of, summarise
from setrl.logs.run import BASE, Run
from setrl.support import files
from setrl.train.lm.resolved import resolve
from setrl.train.lm.run import LanguageModelArms, quiet_libraries
from studies.summaries import by_arm
from studies.wise_ft import claim, opened

CURVES = ("pass@", "majority@", "correct_strategies@", "vote_share@", "degenerate", "shared_prefix")


def models_of(run: LanguageModelArms, seeds: dict[str, list[int]]) -> Iterator[Any]:
    """Yield (arm, seed, model) for the base and for every finished training run."""
    yield BASE, 0, run.base
    for arm, own in seeds.items():
        for seed in own:
            yield arm, seed, Run(run.run_dir).seed(arm, seed).final


def run(
    run_dir: Path,
    out_dir: Path,
    arms: Sequence[str] = (),
    temperatures: Sequence[float] = (1.0,),
    samples: int = 1024,
) -> Path:
    """Evaluate the base and the arms of a finished run anew, and write sampling.json.

    What is evaluated already is not evaluated again.

    Args:
        run_dir: The folder of the run.
        out_dir: Where everything is written; a folder for samples of only this run.
        arms: Its arms; all by default.
        temperatures: Each model is sampled at each of them.
        samples: n, the samples of each problem.

    Returns:
        The path of sampling.json: for each temperature, split and model the curves over k.
    """
    quiet_libraries()
    source, seeds = opened(run_dir, arms)
    claim(out_dir, run_dir)
    found = {}
    for temperature in temperatures:
        config = replace(source.config, temperature=temperature, eval_samples=samples)
        folder = out_dir / f"temperature_{temperature:g}"
        again = LanguageModelArms(resolve(config), run_dir, run_dir)
        for arm, seed, model in models_of(again, seeds):
            own = folder / BASE if arm == BASE else Run(folder).seed(arm, seed).path
            again.evaluate_model(model, own)
        summary = summarise(evaluations_of(Run(folder)), None)
        found[f"{temperature:g}"] = by_arm(summary, CURVES, ("value", "low", "high", "per_seed"))
    path = out_dir / "sampling.json"
    kept = {"run": run_dir.name, "samples": samples, "temperatures": found}
    files.write_json(path, {"schema_version": 1, **kept})
    return path


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
