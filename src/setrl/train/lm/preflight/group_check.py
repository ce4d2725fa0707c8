"""One group of samples, drawn from the model before it is trained: scored, judged and credited."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from transformers import TrainerState

from setrl.core import methods
from setrl.core.advantages import AnyMethod
from setrl.models.local import LocalModel
from setrl.samples.conversation import prompt_text
from setrl.samples.values import shown_label, was_cut
from setrl.support.errors import RunError
from setrl.support.wording import table
from setrl.tasks import Problem
from setrl.tasks.visible import escaped, from_here, shortened
from setrl.train.gathering.functions import name_of
from setrl.train.gathering.judging import make_judge
from setrl.train.gathering.scorer import SampledGroup
from setrl.train.lm.preflight.checks import refuse_unreachable_judge
from setrl.train.lm.resolved import ResolvedArm, ResolvedConfig
from setrl.train.lm.server_arm import scorer_of
from setrl.train.scoring import ScoredBatch
from setrl.train.trl import MeanLogprob

END = 32  # characters of a sample that are shown: its end, where the answer is
PROMPT_LENGTH = 160
OF_TRAINERS = {
    "trainer_state": TrainerState(),
    "log_extra": lambda *_: None,
    "log_metric": lambda *_: None,
}


@dataclass(frozen=True)
class GroupCheck:
    """The samples of one prompt, and what is wrong with them.

    Attributes:
        prompt: The prompt, before any chat template.
        where: Where the problem is written.
        samples: What is known about each sample: `tokens`, `cut`, `reward/NAME` of each function,
            `reward` as methods read it, `strategy/ARM` and `advantage/ARM` of each arm, and `text`.
        problems: What failed, in sentences.
        warnings: What people should look at, in sentences.
    """

    prompt: str
    where: str
    samples: list[dict[str, Any]]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_group(resolved: ResolvedConfig) -> GroupCheck:
    """Draw the samples of the first prompt of training, and do with them what training does."""
    with tempfile.TemporaryDirectory() as folder:
        return _GroupChecking(resolved, Path(folder)).make_group_check()


class _GroupChecking:
    """The steps in their order; what fails is written down, and the other arms go on."""

    def __init__(self, resolved: ResolvedConfig, folder: Path):
        self.resolved, self.folder = resolved, folder
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def make_group_check(self) -> GroupCheck:
        problems = self.resolved.training_problems(self.resolved.config.seeds[0])
        other_problem = next(
            (problem for problem in problems if problem.prompt != problems[0].prompt), problems[0]
        )
        group, arms = self._sample_group(problems[0]), self._find_credited_arms()
        batches = {
            arm: batch
            for arm, resolved_arm in arms.items()
            if (batch := self._credit_by_arm(resolved_arm, group))
        }
        if len(batches) == len(arms):
            self._probe_outcome(group, other_problem)
        rows = self._make_sample_rows(group, batches)
        self._warn_of_little_signal(rows)
        where = from_here(problems[0].where)
        return GroupCheck(problems[0].prompt, where, rows, self.problems, self.warnings)

    def _sample_group(self, problem: Problem) -> SampledGroup:
        config, most, form = self.resolved.config, self.resolved.sample_tokens, self.resolved.form
        assert config.model is not None
        model = LocalModel(config.model, config.temperature, most, form, config.dtype)
        ids, tokenizer = model.ids(problem.prompt, config.samples_per_prompt, config.seeds[0])
        texts = list(tokenizer.batch_decode(ids, skip_special_tokens=True))
        cut = [was_cut(sample_ids, model.ends) for sample_ids in ids]
        return SampledGroup(problem, form.prompt(problem.prompt, model.is_chat), texts, ids, cut)

    def _find_credited_arms(self) -> dict[str, ResolvedArm]:
        """Return the arms that get credit here."""
        arms = dict(self.resolved.arms)
        for arm, resolved_arm in self.resolved.arms.items():
            if any(isinstance(source, MeanLogprob) for source in resolved_arm.fields.values()):
                del arms[arm]
                self.warnings.append(
                    f"{arm} gets no credit here: only training computes mean_logprob"
                )
        return arms

    def _credit_by_arm(self, arm: ResolvedArm, group: SampledGroup) -> ScoredBatch | None:
        """Return the group with the credit of an arm; None if something fails."""
        try:
            if arm.judge is None:
                return self._score_group(arm, group, arm.method)
            refuse_unreachable_judge(arm.judge)
            with closing(make_judge(arm.judge, self.folder)) as judge:
                batch = self._score_group(arm, group, arm.method, judge)
            if (missing := batch.missing_B[0]) is not None and missing.reason.startswith("judge"):
                raise RunError(f"{judge.name} could not judge the group: {missing.reason}")
            return batch
        except (RunError, ValueError) as error:
            self.problems += [str(error)] if str(error) not in self.problems else []
        return None

    def _score_group(
        self, arm: ResolvedArm, group: SampledGroup, method: AnyMethod, judge: Any = None
    ) -> ScoredBatch:
        scorer = scorer_of(self.resolved, arm, judge, stop_rule=None, more=OF_TRAINERS)
        return scorer.score([group], method, np.random.default_rng(0))

    def _probe_outcome(self, group: SampledGroup, other_problem: Problem) -> None:
        """Look for values between 0 and 1 of what says which samples are right.

        A good model shows only its 1s. Here an empty sample and the samples of the group answer
        another problem.
        """
        texts, ids = ["", *group.texts_N[1:]], [[], *group.ids_N[1:]]
        prompt = self.resolved.form.prompt(other_problem.prompt, not isinstance(group.prompt, str))
        probe = replace(group, problem=other_problem, prompt=prompt, texts_N=texts, ids_N=ids)
        arm = next(iter(self.resolved.arms.values()))
        try:
            self._score_group(replace(arm, fields={}), probe, methods.dr_grpo())
        except (RunError, ValueError) as error:
            self.problems.append(str(error))

    def _make_sample_rows(
        self, group: SampledGroup, batches: Mapping[str, ScoredBatch]
    ) -> list[dict[str, Any]]:
        """Return what is known about each sample."""
        columns: dict[str, Any] = {"tokens": list(map(len, group.ids_N)), "cut": group.cut_N}
        for batch in [*batches.values()][:1]:
            by_name = zip(self.resolved.rewards, batch.samples.components[0].T, strict=True)
            columns |= {
                f"reward/{name_of(function)}": _nan_to_none(values_N)
                for function, values_N in by_name
            }
            columns["reward"] = _nan_to_none(batch.samples.rewards[0])
        for arm, batch in batches.items():
            labels = batch.samples.labels("strategies")
            if labels and "strategies" in self.resolved.arms[arm].method.reads:
                columns[f"strategy/{arm}"] = [*map(shown_label, labels[0])]
            values_BN, usable_BN = batch.advantages.values_BN, batch.advantages.usable_BN
            columns[f"advantage/{arm}"] = _nan_to_none(np.where(usable_BN, values_BN, np.nan)[0])
        columns["text"] = group.texts_N
        samples = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in samples]

    def _warn_of_little_signal(self, rows: list[dict[str, Any]]) -> None:
        """Warn of a group that says little about training."""
        if all(row["cut"] for row in rows):
            self.warnings.append(
                f"all {len(rows)} samples were cut at {self.resolved.sample_tokens} tokens: set "
                "max_new_tokens higher, or the model does not end its answers"
            )
        rewards = {row.get("reward") for row in rows}
        if len(rewards) == 1 and not self.problems:
            self.warnings.append(
                f"all {len(rows)} samples have the reward {rewards.pop()}: from such a group a "
                "method that reads only rewards learns nothing"
            )


def _nan_to_none(values_N: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values_N]


def group_text(group: GroupCheck) -> str:
    """Write the table of the samples."""
    prompt = " ".join(prompt_text(group.prompt).split())
    head = [name for name in group.samples[0] if name != "cut"]
    where = group.where or "this prompt"  # a domain's is in no file
    rows = [[_format_cell(name, sample) for name in head] for sample in group.samples]
    return "\n".join(
        [
            f"one group: {len(group.samples)} samples of {where}, as the model is now",
            f"  │ {shortened(escaped(prompt), PROMPT_LENGTH)}",
            table([[*head[:-1], "ends with"], *rows], left=(-1,)),
        ]
    )


def _format_cell(name: str, sample: Mapping[str, Any]) -> str:
    value = sample[name]
    if value is None:
        return "?"
    if name == "tokens":
        return f"{value:,}{' cut' if sample['cut'] else ''}"
    if name == "text":
        return escaped(value if len(value) <= END else f"…{value[-END:]}", "")
    if isinstance(value, str):
        return escaped(value, "")[:END]
    return f"{value + 0.0:+.3g}" if name.startswith("advantage") else f"{value:.3g}"
