"""When a run stops because it learns nothing: its credit is missing, or is 0 for every sample."""

from __future__ import annotations

import warnings
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from setrl import DEGENERATE
from setrl.support.errors import RunError
from setrl.support.wording import count
from setrl.train.scoring.batch import CUT, Missing, ScoredBatch

FEWEST_STEPS = 8  # without a signal: fewer are usual where problems are hard
TYPES_OF_RULE: tuple[tuple[str, Any, str], ...] = (
    ("max_unknown", Real | None, "a number, or None for no limit"),
    ("window", Integral, "a whole number"),
    ("max_without_signal", Integral | None, "a whole number, or None for no limit"),
)
GOES_ON = (
    "What is done so far is kept, and the same run goes on from its last checkpoint. stop_rule "
    "sets how much may be missing; null (None in Python) never stops a run"
)


@dataclass(frozen=True)
class StopRule:
    """When a run stops because it learns nothing.

    A prompt whose credit is missing (its judge failed, its strategy function or a reward function
    knows nothing) teaches nothing, and neither does a prompt whose samples all have the advantage
    0. At the last step the same limits hold for a run that saw fewer prompts. Two kinds of prompts
    do not count: those that lack only samples that were cut at the length limit, and, as a missing
    signal, those whose samples are all right.

    Attributes:
        max_unknown: The run stops when more than this share of the last prompts has no credit;
            None: no such limit.
        window: How many prompts these are.
        max_without_signal: The run stops when its first so many prompts, in at least 8 steps, gave
            only advantages of 0; None: no such limit. A run that once had a signal is not stopped,
            also after it resumes. 256 by default: where one prompt in 50 teaches something, one
            run in 170 sees none.
    """

    max_unknown: float | None = 0.5
    window: int = 32
    max_without_signal: int | None = 256

    def __post_init__(self) -> None:
        share, prompts = self.max_unknown, self.max_without_signal
        for name, kind, what in TYPES_OF_RULE:
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise ValueError(f"{name} must be {what}, got {value!r}")
        if share is not None and not 0 <= share < 1:
            raise ValueError(f"max_unknown must be in [0, 1), or None for no limit, got {share}")
        if self.window < 1:
            raise ValueError(f"window must be at least 1, got {self.window}")
        if prompts is not None and prompts < 1:
            raise ValueError(
                f"max_without_signal must be at least 1, or None for no limit, got {prompts}"
            )


DEFAULT = StopRule()


@dataclass
class CreditWatch:
    """Watcher of the batches of a run, which stops it by a rule.

    Attributes:
        rule: The rule; None never stops.
        had_signal: Says whether the run had a signal before it resumed; asked only before a stop.
    """

    rule: StopRule | None = DEFAULT
    had_signal: Callable[[], bool] = lambda: False
    _last: deque[Missing | None] = field(init=False)
    _steps: int = field(default=0, init=False)
    _flat_steps: int = field(default=0, init=False)
    _flat_prompts: int = field(default=0, init=False)
    _flat_cut: int = field(default=0, init=False)  # of them, for truncated samples
    _has_learned: bool = field(default=False, init=False)
    _has_warned: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._last = deque(maxlen=1 if self.rule is None else self.rule.window)

    def see(self, batch: ScoredBatch, is_last: bool = False) -> None:
        """Look at the next batch.

        Args:
            batch: The batch, before it is trained on.
            is_last: Whether the run ends with it.

        Raises:
            RunError: If the run must stop, with the reasons, and how it can go on.
        """
        self._warn_of_right_without_strategy(batch)
        if self.rule is None:
            return
        self._steps += 1
        self._last += [lack for lack in batch.missing_B if lack is None or lack.reason != CUT]
        self._stop_if_unknown(self.rule, is_last)
        self._count_without_signal(batch)
        self._stop_without_signal(self.rule, is_last)

    def _warn_of_right_without_strategy(self, batch: ScoredBatch) -> None:
        """Warn once of right samples without a strategy, which the objective pays nothing."""
        if batch.samples.strategies is None or self._has_warned:
            return
        right_BN = batch.samples.correct == 1
        without = int((right_BN & (batch.samples.strategies == DEGENERATE)).sum())
        if without:
            self._has_warned = True
            warnings.warn(
                f"{without} of {count(int(right_BN.sum()), 'right sample')} of this step have the "
                f"strategy {DEGENERATE}, none: what pays for strategies pays them nothing, and the "
                "others push them down. Let what names strategies read them, or return None "
                "(unknown), which leaves them out; strategies/correct_degenerate counts them",
                stacklevel=3,
            )

    def _stop_if_unknown(self, rule: StopRule, is_last: bool) -> None:
        missing = [lack for lack in self._last if lack is not None]
        num_seen = len(self._last) if is_last else rule.window
        if rule.max_unknown is not None and len(missing) > rule.max_unknown * num_seen:
            raise RunError(
                f"the credit is missing for {len(missing)} of the last {len(self._last)} prompts "
                f"({_count_reasons(missing)}), and such prompts teach nothing"
                f"{_quote_first_answer(missing)}. {GOES_ON}."
            )

    def _count_without_signal(self, batch: ScoredBatch) -> None:
        values_BN, correct_BN = batch.advantages.values_BN, batch.samples.correct
        if np.any(values_BN):
            self._has_learned = True  # a policy that has converged has no signal either
            return
        solved_B = (correct_BN == 1).any(axis=1) & ~(correct_BN == 0).any(axis=1)
        self._flat_steps += not solved_B.all()
        self._flat_prompts += int((~solved_B).sum())
        self._flat_cut += sum(lack is not None and lack.reason == CUT for lack in batch.missing_B)

    def _stop_without_signal(self, rule: StopRule, is_last: bool) -> None:
        if rule.max_without_signal is None or self._has_learned:
            return
        if self._flat_steps < FEWEST_STEPS:
            return
        ends_flat = is_last and self._flat_steps == self._steps
        if not ends_flat and self._flat_prompts < rule.max_without_signal:
            return
        self._has_learned = self.had_signal()
        if not self._has_learned:
            raise RunError(
                f"no signal: in the last {self._flat_steps} steps with problems to learn from, all "
                f"advantages of all {self._flat_prompts} prompts are 0, so that nothing is "
                f"learned. {self._explain_flat()}. {GOES_ON}."
            )

    def _explain_flat(self) -> str:
        if 2 * self._flat_cut > self._flat_prompts:
            return (
                f"{self._flat_cut} of them lack samples that were cut at the length limit and "
                "masked: raise the limit of tokens (TRL: max_completion_length, a config: "
                "max_new_tokens), or let truncated samples count (truncated: count or punish)"
            )
        return (
            "The samples of a prompt must differ in their rewards, or in what else the method "
            "reads: look at the rewards, or take easier problems or more samples"
        )


def _count_reasons(missing: Sequence[Missing]) -> str:
    counts = Counter(lack.reason for lack in missing).most_common()
    return ", ".join(f"{reason}: {number}" for reason, number in counts)


def _quote_first_answer(missing: Sequence[Missing]) -> str:
    """Quote the first answer of the judge's server, if there is one."""
    first = next((lack.detail for lack in missing if lack.detail), None)
    return "" if first is None else f"; the first answer of the judge was {first!r}"
