"""Learning dynamics on a table of actions: exact flows, expected updates, and seeded runs.

The parameters are the logits of a softmax policy. Three functions move them; only `simulate` has
sampling noise:

    gradient_flow    dz/dt = v(π), solved to a tolerance
    expected_steps   z ← z + α·v(π), the mean update of a method that sees N samples
    simulate         z ← z + α·(1/N) Σᵢ Aᵢ ∇ log π(yᵢ) with N samples, for R runs at once

Each batch of samples is used for one step, so PPO's ratio is 1 and nothing is clipped. Strategies
share no parameters here. In a language model they share parameters, so a step for one strategy also
moves the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from setrl.core.advantages import AnyMethod
from setrl.theory.policies import check_policy, check_velocity, log_policy, shift_logits, softmax
from setrl.theory.tabular import ActionTable

Velocity = Callable[[np.ndarray], np.ndarray]  # a policy (A,) → a direction in its logits (A,)


@dataclass(frozen=True, eq=False)
class Path:
    """The policies at successive times.

    Attributes:
        times_T: Learning rate × steps: the time of the flow that the steps follow.
        policies_TA: Probabilities (T, A); (T, R, A) for R runs.
    """

    times_T: np.ndarray
    policies_TA: np.ndarray


def gradient_flow(
    velocity: Velocity, policy_A: ArrayLike, times_T: ArrayLike, tolerance: float = 1e-9
) -> Path:
    """dz/dt = v(π) from `policy_A`, by Dormand and Prince's pair of orders 5 and 4.

    The pair is explicit, so its cost grows with time even after the flow has settled.

    Args:
        velocity: `TabularObjective.gradient`, `TabularMethod.update`, or any other direction.
        policy_A: Probabilities at time 0.
        times_T: Times ≥ 0, ascending, at which the policy is returned.
        tolerance: Largest error in a logit that a step may add.
    """
    policy, times = check_policy(policy_A), np.asarray(times_T, dtype=np.float64)
    ascending = times.ndim == 1 and times.size > 0 and (np.diff(times, prepend=0.0) >= 0).all()
    if not (ascending and np.isfinite(times).all()):
        raise ValueError(f"times_T must be ascending and ≥ 0, got {times.tolist()}")
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, got {tolerance}")

    def slope(shift_A: np.ndarray) -> np.ndarray:
        return check_velocity(velocity(shift_logits(policy, shift_A)), policy.shape[-1])

    shift_A, time, step = np.zeros_like(policy), 0.0, 1e-3
    policies = []
    for until in times:
        while time < until:
            step = min(step, until - time)
            moved_A, error = _dormand_prince_step(slope, shift_A, step)
            if error <= tolerance:
                shift_A, time = moved_A, time + step if step < until - time else until
            step *= float(np.clip(0.9 * (tolerance / max(error, 1e-300)) ** 0.2, 0.2, 5.0))
        policies.append(shift_logits(policy, shift_A))
    return Path(times, np.array(policies))


def expected_steps(
    velocity: Velocity, policy_A: ArrayLike, learning_rate: float, steps: int
) -> Path:
    """Take gradient steps z ← z + α·v(π): what a method does on average, step by step.

    Args:
        velocity: `TabularMethod.update`, or any other direction.
        policy_A: Probabilities before the first step.
        learning_rate: α.
        steps: Number of steps; the path has one more policy.
    """
    _check_steps(learning_rate, steps)
    policies = [check_policy(policy_A)]
    for _ in range(steps):
        policies.append(shift_logits(policies[-1], learning_rate * velocity(policies[-1])))
    return Path(learning_rate * np.arange(steps + 1), np.array(policies))


@dataclass(frozen=True, eq=False)
class Success:
    """Strategies that succeed with a probability: a sample of strategy a is correct with rate_a.

    The outcomes are the actions of `table`: a correct sample of strategy a is outcome a, and a
    wrong sample is outcome a + A.

    Attributes:
        rates_A: For each strategy, the probability that a sample is correct, in [0, 1].
    """

    rates_A: ArrayLike

    def __post_init__(self) -> None:
        rates = self._rates
        if rates.ndim != 1 or not rates.size or not ((rates >= 0) & (rates <= 1)).all():
            raise ValueError(f"rates_A must be (A,) numbers in [0, 1], got {rates.tolist()}")

    @property
    def table(self) -> ActionTable:
        """The 2A outcomes: reward 1 or 0, and the strategy as the strategy."""
        num = len(self._rates)
        return ActionTable(np.repeat([1.0, 0.0], num), strategies=np.tile(np.arange(num), 2))

    def outcomes(self, policy_A: ArrayLike) -> np.ndarray:
        """Return the outcomes' probabilities, (…, 2A), for a policy over strategies (…, A)."""
        policy, rates = check_policy(policy_A, len(self._rates)), self._rates
        return np.concatenate([policy * rates, policy * (1 - rates)], axis=-1)

    def velocity(self, advantages: Velocity, scale: float = 1.0) -> Velocity:
        """Return the direction in the strategies' logits that the advantages of outcomes give.

        Args:
            advantages: `TabularMethod.advantages` or `TabularObjective.advantages`, on `table`.
            scale: 1 for a method; K for ∇J of an objective.
        """
        rates = self._rates

        def direction(policy_A: np.ndarray) -> np.ndarray:
            right_A, wrong_A = np.split(advantages(self.outcomes(policy_A)), 2, axis=-1)
            mean_A = rates * right_A + (1 - rates) * wrong_A
            return scale * policy_A * (mean_A - (policy_A * mean_A).sum(axis=-1, keepdims=True))

        return direction

    @property
    def _rates(self) -> np.ndarray:
        return np.asarray(self.rates_A, dtype=np.float64)


