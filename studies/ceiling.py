"""`python -m studies.ceiling FOLDER`: the most that an arm of a recipe can be expected to reach.

An arm samples from its own policy and must find out which samples are right. Here the domain's
author writes them instead: only right samples, spread evenly over the strategies of the base. All
else comes from the recipe: prompts, N, steps, optimiser, learning rate, loss and evaluation. The
method is RAFT, whose advantage is the reward, so that every update is a step of maximum likelihood:

    ∇ Σᵢ log π(yᵢ)

The base decides which strategies are asked for: those that make at least a share `at_least` of its
samples *and* are right (docs/results/bases). Fewer strategies are learned better, so several shares
draw a front.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from transformers import PreTrainedTokenizerBase

from setrl.evaluate.summary import summarise_run
from setrl.logs.run import Seed
from setrl.models.local import load_tokenizer
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.tasks import DomainTask
from setrl.tasks.base import TRAIN
from setrl.tasks.domains import Domain, Problem
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.preflight.checks import check_before_training
from setrl.train.lm.resolved import resolve
from setrl.train.lm.run import LanguageModelArms, quiet_libraries
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import OnProgress, Stop
from setrl.train.runs.run import cache_folder, run_arms
from studies import bases
from studies.summaries import SHOWN, by_arm

ROOT = Path(__file__).parents[1]
BASES = ROOT / "docs" / "results" / "bases"
RECIPES = tuple(bases.RECIPES / name / "config.yaml" for name in bases.DOMAINS)
MOST_TRIES = 1000  # samples that the author writes for one prompt before a strategy is given up


def strategies_of(counted: Mapping[str, Any], at_least: float) -> tuple[str, ...]:
    """Return the strategies whose right samples make at least this share of a base's samples.

    Args:
        counted: What `bases.read` gives: for each problem, strategy → [right, wrong].
        at_least: In (0, 1].

    Returns:
        Their names, the most frequent first.

    Raises:
        ConfigError: If no strategy has such a share.
    """
    right: Counter[str] = Counter()
    for problem in counted["problems"]:
        right.update({name: count for name, (count, _) in problem.items() if name})
    total = counted["samples"] * len(counted["problems"])
    found = tuple(name for name, count in right.most_common() if count >= at_least * total)
    if not found:
        raise ConfigError(
            f"no strategy has a share of {at_least:g} in the base's samples: ask for less"
        )
    return found


@dataclass(frozen=True)
class Author:
    """Right samples of a domain's author, spread evenly over strategies.

    Attributes:
        domain: Its author writes.
        problems: Prompt → problem, of the training split.
        strategies: Those that are wanted.
        tokenizer: The tokenizer of the model.
    """

    domain: Domain
    problems: Mapping[str, Problem]
    strategies: tuple[str, ...]
    tokenizer: PreTrainedTokenizerBase

    def __call__(
        self,
        model: Any,
        prompt_ids: Sequence[Sequence[int]],
        n: int,
        max_new_tokens: int,
        temperature: float,
        generator: torch.Generator,
    ) -> list[list[list[int]]]:
        """Sample like `sampler.sample_ids`: `n` samples of each prompt, in token ids."""
        seed = torch.randint(2**62, (1,), generator=generator).item()
        rng = np.random.default_rng(int(seed))
        end = [int(self.tokenizer.eos_token_id)]
        groups = []
        for ids in prompt_ids:
            texts = self.texts(str(self.tokenizer.decode(list(ids))), n, rng)
            groups.append([self.tokenizer(text)["input_ids"] + end for text in texts])
        return groups

    def texts(self, prompt: str, n: int, rng: np.random.Generator) -> list[str]:
        """Return `n` right samples: n // m of each of m strategies, and the rest of random ones.

        A strategy that the author does not get right in 1,000 samples cannot be used for this
        problem, and leaves its place to the others.

        Raises:
            RunError: If that holds for all.
        """
        problem, order = self.problems[prompt], rng.permutation(self.strategies).tolist()
        wanted = Counter(order[place % len(order)] for place in range(n))
        found: dict[str, list[str]] = {name: [] for name in wanted}
        for _ in range(MOST_TRIES):
            written = self.domain.write(problem, rng)
            if written.correct and len(found.get(written.strategy, ())) < wanted[written.strategy]:
                found[written.strategy].append(written.text)
                if sum(map(len, found.values())) == n:
                    break
        texts = [text for name in order for text in found.get(name, ())]
        if not texts:
            raise RunError(f"the author solved {prompt!r} by none of {', '.join(order)}")
        spread = _by_turns(found)
        return [*texts, *(spread[place % len(spread)] for place in range(n - len(texts)))]


def _by_turns(found: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the samples of all strategies, one of each in turn."""
    waiting = deque(list(texts) for texts in found.values() if texts)
    turns = []
    while waiting:
        texts = waiting.popleft()
        turns.append(texts.pop(0))
        if texts:
            waiting.append(texts)
    return turns


