"""A linter for set objectives: what a score function should keep to, and what it will cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import comb
from time import perf_counter

import numpy as np

from setrl.core.credit import Enumerated, Exact
from setrl.core.credit.estimators import all_sets, score_sets
from setrl.core.inputs import check_set_size
from setrl.core.objectives import Objective, SetMeans, from_function
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE

TOLERANCE = 1e-9
CHECKED_SETS = 2_000  # of a prompt, at most


@dataclass(frozen=True)
class ObjectiveReport:
    """What `check_objective` found; prints as a report.

    Attributes:
        objective: What was checked.
        set_size: K.
        num_samples: N, for which the cost is measured.
        num_prompts: B, for which the cost is measured.
        problems: What is wrong with it, a sentence each; empty if nothing was found.
        notes: What is worth knowing, a sentence each.
        lowest: The lowest score that was seen.
        highest: The highest score that was seen.
        additive_share: The share of the scores' variance over a prompt's sets that single members
            explain, from 0 to 1: the marginal set advantage can express no more. NaN if all scores
            are equal. At 1, set RL with it is standard RL.
        estimator: How `credit.Exact()` will compute its means: in closed form, from all sets
            ("enumerated"), or from sampled sets.
        sets_per_prompt: How many sets of a prompt the estimator scores; 0 with a closed form.
        seconds_per_prompt: The time for a prompt in a batch of B prompts.
    """

    objective: Objective
    set_size: int
    num_samples: int
    num_prompts: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    lowest: float = np.nan
    highest: float = np.nan
    additive_share: float = np.nan
    estimator: str = "not known"
    sets_per_prompt: int = 0
    seconds_per_prompt: float = np.nan

    def __str__(self) -> str:
        lines = [f"{self.objective!r}, sets of {self.set_size} out of {self.num_samples} samples"]
        if np.isfinite(self.lowest):
            lines.append(f"  reads      {', '.join(self.objective.reads)}")
            lines.append(f"  scores     from {self.lowest:.4g} to {self.highest:.4g}")
            explained = f"{self.additive_share:.0%} of the variance over sets"
            lines.append(f"  additive   single members explain {explained}")
        if np.isfinite(self.seconds_per_prompt):
            cost = f"{self.seconds_per_prompt * 1e6:,.0f} µs a prompt of {self.num_prompts}"
            lines.append(f"  estimator  {self.estimator}, {cost}")
        lines += [f"  note       {note}" for note in self.notes]
        lines += [f"  PROBLEM    {problem}" for problem in self.problems]
        return "\n".join(lines if self.problems else [*lines, "  no problems found"])


def check_objective(
    objective: Objective | Callable[..., np.ndarray],
    *,
    reads: tuple[str, ...] = (),
    set_size: int | None = None,
    num_samples: int = 16,
    num_prompts: int = 128,
    samples: Samples | None = None,
    seed: int = 0,
) -> ObjectiveReport:
    """Try an objective on prompts of all kinds and report what is wrong with it.

    It looks for errors; for scores that are not finite, or that change from call to call, with the
    order of the members, with the other sets in the call or with the numbering of the strategies;
    for arguments that are written into; for a closed form that is not the mean of the definition;
    and for scores that are all the same or only add up over members. A bad one raises nothing:
    `problems` names what is wrong. `notes` says, among others, when a higher reward of one member
    can lower the score, so that a worse sample can get more credit than a better one.

    Args:
        objective: An objective, or a function as in `objectives.from_function`. One that is written
            for a single set: `objectives.from_function(f, one_set_at_a_time=True)`.
        reads: The fields that a function takes; by default the names of its parameters.
        set_size: K; the objective's own, or else 4.
        num_samples: N of the training run.
        num_prompts: B of the training run, for the cost: prompts of a step.
        samples: Dense samples to try it on instead of drawn ones.
        seed: Seed of the drawn samples.

    Raises:
        ValueError: If K is not in [1, N − 1].

    >>> report = check_objective(lambda rewards: rewards[..., 0], num_samples=8)
    >>> report.problems
    ("the order of its members changes a set's score, by up to 1",)
    """
    checked = objective if isinstance(objective, Objective) else from_function(objective, reads)
    if set_size is None and checked.set_size is None:
        set_size = 4
    set_size = checked.resolve_set_size(set_size)
    check_set_size(set_size, num_samples, needs_contrast=True)
    rng = np.random.default_rng(seed)
    if samples is not None and "correct" in checked.reads:
        samples = replace(samples, correct=samples.right)
    few_samples = samples or draw_samples(32, _count_checkable_samples(set_size, num_samples), rng)
    empty = ObjectiveReport(checked, set_size, num_samples, num_prompts, problems=())
    try:
        report = _report_without_cost(empty, few_samples, rng)
        if report.problems:
            return report
        with_pairs = "pairs" in checked.reads
        many_samples = samples or draw_samples(num_prompts, num_samples, rng, with_pairs=with_pairs)
        return _report_with_cost(report, many_samples, rng)
    except Exception as error:  # an error of the objective is what is wrong with it
        return replace(empty, problems=(f"it raises {type(error).__name__}: {error}",))


def draw_samples(
    num_prompts: int, num_samples: int, rng: np.random.Generator, *, with_pairs: bool = True
) -> Samples:
    """Prompts of every difficulty: the first half with rewards of 0 and 1, the others graded.

    A sample in eight is degenerate. Samples with the same answer have the same reward, and a reward
    above ½ is right. The pairs are a kernel from 0 to 1: squared inner products of unit vectors,
    near 1 within a strategy. A family has two strategies.
    """
    shape = (num_prompts, num_samples)
    strategies_BN = rng.integers(0, 1 + rng.integers(1, 6, (num_prompts, 1)), shape)
    answers_BN = rng.integers(0, 1 + rng.integers(1, 6, (num_prompts, 1)), shape)
    graded_BA = rng.random((num_prompts, 6))
    reward_BA = (graded_BA < rng.random((num_prompts, 1))) * 1.0
    reward_BA[num_prompts // 2 :] = graded_BA[num_prompts // 2 :]
    rewards_BN = np.take_along_axis(reward_BA, answers_BN, axis=1)
    feature_BNF = np.eye(6)[strategies_BN] + 0.3 * rng.normal(size=(*shape, 6))
    feature_BNF /= np.linalg.norm(feature_BNF, axis=-1, keepdims=True)
    strategies_BN = np.where(rng.random(shape) < 1 / 8, DEGENERATE, strategies_BN)
    return Samples(
        rewards=rewards_BN,
        strategies=strategies_BN,
        answers=answers_BN,
        proxy=rewards_BN + 0.5 * rng.normal(size=shape),
        pairs=(feature_BNF @ np.swapaxes(feature_BNF, -1, -2)) ** 2 if with_pairs else None,
        families=strategies_BN // 2,  # of a degenerate sample −1 // 2 = −1
        second=np.roll(rewards_BN, 1, axis=-1),
        correct=rewards_BN > 0.5,
    )


def _count_checkable_samples(set_size: int, num_samples: int) -> int:
    """Return the most samples that make no more sets than are checked."""
    sizes = range(set_size + 1, num_samples + 1)
    return max((n for n in sizes if comb(n, set_size) <= CHECKED_SETS), default=set_size + 1)


def _report_without_cost(
    report: ObjectiveReport, samples: Samples, rng: np.random.Generator
) -> ObjectiveReport:
    """Return the report with everything but the cost."""
    objective, set_size = report.objective, report.set_size
    sets_SK = all_sets(samples.num_samples, set_size)[:CHECKED_SETS]
    scores_BS = score_sets(objective, samples, sets_SK)
    enumerated = Enumerated()(objective, samples, set_size, None).means
    share = _measure_additive_share(enumerated, samples.num_samples, set_size)
    return replace(
        report,
        problems=tuple(_find_problems(objective, samples, sets_SK, scores_BS, enumerated, rng)),
        notes=tuple(_find_notes(objective, samples, sets_SK, scores_BS, share, rng)),
        lowest=float(scores_BS.min()),
        highest=float(scores_BS.max()),
        additive_share=share,
    )


def _find_problems(
    objective: Objective,
    samples: Samples,
    sets_SK: np.ndarray,
    scores_BS: np.ndarray,
    enumerated: SetMeans,
    rng: np.random.Generator,
) -> Iterator[str]:
    """Yield what is wrong, a sentence each."""

    def change(members: Samples) -> float:
        return gap_of(objective(members), scores_BS)

    def gap_of(actual: np.ndarray, expected: np.ndarray) -> float:
        gap = np.abs(actual - expected).max()
        return 0.0 if gap <= TOLERANCE * max(1.0, np.abs(scores_BS).max()) else gap

    members = samples.sets(sets_SK)
    written_fields = _find_written_fields(objective, members)
    if written_fields:
        yield f"it writes into {', '.join(written_fields)}: copy what you change"
    if gap := change(samples.sets(sets_SK)):
        yield f"the same sets score differently from call to call, by up to {gap:.3g}"
        return
    if gap := max(change(samples.sets(rng.permuted(sets_SK, axis=1))) for _ in range(3)):
        yield f"the order of its members changes a set's score, by up to {gap:.3g}"
    alone_B = [objective(prompt.sets(sets_SK[:1])).item() for prompt in _split_prompts(samples)]
    if gap := gap_of(np.array(alone_B), scores_BS[:, 0]):
        yield f"the sets scored together with a set change its score, by {gap:.3g}: check the axes"
    if "strategies" in objective.reads:
        renumbered = replace(samples, strategies=_renumber_strategies(samples.strategies, rng))
        if gap := change(renumbered.sets(sets_SK)):
            yield f"the numbering of the strategies changes the score, by up to {gap:.3g}"
    if np.ptp(scores_BS, axis=-1).max() <= TOLERANCE:
        yield "all sets of a prompt have the same score: there is nothing to learn"
    closed = objective.set_means(samples, sets_SK.shape[1])
    if closed is not None:
        for name, symbol in (("with_BN", "u"), ("contrast_BN", "u − v"), ("mean_B", "U")):
            if gap := gap_of(getattr(closed, name), getattr(enumerated, name)):
                yield f"its closed form of {symbol} is off by {gap:.3g} from the mean over sets"


def _find_notes(
    objective: Objective,
    samples: Samples,
    sets_SK: np.ndarray,
    scores_BS: np.ndarray,
    additive_share: float,
    rng: np.random.Generator,
) -> Iterator[str]:
    """Yield what is worth knowing, a sentence each."""
    if additive_share > 1 - TOLERANCE:
        yield "it only adds up over members: set RL with it is standard RL"
    if fall := _find_fall_with_reward(objective, samples, rng.permuted(sets_SK, axis=1), scores_BS):
        high, low = fall
        yield (
            f"a higher reward of one member can lower the score, from {high:.3g} to {low:.3g}: a "
            "worse sample can get more credit than a better one"
        )
    for name in objective.reads:
        if name == "pairs":
            shuffled = getattr(samples, name) * 0.0
        else:
            shuffled = rng.permuted(getattr(samples, name), axis=1)
        shuffled_samples = replace(samples, **{name: shuffled})
        if np.array_equal(objective(shuffled_samples.sets(sets_SK)), scores_BS):
            yield f"{name} make no difference, though it reads them"


def _find_fall_with_reward(
    objective: Objective, samples: Samples, sets_SK: np.ndarray, scores_BS: np.ndarray
) -> tuple[float, float] | None:
    """Return the largest fall of a score, if the first member gets the prompt's highest reward.

    The other fields of this member stay the same. None if no score falls.
    """
    if not {"rewards", "correct"} & set(objective.reads):
        return None
    members = samples.sets(sets_SK)
    members.rewards[..., 0] = samples.rewards.max(axis=-1, keepdims=True)
    if members.correct is not None:
        members.correct[..., 0] = samples.correct.max(axis=-1, keepdims=True)
    changed_BS = objective(members)
    at = np.unravel_index((scores_BS - changed_BS).argmax(), scores_BS.shape)
    high, low = float(scores_BS[at]), float(changed_BS[at])
    return (high, low) if high - low > TOLERANCE * max(1.0, np.abs(scores_BS).max()) else None


def _split_prompts(samples: Samples) -> Iterator[Samples]:
    """Each prompt by itself."""
    every_N = np.arange(samples.num_samples)[None]
    for b in range(len(samples.rewards)):
        yield samples.choose(np.array([b]), every_N)


def _find_written_fields(objective: Objective, members: Samples) -> list[str]:
    """Return the fields that a call changes."""
    before = {name: np.copy(value) for name, value in members.columns.items()}
    objective(members)
    after = members.columns
    return [
        name for name, was in before.items() if not np.array_equal(was, after[name], equal_nan=True)
    ]


def _renumber_strategies(strategies_BN: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the same strategies under other numbers; degenerate stays degenerate."""
    number_C = rng.permutation(100 + int(strategies_BN.max()))
    return np.where(strategies_BN == DEGENERATE, DEGENERATE, number_C[strategies_BN])