def simulate(
    method: AnyMethod,
    table: ActionTable,
    policy_A: ArrayLike,
    num_samples: int,
    steps: int,
    learning_rate: float,
    rng: np.random.Generator,
    runs: int,
    success: Success | None = None,
) -> Path:
    """Train with sampling noise: R runs; each draws N samples per step.

    Args:
        method: Any method, also one that samples its sets.
        table: The actions; with `success`, the table of outcomes.
        policy_A: Probabilities before the first step, of actions, or of strategies with `success`.
        num_samples: N.
        steps: Number of updates.
        learning_rate: α.
        rng: Draws the samples.
        runs: R; all start from the same policy.
        success: The success rates of strategies; None if `table` has the rewards.

    Returns:
        A path with policies (T, R, A), T = steps + 1.
    """
    _check_steps(learning_rate, steps)
    if runs < 1 or num_samples < 1:
        raise ValueError(f"runs and num_samples must be ≥ 1, got {runs} and {num_samples}")
    num_outcomes = table.num_actions if success is None else success.table.num_actions
    if table.num_actions != num_outcomes:
        raise ValueError(
            f"with success, pass success.table: it has {num_outcomes} outcomes, table has "
            f"{table.num_actions}"
        )
    num_actions = num_outcomes if success is None else num_outcomes // 2
    policy = check_policy(policy_A, shape=(num_actions,))
    support = policy > 0
    logits_RA = np.tile(np.where(support, log_policy(policy), -np.inf), (runs, 1))
    policies = [softmax(logits_RA)]
    for _ in range(steps):
        update_RA = _noisy_update(method, table, policies[-1], num_samples, rng, success)
        logits_RA = logits_RA + learning_rate * update_RA
        policies.append(softmax(logits_RA))
    return Path(learning_rate * np.arange(steps + 1), np.array(policies))


def _noisy_update(
    method: AnyMethod,
    table: ActionTable,
    policy_RA: np.ndarray,
    num_samples: int,
    rng: np.random.Generator,
    success: Success | None,
) -> np.ndarray:
    """(1/N) Σᵢ Aᵢ (1{yᵢ = a} − π_a) of each run, from new samples."""
    outcomes_RO = policy_RA if success is None else success.outcomes(policy_RA)
    counts_RO = rng.multinomial(num_samples, outcomes_RO)
    drawn_RN = (np.arange(num_samples)[:, None] >= counts_RO.cumsum(axis=1)[:, None, :]).sum(axis=2)
    values_RN = table.credit(method, drawn_RN, rng).values_BN
    num_actions = policy_RA.shape[1]
    paid_RA = np.zeros_like(policy_RA)
    np.add.at(paid_RA, (np.arange(len(drawn_RN))[:, None], drawn_RN % num_actions), values_RN)
    return (paid_RA - policy_RA * values_RN.sum(axis=1, keepdims=True)) / num_samples


def _check_steps(learning_rate: float, steps: int) -> None:
    if not learning_rate > 0:
        raise ValueError(f"learning_rate must be positive, got {learning_rate}")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")


# Dormand and Prince (1980): the slopes that each stage mixes, the result, and its error.
_STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)


def _dormand_prince_step(
    slope: Velocity, start_A: np.ndarray, step: float
) -> tuple[np.ndarray, float]:
    """Return the state after one step of order 5, and its largest difference from order 4."""
    slopes = [slope(start_A)]
    for weights in _STAGES:
        moved_A = start_A + step * np.tensordot(weights, slopes, axes=1)
        slopes.append(slope(moved_A))
    return moved_A, step * float(np.abs(np.tensordot(_ERROR, slopes, axes=1)).max())
