"""`python -m studies refinement`: a strategy that fails at first and is best once it is learned.

The tutorial says that Poly-EPO keeps a branch that fails "long enough for the model to refine it",
and that GRPO kills it. Here the policy first chooses a strategy. *Crude* strategies are right with
fixed chances. The last strategy is *refined* by practice: it takes D steps in a row, each right
with a chance that is learned, and an answer is right if all D steps are. So its success is the
product of D chances: nearly 0 at first, 1 when learned.

A judge may also group the samples of each update anew, by what they show: then an attempt at the
refined strategy has another label when more of its steps are right.

Axes in addition to the library's: R runs (all starts side by side), C strategies, D steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from setrl import methods
from setrl.core.method import AnyMethod
from setrl.show.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, SKY, axes_grid
from setrl.theory.policies import softmax
from studies.summaries import Numbers, legend_below, title, write_numbers

# Strategies of the samples, which steps they pass, the refined strategy → the samples' labels.
Judge = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], np.ndarray]


def knows(drawn_RN: np.ndarray, *_: Any) -> np.ndarray:
    """Return the strategies themselves."""
    return drawn_RN


def merges(
    drawn_RN: np.ndarray, passed_RND: np.ndarray, refined: int, rng: np.random.Generator
) -> np.ndarray:
    """Take an attempt with j of D steps right for a random crude strategy with chance 1 − j/D."""
    unlike_RN = rng.random(drawn_RN.shape) >= passed_RND.mean(axis=-1)
    crude_RN = rng.integers(refined, size=drawn_RN.shape)
    return np.where((drawn_RN == refined) & unlike_RN, crude_RN, drawn_RN)


def splits(drawn_RN: np.ndarray, passed_RND: np.ndarray, refined: int, *_: Any) -> np.ndarray:
    """Give attempts with another number of right steps another label."""
    return drawn_RN + np.where(drawn_RN == refined, passed_RND.sum(axis=-1), 0)


@dataclass(frozen=True)
class Arm:
    """A method, with what it may need besides rewards.

    Attributes:
        label: The name in figures.
        method: What credits the samples.
        look: Colour and line style.
        entropy: Weight of the entropy of the strategies, ≥ 0.
        judge: What labels the samples.
    """

    label: str
    method: AnyMethod
    look: tuple[str, str]
    entropy: float = 0.0
    judge: Judge = knows


ARMS: dict[str, Arm] = {
    "grpo": Arm("GRPO", methods.grpo(), (BLUE, "solid")),
    "dr_grpo": Arm("Dr. GRPO", methods.dr_grpo(), (SKY, "dashed")),
    "entropy_0.1": Arm("Dr. GRPO + entropy 0.1", methods.dr_grpo(), (BLACK, "dotted"), 0.1),
    "entropy_0.3": Arm("Dr. GRPO + entropy 0.3", methods.dr_grpo(), (BLACK, "dashdot"), 0.3),
    "maxpo": Arm("MaxPO, K = 4", methods.maxpo(set_size=4), (ORANGE, "dashdot")),
    "counts": Arm("concave counts, α = 0", methods.concave_counts(alpha=0.0), (PINK, "dashed")),
    "poly_4": Arm("Poly-EPO, K = 4", methods.poly_epo(set_size=4), (GREEN, "solid")),
    "poly_8": Arm("Poly-EPO, K = 8", methods.poly_epo(set_size=8), (GREEN, "dashed")),
}
# Poly-EPO with the judges that group samples anew. Concave counts would not notice them: they read
# the labels of right samples only, which both judges leave.
JUDGED = {
    f"{name}, {judge.__name__}": replace(ARMS[name], judge=judge)
    for judge in (merges, splits)
    for name in ("poly_4", "poly_8")
}

STEP = 50  # every fiftieth update is kept for the figure


@dataclass(frozen=True)
class RefinementConfig:
    """Sizes of the study; the defaults take about three minutes on one core.

    Attributes:
        crude: P(right) of the crude strategies.
        steps_in_a_row: D.
        starts: P(right) of the refined strategy before training, one group of runs each.
        learning_rates: Tried for each arm; the best mean P(right) at the end counts.
        num_samples: N of a prompt; a run has one prompt.
        updates: How many.
        runs: Of each start.
        seed: Of everything.
    """

    crude: tuple[float, ...] = (0.6, 0.2, 0.2, 0.2, 0.2)
    steps_in_a_row: int = 3
    starts: tuple[float, ...] = (0.1, 0.03, 0.01, 0.003, 0.001)
    learning_rates: tuple[float, ...] = (1.0, 3.0)
    num_samples: int = 16
    updates: int = 10_000
    runs: int = 32
    seed: int = 0

    @property
    def middle(self) -> int:
        """The place of the start that is drawn over time."""
        return len(self.starts) // 3


@dataclass(frozen=True, eq=False)
class Policies:
    """R policies: strategies are equally likely at first.

    Attributes:
        strategy_RC: Logits of the strategies.
        skill_RD: Logits of P(right) of each step of the refined strategy.
    """

    strategy_RC: np.ndarray
    skill_RD: np.ndarray

    @classmethod
    def untrained(cls, starts_R: np.ndarray, strategies: int, steps: int) -> Policies:
        """Return policies whose refined strategy is right with the chances `starts_R`."""
        each_R = starts_R ** (1 / steps)
        logits_R = np.log(each_R / (1 - each_R))
        return cls(np.zeros((len(starts_R), strategies)), np.repeat(logits_R[:, None], steps, 1))

    @property
    def chances_RC(self) -> np.ndarray:
        """P(strategy)."""
        return softmax(self.strategy_RC)

    @property
    def skills_RD(self) -> np.ndarray:
        """P(a step of the refined strategy is right)."""
        return 1 / (1 + np.exp(-self.skill_RD))

    def right_RC(self, crude: tuple[float, ...]) -> np.ndarray:
        """P(right | strategy)."""
        refined_R1 = self.skills_RD.prod(axis=1, keepdims=True)
        return np.hstack([np.tile(crude, (len(refined_R1), 1)), refined_R1])

    def moved(self, by: Policies, rate: float) -> Policies:
        """Return the policies after a step of gradient ascent."""
        return Policies(
            self.strategy_RC + rate * by.strategy_RC, self.skill_RD + rate * by.skill_RD
        )


def update(
    policies: Policies,
    arm: Arm,
    crude: tuple[float, ...],
    num_samples: int,
    rng: np.random.Generator,
) -> Policies:
    """Return (1/N) Σᵢ Aᵢ ∇log π(yᵢ) + entropy·∇H of N new samples of each run.

    A sample of the refined strategy stops at its first wrong step; later steps get no gradient.
    """
    chances_RC, skills_RD = policies.chances_RC, policies.skills_RD
    runs, strategies = chances_RC.shape
    rows_R1 = np.arange(runs)[:, None]
    drawn_RN = (rng.random((runs, num_samples, 1)) > chances_RC.cumsum(axis=1)[:, None, :-1]).sum(
        axis=-1
    )
    good_RND = rng.random((runs, num_samples, skills_RD.shape[1])) < skills_RD[:, None, :]
    passed_RND = np.cumprod(good_RND, axis=-1).astype(bool)
    refined_RN = drawn_RN == strategies - 1
    lucky_RN = rng.random((runs, num_samples)) < np.append(crude, 0.0)[drawn_RN]
    rewards_RN = np.where(refined_RN, passed_RND[..., -1], lucky_RN).astype(float)

    labels_RN = arm.judge(drawn_RN, passed_RND, strategies - 1, rng)
    values_RN = arm.method.advantages(rewards_RN, rng=rng, strategies=labels_RN).values_BN
    paid_RC = np.zeros_like(chances_RC)
    np.add.at(paid_RC, (rows_R1, drawn_RN), values_RN)
    surprise_RC = -np.log(np.maximum(chances_RC, 1e-300))
    entropy_R1 = (chances_RC * surprise_RC).sum(axis=1, keepdims=True)
    strategy_RC = (paid_RC - chances_RC * values_RN.sum(axis=1, keepdims=True)) / num_samples
    strategy_RC += arm.entropy * chances_RC * (surprise_RC - entropy_R1)

    tried_RND = np.concatenate([np.ones_like(passed_RND[..., :1]), passed_RND[..., :-1]], axis=-1)
    score_RND = (tried_RND & refined_RN[..., None]) * (good_RND - skills_RD[:, None, :])
    return Policies(strategy_RC, np.einsum("rn,rnd->rd", values_RN, score_RND) / num_samples)


@dataclass(frozen=True, eq=False)
class History:
    """What was true before each of T updates, and after the last.

    Attributes:
        success_RT: P(right).
        refined_RT: P(the refined strategy is chosen).
        skill_RT: P(right | the refined strategy).
        kinds_RT: Strategies with more than 1% of the samples.
    """

    success_RT: np.ndarray
    refined_RT: np.ndarray
    skill_RT: np.ndarray
    kinds_RT: np.ndarray

    @property
    def learned_R(self) -> np.ndarray:
        """Whether the refined strategy is right more often than not at the end, and in use."""
        return (self.skill_RT[:, -1] > 0.5) & (self.refined_RT[:, -1] > 0.01)


def train(config: RefinementConfig, arm: Arm, rate: float) -> History:
    """Train `runs` policies from each start, side by side."""
    rng = np.random.default_rng(config.seed)
    starts_R = np.repeat(config.starts, config.runs)
    policies = Policies.untrained(starts_R, len(config.crude) + 1, config.steps_in_a_row)
    seen = [_seen(policies, config.crude)]
    for _ in range(config.updates):
        step = update(policies, arm, config.crude, config.num_samples, rng)
        policies = policies.moved(step, rate)
        seen.append(_seen(policies, config.crude))
    return History(*np.stack(seen, axis=-1))


def _seen(policies: Policies, crude: tuple[float, ...]) -> np.ndarray:
    chances_RC, right_RC = policies.chances_RC, policies.right_RC(crude)
    success_R = (chances_RC * right_RC).sum(axis=1)
    kinds_R = (chances_RC > 0.01).sum(axis=1)
    return np.stack([success_R, chances_RC[:, -1], right_RC[:, -1], kinds_R])


def best(config: RefinementConfig, arm: Arm) -> tuple[float, History]:
    """Return the learning rate with the highest mean P(right) at the end, and its runs."""
    tried = {rate: train(config, arm, rate) for rate in config.learning_rates}
    rate = max(tried, key=lambda one: tried[one].success_RT[:, -1].mean())
    return rate, tried[rate]


def by_start(config: RefinementConfig, history: History) -> dict[str, Any]:
    """Return start → what its runs have at the end."""
    ends = {
        "learned": history.learned_R,
        "success": history.success_RT[:, -1],
        "refined": history.refined_RT[:, -1],
        "kinds": history.kinds_RT[:, -1],
    }
    found = {name: value.reshape(len(config.starts), config.runs) for name, value in ends.items()}
    return {
        str(start): {name: float(f"{value[at].mean():.4g}") for name, value in found.items()}
        for at, start in enumerate(config.starts)
    }


def run(config: RefinementConfig, out_dir: Path | str) -> Path:
    """Run the study; write refinement.json and return its path."""
    found = {name: best(config, arm) for name, arm in (ARMS | JUDGED).items()}
    numbers = {
        name: {
            "learning_rate": rate,
            "starts": by_start(config, history),
            "refined": _middle(config, history),
        }
        for name, (rate, history) in found.items()
    }
    return write_numbers(Path(out_dir) / "refinement.json", config, arms=numbers)


def _middle(config: RefinementConfig, history: History) -> list[float]:
    """Return P(the refined strategy) of a start in the middle, mean over runs, by drawn step."""
    runs = np.reshape(history.refined_RT, (len(config.starts), config.runs, -1))
    return [float(f"{mean:.4g}") for mean in runs[config.middle, :, ::STEP].mean(axis=0)]


def draw(found: Numbers) -> Figure:
    """Draw the share of runs that learn the strategy over its start, and one start over time."""
    config = RefinementConfig(**found["config"])
    figure, (ends, time) = axes_grid(1, 2, 11.0, 4.2)
    for name, known in ARMS.items():
        arm, (colour, line) = found["arms"][name], known.look
        learned = [start["learned"] for start in arm["starts"].values()]
        ends.plot(config.starts, learned, color=colour, linestyle=line, marker="o", markersize=4)
        updates = STEP * np.arange(len(arm["refined"]))
        time.plot(updates, arm["refined"], color=colour, linestyle=line, label=known.label)
    ends.set_xscale("log")
    title(ends, "runs that learn the strategy", "its P(right) before training")
    title(time, f"P(the strategy), right {config.starts[config.middle]:.1%} at first", "updates")
    for ax in (ends, time):
        ax.set_ylim(-0.03, 1.03)
    time.axhline(1 / (len(config.crude) + 1), color=GREY, linewidth=0.8)
    legend_below(figure, [time])
    return figure
