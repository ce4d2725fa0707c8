"""Which row of the decision table of docs/choosing.md holds for the groups of a base model.

Only what the groups show decides, and what is wanted. What training will come to is not forecast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from setrl.evaluate.estimators import Floats, count_labels
from setrl.evaluate.intervals import Estimate, mean_over_problems
from setrl.evaluate.metrics import bounds_of, metric_values
from setrl.evaluate.samples import Evaluation
from setrl.samples.values import DEGENERATE
from setrl.support.errors import DataError
from setrl.support.wording import count, interval, percent, plain, size

Goal = Literal["strategies", "mostly-pass@1", "pass@1", "pass@k"]
ArmConfig = Mapping[str, Any]

FEWEST = 5  # prompts: fewer say nothing about other prompts
HOPELESS, HARD, WEAK = 0.05, 1 / 3, 0.5  # success of a base, below which rows 1, 3 and 6 hold
FEW_STRATEGIES = 6  # of a prompt, up to which prompts are counted one number at a time

GRPO: ArmConfig = {"method": "grpo"}
PAIRS: ArmConfig = {"method": "poly_epo", "set_size": 2}
CONCAVE: ArmConfig = {"method": "concave_counts", "alpha": 0.0}


@dataclass(frozen=True)
class ShownLog:
    """What groups of a base model show.

    Attributes:
        prompts: Their number.
        samples: The smallest and the largest number of samples of a prompt.
        success: The mean share of right samples over prompts.
        success_quantiles: This share at 10, 50 and 90% of the prompts.
        never_right, always_right: Prompts with no right sample, and with only right samples.
        group_size: N, the samples of a prompt in the planned training.
        alike: The share of groups of N that would be all right or all wrong, over prompts with at
            least N samples; NaN without any.
        alike_prompts: The number of these prompts.
        effective_number, top_share: Of the strategies of a prompt; None without strategies.
        degenerate: The share of labelled samples that are degenerate; NaN where none has a label.
        right_strategies: Number of strategies with a right sample → prompts that show so many.
        are_answers: Whether the labels of strategies divide samples as their answers do.
    """

    prompts: int
    samples: tuple[int, int]
    success: Estimate
    success_quantiles: tuple[float, float, float]
    never_right: int
    always_right: int
    group_size: int
    alike: float
    alike_prompts: int
    effective_number: Estimate | None
    top_share: Estimate | None
    degenerate: float
    right_strategies: Mapping[int, int]
    are_answers: bool

    @property
    def has_strategies(self) -> bool:
        """Whether any sample has a strategy."""
        return self.effective_number is not None

    @property
    def quiet_set_size(self) -> int:
        """K near 1/p̂ − 1, where pass@K has the least noise, below N/2: docs/theory.md, Which K."""
        largest = max(1, self.group_size // 2 - 1)
        return min(max(1, round(1 / self.success.value - 1)), largest)


def shown(evaluation: Evaluation, group_size: int) -> ShownLog:
    """Return what groups show.

    Args:
        evaluation: The groups.
        group_size: N, the samples of a prompt in the planned training.

    Raises:
        DataError: If the groups say nothing: too few, or all samples equal.
    """
    n_P, right_P = evaluation.size_P, evaluation.correct_count_P
    _refuse_uninformative(right_P, n_P)
    low, middle, high = np.quantile(right_P / n_P, [0.1, 0.5, 0.9]).tolist()
    metrics = metric_values(evaluation, only=("effective_number", "top_share"))
    of = {
        name: mean_over_problems(x_P, bounds=bounds_of(name, [x_P]))
        for name, x_P in metrics.items()
        if not np.isnan(x_P).all()
    }
    labels_PN = evaluation.counted("strategies")
    is_large_P = n_P >= group_size
    alike_P = alike(right_P[is_large_P], n_P[is_large_P], group_size)
    is_labelled_P = ~(evaluation.correct_PN & np.isnan(evaluation.column("strategies"))).any(axis=1)
    right_PC = count_labels(np.where(evaluation.correct_PN, labels_PN, -1))[is_labelled_P]
    numbers, times = np.unique((right_PC > 0).sum(axis=1), return_counts=True)
    return ShownLog(
        prompts=len(evaluation),
        samples=(evaluation.n, evaluation.most),
        success=mean_over_problems(right_P / n_P, bounds=(0.0, 1.0)),
        success_quantiles=(low, middle, high),
        never_right=int((right_P == 0).sum()),
        always_right=int((right_P == n_P).sum()),
        group_size=group_size,
        alike=float(np.mean(alike_P)) if is_large_P.any() else float("nan"),
        alike_prompts=int(is_large_P.sum()),
        effective_number=of.get("effective_number"),
        top_share=of.get("top_share"),
        degenerate=_share_degenerate(evaluation.column("strategies")),
        right_strategies=dict(zip(numbers.tolist(), times.tolist(), strict=True)),
        are_answers=_strategies_are_answers(evaluation),
    )


def _share_degenerate(labels_PN: Floats) -> float:
    known_M = labels_PN[np.isfinite(labels_PN)]
    return float(np.mean(known_M == DEGENERATE)) if known_M.size else float("nan")


def alike(right_P: np.ndarray, n_P: np.ndarray, num: int) -> Floats:
    """(C(c, N) + C(n − c, N)) / C(n, N): the chance that N of n samples are all right or all wrong.

    >>> alike(np.array([1, 4]), np.array([4, 4]), 2)
    array([0.5, 1. ])
    """
    taken_N = np.arange(num)
    same_2PN = np.stack([right_P, n_P - right_P])[..., None] - taken_N
    return np.prod(np.clip(same_2PN, 0, None) / (n_P[:, None] - taken_N), axis=-1).sum(axis=0)


def _strategies_are_answers(evaluation: Evaluation) -> bool:
    """Whether strategies divide the samples of every prompt as answers do, some of them in two."""
    strategies_PN, answers_PN = evaluation.counted("strategies"), evaluation.counted("answers")
    both_PN = (strategies_PN >= 0) & (answers_PN >= 0)
    prompt = np.nonzero(both_PN)[0]
    table = np.stack([prompt, strategies_PN[both_PN], answers_PN[both_PN]])
    sizes = {np.unique(table[rows], axis=1).shape[1] for rows in ([0, 1], [0, 2], [0, 1, 2])}
    return len(sizes) == 1 and sizes != {len(np.unique(prompt))}


def _refuse_uninformative(right_P: np.ndarray, n_P: np.ndarray) -> None:
    if len(n_P) < FEWEST:
        raise DataError(
            f"too few prompts to say something about others: {len(n_P)}; log at least {FEWEST}, "
            "better 50"
        )
    if n_P.max() == 1:
        raise DataError(
            "every prompt has one sample: set methods compare several samples of a prompt"
        )
    for right, what, then in (
        (0, "wrong", "give it easier problems, more samples, or a better base model"),
        (n_P.sum(), "right", "there is nothing that rewards could still teach"),
    ):
        if right_P.sum() == right:
            raise DataError(
                f"all {count(int(n_P.sum()), 'sample')} are {what}: no method that reads rewards "
                f"can learn from such groups; {then}"
            )


@dataclass(frozen=True)
class TableRow:
    """A row of the decision table, in the words of docs/choosing.md.

    Attributes:
        number: Its number there.
        holds: What holds.
        do: What to do.
        methods: What to train, the first before the others; empty where training must wait.
        needs_judge: Whether labels of a judge come first.
    """

    number: int
    holds: str
    do: str
    methods: tuple[ArmConfig, ...] = ()
    needs_judge: bool = False


def row_of(log: ShownLog, goal: Goal = "strategies") -> TableRow:
    """Return the first row of the table that holds; rows 4, 7 and 10 are not seen in groups."""
    rate = log.success.value
    if rate < HOPELESS:
        return TableRow(1, "the base model is right in fewer than 5% of its samples",
                   "imitate first, or use easier problems")  # fmt: skip
    if goal == "pass@1":
        return TableRow(2, "only pass@1 counts", "GRPO", (GRPO,))
    if goal == "pass@k" and rate < HARD:
        return TableRow(3, "only pass@K counts, and fewer than a third of the samples are right",
                   "MaxPO with K near 1/p̂ − 1", (_pass_k_config(log),))  # fmt: skip
    if log.are_answers or not log.has_strategies:
        return TableRow(5, "the only labels are final answers, or there are none",
                   "GRPO, or find a judge", (GRPO,), needs_judge=True)  # fmt: skip
    if rate < WEAK:
        return TableRow(6, "the base model is right in fewer than half of its samples",
                   "a pilot of GRPO, concave counts with α = 0, and Poly-EPO with K = 2",
                   (CONCAVE, PAIRS))  # fmt: skip
    if goal == "mostly-pass@1":
        return TableRow(8, "pass@1 matters most, but one strategy is too few", "Poly-EPO, K = 2",
                   (PAIRS,))  # fmt: skip
    return TableRow(9, "none of the rows above", "concave counts, α = 0", (CONCAVE,))


def _pass_k_config(log: ShownLog) -> ArmConfig:
    set_size = log.quiet_set_size
    return {"method": "maxpo", "set_size": set_size} if set_size > 1 else {"method": "dr_grpo"}


def in_python(config: ArmConfig) -> str:
    """Write the call that makes the method of a config, after `from setrl import methods`.

    >>> in_python({"method": "concave_counts", "alpha": 0.25})
    'methods.concave_counts(alpha=0.25)'
    """
    arguments = [f"{key}={value!r}" for key, value in config.items() if key != "method"]
    return f"methods.{config['method']}({', '.join(arguments)})"


def recommendation_text(log: ShownLog, row: TableRow, command: str, unread: str = "") -> str:
    """Write which row holds, what to do, the command to run next, and what the groups show.

    Args:
        log: What they show.
        row: The row that holds.
        command: The command to run next.
        unread: Names of the fields of the log that have no role, and of which one may be the
            strategy.
    """
    return "\n".join([*_advice_lines(log, row, command, unread), "", *_shown_lines(log)])


def _advice_lines(log: ShownLog, row: TableRow, command: str, unread: str) -> Iterator[str]:
    yield f"row {row.number} of the table in docs/choosing.md holds: {row.holds}"
    yield f"do     {row.do}"
    if row.needs_judge and not log.has_strategies:
        names = f" ({unread})" if unread else ""
        yield f"       --strategy FIELD if a field of the log says the strategy of a sample{names};"
        yield "       otherwise `setrl judge` writes such a field (docs/judges.md)"
    yield f"next   {command}"
    for start, first in zip(("train", "     "), row.methods, strict=False):
        yield f"{start}  in a TRL script: method={in_python(first)}"
    if row.methods:
        arms = {"grpo": GRPO, **{config["method"]: config for config in row.methods}}
        listed = ", ".join(f"{arm}: {{{_config_text(config)}}}" for arm, config in arms.items())
        yield "       or in the config of setrl train --config YOURS:"
        yield f"         arms: {{{listed}}}"
    if len(row.methods) > 1:
        first, second = (config["method"] for config in row.methods)
        yield (f"then   setrl compare RUN/{first} RUN/{second}, on problems that were held out; if "
               "the interval includes 0, train on")  # fmt: skip


def _config_text(config: ArmConfig) -> str:
    return ", ".join(f"{key}: {value}" for key, value in config.items())


def _shown_lines(log: ShownLog) -> Iterator[str]:
    yield f"{size(log.prompts, 'prompt', *log.samples)}; 95% intervals over prompts"
    low, middle, high = (percent(share) for share in log.success_quantiles)
    success = log.success
    yield (
        f"success p̂: {percent(success.value)} {interval(success.ends, 100)}; over prompts {low} at "
        f"the 10th percentile, {middle} at the median, {high} at the 90th; {log.never_right} "
        f"never right, {log.always_right} always right"
    )
    yield (
        f"groups of {log.group_size} that are all right or all wrong: {percent(log.alike)}"
        f"{_of_large_groups_text(log)}; methods that read only rewards learn nothing from these"
    )
    if log.effective_number is not None and log.top_share is not None:
        number, top = log.effective_number, log.top_share
        yield (
            f"strategies of a prompt: effective number {plain(number.value)} "
            f"{interval(number.ends)}, share of the commonest {percent(top.value)} "
            f"{interval(top.ends, 100)}; samples of none {percent(log.degenerate)}"
        )
        yield _right_strategies_text(log)
    yield (
        "not seen in groups: whether the judge agrees with itself (row 4, setrl judge-audit), "
        "whether the grader calls wrong answers right (row 7), and what you have tried (row 10)"
    )


def _of_large_groups_text(log: ShownLog) -> str:
    """Say which prompts a share of groups is of, where some have too few samples."""
    if log.alike_prompts == log.prompts:
        return ""
    return (f" of the {count(log.alike_prompts, 'prompt')} with at least {log.group_size} "
            "samples")  # fmt: skip


def _right_strategies_text(log: ShownLog) -> str:
    """Say how many prompts have how many right strategies."""
    counts = log.right_strategies
    many = sum(times for number, times in counts.items() if number > FEW_STRATEGIES)
    parts = [f"{number} in {times}" for number, times in counts.items() if number <= FEW_STRATEGIES]
    parts += [f"more than {FEW_STRATEGIES} in {many}"] if many else []
    prompts = sum(counts.values())  # of the others, a right sample has no label
    return f"right strategies that a prompt shows: {', '.join(parts)} of {prompts} prompts"


def as_json(log: ShownLog, row: TableRow, goal: Goal) -> dict[str, Any]:
    """Return plain data."""
    return {"goal": goal, "row": row.number, "holds": row.holds, "do": row.do,
            "methods": row.methods, **asdict(log)}  # fmt: skip