def _measure_additive_share(means: SetMeans, num_samples: int, set_size: int) -> float:
    """R² of the scores on membership, over all sets of all prompts.

    Least squares over all sets gives sample i the coefficient (N−1)/N·(u − v), which explains
    K/N·(1 − K/N)·(N−1)/N·Σᵢ (u − v)² of a prompt's variance.
    """
    assert means.variance_B is not None
    share = set_size / num_samples
    explained_B = (means.contrast_BN**2).sum(axis=-1) * share * (1 - share)
    explained_B *= (num_samples - 1) / num_samples
    total = means.variance_B.sum()
    return float(explained_B.sum() / total) if total > TOLERANCE**2 else np.nan


def _report_with_cost(
    report: ObjectiveReport, samples: Samples, rng: np.random.Generator
) -> ObjectiveReport:
    """Return the report with the estimator that `Exact` takes, and its cost."""
    seconds = np.inf
    for _ in range(2):  # the first call also makes the tables that later calls share
        start = perf_counter()
        credit = Exact()(report.objective, samples, report.set_size, rng)
        seconds = min(seconds, perf_counter() - start)
    return replace(
        report,
        num_prompts=len(samples.rewards),
        estimator=credit.used,
        sets_per_prompt=0 if credit.used == "closed form" else int(credit.num_sets),
        seconds_per_prompt=seconds / len(samples.rewards),
    )
