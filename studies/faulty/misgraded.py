"""A grader made worse on purpose, to measure how many of its errors a method tolerates."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from setrl.rewards.interface import Reward
from setrl.samples.conversation import Text, plain_text
from setrl.support.errors import ConfigError, RunError


@dataclass(frozen=True)
class Misgraded:
    """A reward of 0 and 1 with the errors of a grader; unknown rewards stay unknown.

    Let u(seed, prompt, text) be uniform in [0, 1), a hash of the three. A wrong sample is called
    right if u < false_positives, and a right one wrong if u < false_negatives. So the same sample
    gets the same verdict whenever it is graded, as from a real faulty grader: in a resumed run,
    in every epoch, for every method.

    The share of samples whose verdict changes is logged as `reward/misgraded` where the trainer
    takes metrics from reward functions, as TRL does.

    Attributes:
        reward: The reward function; it must give 0, 1 or None.
        false_positives: The share of the different wrong samples that are called right, in [0, 1].
        false_negatives: The share of the different right samples that are called wrong, in [0, 1].
        seed: The seed of the hash.

    Raises:
        ConfigError: If a value is out of its range.
        RunError: When called, if the reward of a sample is another number than 0 and 1.
    """

    reward: Reward
    false_positives: float = 0.0
    false_negatives: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("false_positives", "false_negatives"):
            share = getattr(self, name)
            if not _is_number(share) or not 0 <= share <= 1:
                raise ConfigError(f"{name} must be a number in [0, 1], got {share!r}")
        if not isinstance(self.seed, int) or isinstance(self.seed, bool) or self.seed < 0:
            raise ConfigError(f"seed must be a whole number of at least 0, got {self.seed!r}")

    @property
    def __name__(self) -> str:
        return self.reward.__name__

    @property
    def failures(self) -> Any:
        """Return how a user's function failed, if the reward is one."""
        return getattr(self.reward, "failures", None)

    def is_misgraded(self, prompt: Text, completion: Text, is_right: bool) -> bool:
        """Return whether the verdict on a sample changes.

        Args:
            prompt: Text, or messages; the last message counts.
            completion: The sample, likewise.
            is_right: The verdict without errors.
        """
        share = self.false_negatives if is_right else self.false_positives
        return share > 0 and _uniform(self.seed, plain_text(prompt), plain_text(completion)) < share

    def __call__(
        self, *, prompts: Sequence[Text], completions: Sequence[Text], **columns: Any
    ) -> list[float | None]:
        """Return the rewards, some of them changed."""
        values = self.reward(prompts=prompts, completions=completions, **columns)
        true = [self._checked(value) for value in values]
        cases = zip(prompts, completions, true, strict=True)
        wrong = [
            one is not None and self.is_misgraded(prompt, text, one == 1)
            for prompt, text, one in cases
        ]
        if (log := columns.get("log_metric")) is not None and wrong:
            log("reward/misgraded", sum(wrong) / len(wrong))
        both = zip(true, wrong, strict=True)
        return [1.0 - one if is_wrong and one is not None else one for one, is_wrong in both]

    def _checked(self, value: Any) -> float | None:
        if value is None or math.isnan(value):
            return None
        if float(value) not in (0.0, 1.0):
            raise RunError(
                f"Misgraded needs a reward of 0 or 1, got {float(value)!r} from the reward "
                f"function {self.__name__!r}: leave out wrap_reward, or grade with 0 and 1"
            )
        return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _uniform(seed: int, prompt: str, text: str) -> float:
    """Return a number in [0, 1) that depends only on the three, the same in every process."""
    entropy = json.dumps([seed, prompt, text]).encode()
    digest = hashlib.blake2b(entropy, digest_size=7).digest()  # 56 bits; a float keeps 53
    return (int.from_bytes(digest, "big") >> 3) / 2**53