@dataclass(frozen=True)
class Ceilings(LanguageModelArms):
    """A run whose arms learn from the author: arm → the strategies that it is shown."""

    strategies: Mapping[str, tuple[str, ...]]

    def train(self, arm: str, seed: int, run: Seed, on_progress: OnProgress, stop: Stop) -> None:
        """Train an arm on what the author writes, and evaluate its last model."""
        quiet_libraries()
        author = self._author(arm, seed)
        if train_arm(self.resolved, arm, seed, self.base, run, on_progress, stop, draw=author):
            self.evaluate_model(run.final, run.path, self.config.steps, on_progress, stop)

    def _author(self, arm: str, seed: int) -> Author:
        config, task = self.config, self.resolved.task
        assert isinstance(task, DomainTask)
        count = config.steps * config.prompts_per_step
        problems = task.domain.problems(TRAIN, min(count, config.train_problems or count), seed)
        by_prompt = {problem.prompt: problem for problem in problems}
        return Author(task.domain, by_prompt, self.strategies[arm], load_tokenizer(self.base))


def ceiling_config(
    recipe: ComparisonConfig, shares: Sequence[float], seeds: Sequence[int]
) -> ComparisonConfig:
    """Return the recipe with one arm for each share of the base's samples."""
    arms = {arm_of(share): {"method": "raft"} for share in shares}
    return replace(recipe, name=f"ceiling_{recipe.name}", arms=arms, seeds=tuple(seeds))


def arm_of(share: float) -> str:
    """Return the name of the arm that learns the strategies of this share."""
    return f"imitation_{share:g}"


def numbers(run_dir: Path, strategies: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """Return the means of each arm and seed: split → arm → metric → {value, per_seed}."""
    splits = by_arm(summarise_run(run_dir), SHOWN)
    shown = {arm: list(names) for arm, names in strategies.items()}
    return {"schema_version": 1, "strategies": shown, "splits": splits}


def run(
    out_dir: Path | str,
    recipes: Sequence[Path] = RECIPES,
    seeds: Sequence[int] = (11, 12, 13),
    shares: Sequence[float] = (0.01,),
    overrides: Sequence[str] = (),
    cache: Path | None = None,
) -> Path:
    """Train and evaluate the ceilings of recipes, and write ceiling_<name>.json for each.

    The runs lie in <out_dir>/runs; what is done already is not done again.

    Args:
        out_dir: Where everything is written.
        recipes: Configs on polynomial, multiplication or quadratic; their arms are replaced.
        seeds: Seeds of the prompts, and of what the author writes.
        shares: The least shares of the base's samples that strategies must have; one arm each.
        overrides: Assignments that replace keys of the recipe, such as "steps=800".
        cache: Folder of base models; by default $SETRL_CACHE, or ~/.cache/setrl.

    Returns:
        The folder.
    """
    folder = Path(out_dir)
    for recipe in recipes:
        config = ceiling_config(ComparisonConfig.load(recipe, overrides), shares, seeds)
        resolved = resolve(config)
        counted = bases.read(BASES / f"{resolved.task.name}.json")
        strategies = {arm_of(share): strategies_of(counted, share) for share in shares}
        check_before_training(resolved)
        run_dir = folder / "runs" / config.name
        arms = Ceilings(resolved, run_dir, cache_folder(cache), strategies)
        run_arms(arms, resolved.config)
        files.write_json(folder / f"{config.name}.json", numbers(run_dir, strategies))
    return folder


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
