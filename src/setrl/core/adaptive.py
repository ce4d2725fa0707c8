"""A K of its own for each prompt, chosen from samples that its credit does not use."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from setrl.core.inputs import check_set_size
from setrl.core.method import Advantages, AnyMethod, Collected, Method, Scale
from setrl.samples.samples import Samples


@dataclass(frozen=True)
class AdaptiveK(AnyMethod):
    """A method whose K follows the success rate of each prompt, by cross-fitting.

    A prompt's samples are split into two halves, at even and at odd places. The K of a half comes
    from the success rate p̂ of the *other* half, and its credit from sets within the half:

        K = 1/p̂ − 1, rounded, from 1 to `largest`

    which is where pass@K has the least noise (docs/theory.md). Given the other half, K is a
    constant, so the credit of a half is unbiased for the objective with that K, up to the method's
    usual factor. With K from the same samples it is biased: right samples then choose how they
    are paid.

    The order of a prompt's samples must carry no information: do not sort them by reward.

    Attributes:
        method: The method; its own K counts for nothing.
        largest: K_max, for prompts without a right sample in the other half.
    """

    method: Method
    largest: int = 3

    def __post_init__(self) -> None:
        check_set_size(self.largest)
        if self.method.objective.set_size is not None:
            raise ValueError(
                f"{self.method.objective!r} has a K of its own: it cannot be chosen for each prompt"
            )

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name that configs and figures use."""
        return self.method.name

    @property
    def set_size(self) -> int:  # type: ignore[override]
        """The largest K."""
        return self.largest

    @property
    def scale(self) -> Scale | None:  # type: ignore[override]
        """The scale of the method."""
        return self.method.scale

    @property
    def reads(self) -> tuple[str, ...]:
        """The method's fields, and which samples are right."""
        return tuple(dict.fromkeys((*self.method.reads, "correct")))

    @property
    def needs_contrast(self) -> bool:
        """Whether sets with a sample are compared with sets without it."""
        return self.method.needs_contrast

    @property
    def fewest_samples(self) -> int:
        """Enough for K = 1 in each half."""
        return 2 * (1 + self.needs_contrast)

    def check_samples(self, num_samples: int, called: str = "num_samples") -> None:
        """Refuse a largest K that half of the samples are too few for."""
        if num_samples // 2 < self.largest + self.needs_contrast:
            raise ValueError(
                f"{self.name} with largest={self.largest} needs {called} of at least "
                f"{2 * (self.largest + self.needs_contrast)}, got {num_samples}: sets are drawn "
                "within half of a prompt's samples"
            )

    def of_dense(self, samples: Samples, rng: np.random.Generator | None) -> Advantages:
        """Return the advantages of prompts that have all their samples, fields (B, N)."""
        shape = samples.rewards.shape
        halves = [np.arange(shape[1])[start::2] for start in (0, 1)]
        found = Collected(shape)
        for own_n, other_n in (halves, halves[::-1]):
            sizes_B = self.sizes(samples.right[:, other_n], len(own_n))
            seed = None if rng is None else rng.integers(2**63)
            for size in np.unique(sizes_B):
                rows = np.flatnonzero(sizes_B == size)
                part = samples.choose(rows, np.tile(own_n, (len(rows), 1)))
                method = replace(self.method, set_size=int(size))
                # The draws for one K do not depend on which other K the batch has.
                drawing = None if seed is None else np.random.default_rng(seed)
                credited = method.of_dense(part, drawing)
                # The U of a prompt is the mean of its halves', each with its own K.
                found.add(rows, (rows[:, None], own_n), credited, len(own_n) / shape[1])
        return found.advantages(np.ones(shape, dtype=bool))

    def sizes(self, right_Bn: np.ndarray, num_own: int) -> np.ndarray:
        """Return the K of each prompt: from these samples, for sets of `num_own` other ones."""
        rate_B = right_Bn.mean(axis=1)
        most = min(self.largest, num_own - self.needs_contrast)
        wanted_B = np.rint(1 / np.maximum(rate_B, 1 / (most + 1)) - 1)
        return np.clip(wanted_B, 1, most).astype(int)
