"""`run_comparison`: one base language model, and every arm with every seed trained from it."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import datasets
import torch
import transformers
from accelerate import PartialState

from setrl import files
from setrl.errors import ConfigError
from setrl.evaluation.collecting import draw_and_read
from setrl.evaluation.sampling import LocalModel, refuse_damaged_weights
from setrl.evaluation.summary import write_checkpoint_summary
from setrl.files.run_folder import BASE, TrainingRun, training_run
from setrl.lm.arm import check_before_training, train_arm
from setrl.lm.base_model import base_model
from setrl.lm.config import ComparisonConfig
from setrl.lm.server import ServedModel, check_server_of, train_on_server
from setrl.runs.claim import claimed
from setrl.runs.pool import OnProgress, Stop
from setrl.runs.run import Arms, cache_folder, run_arms
from setrl.tasks.base import TRAIN

MADE_AGAIN = "remove {folder} and run the same command again, which makes the same model again"
SAVED_AGAIN = "save or download this model again"
TASK = "task.json"  # in the folder of the base: fingerprints of the problems
EVALUATION_SEED = 0  # the same problems for every model of every comparison


def run_comparison(
    config: ComparisonConfig,
    run_dir: str | Path,
    *,
    overwrite: bool = False,
    cache: str | Path | None = None,
    show_progress: bool = True,
) -> Path:
    """Train every arm of a comparison with every seed and evaluate all, as `run_arms` does.

    Launched on several processes (`accelerate launch`, `torchrun`), arms are trained one after
    another by all of them, and evaluation is left to `setrl sample`.

    Args:
        config: The comparison.
        run_dir: Its folder; made if missing.
        overwrite: Remove the run that is in the folder, and start from the beginning.
        cache: Folder of base models; by default $SETRL_CACHE, or ~/.cache/setrl.
        show_progress: Whether to draw a progress bar.

    Returns:
        The folder.

    Raises:
        ConfigError: If the config asks for what cannot be made, or the folder holds a run with
            another config, or something else.
        RunError: If an arm failed; the others were trained all the same.
        KeyboardInterrupt: After Ctrl-C, when all checkpoints are written.
    """
    quiet()
    check_before_training(config)
    if config.engine is not None:
        check_server_of(config)
    if os.environ.get("RANK", "0") == "0":
        for note in config.make_task().notes((TRAIN, *(config.eval_splits or ()))):
            print(f"note: {note}", file=sys.stderr)
    arms = LanguageModelArms(config, Path(run_dir), cache_folder(cache))
    if "RANK" in os.environ:
        if config.engine is not None:
            raise ConfigError("engine: a server trains, so start one process here, not several")
        return _run_on_all_processes(arms, overwrite)
    return run_arms(arms, overwrite=overwrite, show_progress=show_progress)


@dataclass(frozen=True)
class LanguageModelArms(Arms):
    """Arms that start from one language model and differ in their method."""

    config: ComparisonConfig

    @property
    def base(self) -> str:
        """The folder of the model made from scratch, or the name of the model in the config."""
        return self.config.model or str(self.run_dir / BASE)

    def prepare(self, show_progress: bool) -> bool:
        """Put the base model, or a record of where it is, in the run's folder."""
        folder, model = self.run_dir / BASE, self.config.model
        self._keep_digests(folder / TASK)
        if model is not None:
            files.write_json(folder / "base.json", {"schema_version": 1, "path": model})
        elif not (folder / "config.json").exists():
            made = base_model(self.config, self.cache, show_progress)
            refuse_damaged_weights(made, MADE_AGAIN)
            with files.writing_folder(folder) as partial:
                shutil.copytree(made, partial, dirs_exist_ok=True)
        refuse_damaged_weights(Path(self.base), MADE_AGAIN if model is None else SAVED_AGAIN)
        return bool(self.config.eval_splits)

    def _keep_digests(self, path: Path) -> None:
        """Write fingerprints of the problems, beside those of splits that were known before."""
        if found := self.digests(path):
            files.write_json(path, {"schema_version": 1, "digests": found})

    def digests(self, path: Path) -> dict[str, str]:
        """Fingerprints of the problems of each split, those that are known among them.

        Raises:
            ConfigError: If they are others than those that the run began with.
        """
        task, known = self.config.make_task(), files.read_json(path).get("digests", {})
        found = {split: task.digest(split) for split in (TRAIN, *(self.config.eval_splits or ()))}
        for split, digest in found.items():
            if known.get(split, digest) != digest:
                raise ConfigError(
                    f"the problems of the split {split!r} of {task.name} have changed since this "
                    "run began: put the file back, or give another --run-dir"
                )
        return {**known, **found} if any(found.values()) else {}

    def cost(self, arm: str | None) -> float:
        """Steps of training, and the evaluation in steps."""
        steps = 0 if arm is None else self.config.steps
        return steps + self._split_cost * len(self.config.eval_splits or ())

    @property
    def _split_cost(self) -> float:
        """The evaluation on a split, in steps; sampling is about a quarter of a step."""
        config = self.config
        samples_per_step = config.prompts_per_step * config.samples_per_prompt
        return 0.25 * config.eval_problems * config.eval_samples / samples_per_step

    def train(
        self, arm: str, seed: int, run: TrainingRun, on_progress: OnProgress, stop: Stop
    ) -> None:
        """Train an arm with a seed, and evaluate its last model."""
        quiet()
        if self.config.engine is not None:
            done = train_on_server(self.config, arm, seed, run, on_progress, stop)
        else:
            done = train_arm(self.config, arm, seed, self.base, run, on_progress, stop)
        if done:
            self.evaluate_model(run.final, run.path, self.config.steps, on_progress, stop)

    def evaluate_base(self, run: TrainingRun, on_progress: OnProgress, stop: Stop) -> None:
        """Evaluate the base model."""
        quiet()
        self.evaluate_model(self.base, run.path, 0, on_progress, stop)

    def _generator(self, model: str | Path) -> LocalModel | ServedModel:
        """What draws the samples of an evaluation: the server, if one trains."""
        config = self.config
        if config.engine is not None:
            return ServedModel.of(config, None if model == self.base else Path(model))
        return LocalModel(
            model, config.temperature, config.sample_tokens, form=config.form, dtype=config.dtype
        )

    def evaluate_model(
        self,
        model: str | Path,
        folder: Path,
        done: float = 0,
        on_progress: OnProgress = lambda _: None,
        stop: Stop | None = None,
    ) -> None:
        """Evaluate any model on the splits of the config, with the run's problems, n and seeds.

        Problems that `folder` holds already are not evaluated again.

        Args:
            model: The folder of a model, or its name.
            folder: Its subfolder evaluation/ gets a file for each split, and their summary.
            done: What was done before, in steps: progress goes on from there.
            on_progress: Called after each split with what is done, in steps.
            stop: Asked before each split; never by default.
        """
        config = self.config
        task = config.make_task()
        generator = self._generator(model)
        chat = bool(config.eval_splits) and generator.is_chat
        for count, split in enumerate(config.eval_splits or (), start=1):
            if stop is not None and stop.asked:
                return
            draw_and_read(
                task.problems(split, config.eval_problems, EVALUATION_SEED, chat),
                generator,
                config.eval_samples,
                EVALUATION_SEED,
                folder / "evaluation" / f"{split}.jsonl",
                show_progress=False,
            )
            on_progress(done + count * self._split_cost)
        if config.eval_splits:
            write_checkpoint_summary(folder / "evaluation")


def _run_on_all_processes(arms: LanguageModelArms, overwrite: bool) -> Path:
    """Train the arms one after another, each on all processes; the first process writes."""
    config, stop = arms.config, Stop()
    state = PartialState(cpu=not torch.cuda.is_available())
    claim = claimed(arms.run_dir, config, overwrite=overwrite)
    with claim if state.is_main_process else nullcontext():
        with state.main_process_first():
            arms.prepare(state.is_main_process)
        for seed in config.seeds:
            for arm in config.arms:
                run = training_run(arms.run_dir, arm, seed)
                train_arm(config, arm, seed, arms.base, run, lambda _: None, stop)
        state.wait_for_everyone()
    return arms.run_dir


def quiet() -> None:
    """One thread, and no bars or warnings of libraries between ours."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", FutureWarning)  # of TRL about transformers
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    datasets.disable_progress_bars()
