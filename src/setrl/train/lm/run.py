"""`run_comparison`: one base language model, and every arm with every seed trained from it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import datasets
import torch
import transformers
from accelerate import PartialState
from typing_extensions import override

from setrl.evaluate.collecting import draw_and_read
from setrl.evaluate.summary import write_checkpoint_summary
from setrl.logs.run import BASE, Run, Seed
from setrl.models.local import LocalModel, refuse_damaged_weights
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.support.files.digests import Digests
from setrl.train.lm.base_model import MADE_AGAIN, SAVED_AGAIN, base_model, base_of_run, run_inputs
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.preflight.checks import check_before_training
from setrl.train.lm.resolved import ResolvedConfig, resolve
from setrl.train.lm.served_policy import ServedPolicy
from setrl.train.lm.server_arm import check_server_of, train_on_server
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.claim import claimed
from setrl.train.runs.pool import OnProgress, Stop
from setrl.train.runs.provenance import check_inputs
from setrl.train.runs.run import Arms, cache_folder, run_arms

EVALUATION_SEED = 0  # the same problems for every model of every comparison


def run_comparison(
    config: ComparisonConfig | ResolvedConfig,
    run_dir: str | Path,
    *,
    overwrite: bool = False,
    accept_changes: bool = False,
    cache: str | Path | None = None,
    show_progress: bool = True,
) -> Path:
    """Train every arm of a comparison with every seed and evaluate all, as `run_arms` does.

    Launched on several processes (`accelerate launch`, `torchrun`), arms are trained one after
    another by all of them, and evaluation is left to `setrl sample`.

    Args:
        config: The comparison, resolved or as its keys.
        run_dir: Its folder; made if missing.
        overwrite: Remove the run that is in the folder, and start from the beginning.
        accept_changes: Go on although the code, the model or the problems have changed.
        cache: Folder of base models; by default $SETRL_CACHE, or ~/.cache/setrl.
        show_progress: Whether to draw a progress bar.

    Returns:
        The folder.

    Raises:
        ConfigError: If the config asks for what cannot be made, or the folder holds a run with
            another config or other inputs, or something else.
        RunError: If an arm failed; the others were trained all the same.
        KeyboardInterrupt: After Ctrl-C, when all checkpoints are written.
    """
    quiet_libraries()
    resolved = config if isinstance(config, ResolvedConfig) else resolve(config)
    check_before_training(resolved)
    if resolved.engine is not None:
        check_server_of(resolved.engine, str(resolved.config.model))
    if os.environ.get("RANK", "0") == "0":
        for note in resolved.notes:
            print(f"note: {note}", file=sys.stderr)
    arms = LanguageModelArms(resolved, Path(run_dir), cache_folder(cache))
    if "RANK" in os.environ:
        if resolved.engine is not None:
            raise ConfigError("engine: a server trains, so start one process here, not several")
        return _run_on_all_processes(arms, overwrite, accept_changes)
    options = {"overwrite": overwrite, "accept_changes": accept_changes}
    return run_arms(arms, resolved.config, **options, show_progress=show_progress)


@dataclass(frozen=True)
class LanguageModelArms(Arms):
    """Arms that start from one language model and differ in their method."""

    resolved: ResolvedConfig
    run_dir: Path
    cache: Path

    @property
    def config(self) -> ComparisonConfig:
        """The keys of the config."""
        return self.resolved.config

    @cached_property
    def base(self) -> str:
        """The absolute folder of the model that arms start from, or its name on a hub."""
        return base_of_run(self.resolved, self.run_dir)

    def _refuse_missing_base(self) -> None:
        """Raise if the folder is gone: libraries take its path for a name on a hub."""
        if Path(self.base).is_absolute() and not Path(self.base).is_dir():
            raise RunError(f"{self.base} is missing: all arms start from the model in this folder")

    @override
    def inputs(self) -> Digests:
        return run_inputs(self.resolved, self.run_dir)

    @override
    def prepare(self, show_progress: bool) -> bool:
        folder, model, spec = self.run_dir / BASE, self.config.model, self.resolved.base
        if spec is None:
            files.write_json(folder / "base.json", {"schema_version": 1, "path": model})
        elif not (folder / "config.json").exists():
            base_folder = base_model(spec, self.cache, show_progress)
            refuse_damaged_weights(base_folder, MADE_AGAIN)
            with files.writing_folder(folder) as partial:
                shutil.copytree(base_folder, partial, dirs_exist_ok=True)
        refuse_damaged_weights(Path(self.base), SAVED_AGAIN if spec is None else MADE_AGAIN)
        return bool(self.resolved.eval_splits)

    @override
    def cost(self, arm: str | None) -> float:
        evaluation = sum(map(self._estimate_cost, self.resolved.eval_splits))
        evaluation *= 1 if self.config.cold_base is None else 2
        return evaluation + (0 if arm is None else self.config.steps)

    def _estimate_cost(self, split: str) -> float:
        """Return the cost of an evaluation in steps; sampling is about a quarter of a step."""
        samples = self.resolved.eval_problems(split) * self.config.eval_samples
        return 0.25 * samples / self.resolved.samples_per_step

    @override
    def train(self, arm: str, seed: int, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        quiet_libraries()
        if self.resolved.engine is None and not run.final.exists():
            self._refuse_missing_base()
        if self.resolved.engine is not None:
            done = train_on_server(self.resolved, arm, seed, run, on_progress, stop)
        else:
            done = train_arm(self.resolved, arm, seed, self.base, run, on_progress, stop)
        if done:
            self._evaluate(run.final, run, self.config.steps, on_progress, stop)

    @override
    def evaluate_base(self, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        quiet_libraries()
        if self.resolved.engine is None:
            self._refuse_missing_base()
        self._evaluate(self.base, run, 0, on_progress, stop)

    def _evaluate(
        self, model: str | Path, run: Seed, done: float, on_progress: OnProgress, stop: Stop
    ) -> None:
        """Evaluate a model as it was trained, and once more at the temperature `cold_base`."""
        self.evaluate_model(model, run.path, done, on_progress, stop)
        if (cold := self.config.cold_base) is not None:
            done += self.cost(None) / 2
            self.evaluate_model(model, run.cold(cold).path, done, on_progress, stop, cold)

    def _make_generator(
        self, model: str | Path, temperature: float | None
    ) -> LocalModel | ServedPolicy:  # fmt: skip
        """Return what draws the samples of an evaluation: the server, if one trains."""
        resolved, config = self.resolved, self.config
        heat = config.temperature if temperature is None else temperature
        if resolved.engine is not None:
            served = ServedPolicy.of(resolved, None if model == self.base else Path(model))
            return dataclasses.replace(served, temperature=heat)
        tokens, form = resolved.sample_tokens, resolved.form
        return LocalModel(model, heat, tokens, form=form, dtype=config.dtype)

    def evaluate_model(
        self,
        model: str | Path,
        folder: Path,
        done: float = 0,
        on_progress: OnProgress = lambda _: None,
        stop: Stop | None = None,
        temperature: float | None = None,
    ) -> None:
        """Evaluate any model on the splits of the config, with the run's problems, n and seeds.

        Problems that `folder` holds already are not evaluated again.

        Args:
            model: The folder of a model, or its name.
            folder: Its subfolder evaluation/ gets a file for each split, and their summary.
            done: What was done before, in steps: progress goes on from there.
            on_progress: Called after each split with what is done, in steps.
            stop: Asked before each split; never by default.
            temperature: Of sampling; the temperature of training by default.
        """
        config, splits = self.config, self.resolved.eval_splits
        generator = self._make_generator(model, temperature)
        chat = bool(splits) and generator.is_chat
        for split in splits:
            if stop is not None and stop.asked:
                return
            draw_and_read(
                self.resolved.task.problems(
                    split, self.resolved.eval_problems(split), EVALUATION_SEED, chat
                ),
                generator,
                config.eval_samples,
                EVALUATION_SEED,
                folder / "evaluation" / f"{split}.jsonl",
                show_progress=False,
            )
            done += self._estimate_cost(split)
            on_progress(done)
        if splits:
            write_checkpoint_summary(folder / "evaluation")


def _run_on_all_processes(arms: LanguageModelArms, overwrite: bool, accept_changes: bool) -> Path:
    """Train the arms one after another, each on all processes; the first process writes."""
    config, stop = arms.config, Stop()
    state = PartialState(cpu=not torch.cuda.is_available())
    claim = claimed(arms.run_dir, config, overwrite=overwrite)
    if not overwrite:
        check_inputs(arms.run_dir, arms.inputs(), accept=accept_changes)
    with claim if state.is_main_process else nullcontext():
        with state.main_process_first():
            arms.prepare(state.is_main_process)
        if state.is_main_process:
            check_inputs(arms.run_dir, arms.inputs(), accept=accept_changes, keep=True)
        for seed in config.seeds:
            for arm in config.arms:
                run = Run(arms.run_dir).seed(arm, seed)
                train_arm(arms.resolved, arm, seed, arms.base, run, lambda _: None, stop)
        state.wait_for_everyone()
    return arms.run_dir


def quiet_libraries() -> None:
    """One thread, and no bars or warnings of libraries between ours."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # of TRL about transformers
    warnings.filterwarnings("ignore", r"\w+ reads only which samples are right: ")  # see `notes`
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    datasets.disable_progress_bars()
