"""Set objectives that users write: a function of the members, or of the counts of each kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

import numpy as np

from setrl.core.objectives.base import Objective, SetMeans, finite
from setrl.core.objectives.counting import binomials
from setrl.core.sums import total
from setrl.samples.samples import Samples
from setrl.samples.values import DEGENERATE
from setrl.support import names

OVER_MEMBERS = (
    "the last axis of its arguments runs over the set's members; if it is written for a single "
    "set, use objectives.from_function(…, one_set_at_a_time=True)"
)
# What NumPy says when max(), if or float() gets the numbers of many sets.
MEANT_FOR_ONE_SET = ("truth value of an array", "converted to Python scalars")


class OfFunction(Objective):
    """An objective whose scores a user's function gives."""

    function: Callable[..., np.ndarray]

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))

    def _check_scores(self, scores: np.ndarray, shape: tuple[int, ...], hint: str) -> np.ndarray:
        """Return the function's scores, which must be one number a set."""
        if scores.shape != shape:
            raise ValueError(
                f"the objective {self._name} must give one score a set, shape {shape}, got "
                f"{scores.shape}: {hint}"
            )
        return scores


@dataclass(frozen=True, repr=False)
class FromFunction(OfFunction):
    """An objective that you write, scored over all sets where they are few and else sampled sets.

    Attributes:
        function: Fields of the set's members, arrays of shape (…, K) → scores (…). It must be
            symmetric in the members.
        reads: The names of the fields that it takes, in order: "rewards", "correct", "strategies",
            "answers", "proxy", "pairs", "families", "second". By default the names of its
            parameters; a single parameter of another name takes the rewards.
        one_set_at_a_time: Call it with the fields of a single set, shape (K,); slower. For a
            function with `max(rewards)`, `sum(rewards)` or `if`, which is written for one set.

    >>> from setrl import objectives
    >>> objectives.from_function(lambda rewards: rewards.max(-1) - rewards.min(-1))
    from_function(<lambda>, reads=('rewards',))
    """

    function: Callable[..., np.ndarray]
    reads: tuple[str, ...] = ()
    one_set_at_a_time: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "reads", tuple(self.reads) or _infer_fields(self.function))
        for name in self.reads:
            names.look_up("field", name, dict.fromkeys(field.name for field in fields(Samples)))

    def __repr__(self) -> str:
        return f"from_function({self._name}, reads={self.reads})"

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the function's scores, checked to be one number a set."""
        columns = [getattr(members, "right" if name == "correct" else name) for name in self.reads]
        shape = members.rewards.shape[:-1]
        if self.one_set_at_a_time:
            scores = np.array(
                [self.function(*(field[at] for field in columns)) for at in np.ndindex(shape)],
                dtype=np.float64,
            )
            scores = scores.reshape(shape) if scores.ndim == 1 else scores
        else:
            scores = self._score_all(columns)
        return self._check_scores(scores, shape, OVER_MEMBERS)

    def _score_all(self, columns: list[np.ndarray]) -> np.ndarray:
        """One call for all sets; the error of code for a single set says what to do."""
        try:
            return np.asarray(self.function(*columns), dtype=np.float64)
        except (TypeError, ValueError) as error:
            if not any(words in str(error) for words in MEANT_FOR_ONE_SET):
                raise
            raise ValueError(
                f"the objective {self._name} must score many sets in one call, and failed with "
                f"{str(error)!r}: {OVER_MEMBERS}"
            ) from error


def _infer_fields(function: Callable[..., np.ndarray]) -> tuple[str, ...]:
    """Return the fields that a function names as its parameters; rewards for one other name.

    >>> _infer_fields(lambda correct, strategies: 0), _infer_fields(lambda r: 0)
    (('correct', 'strategies'), ('rewards',))

    Raises:
        ValueError: If it needs several values, and one of them is not named after a field.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function in C
        return ("rewards",)
    needed = tuple(
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    )
    field_names = {field.name for field in fields(Samples)}
    if needed and field_names.issuperset(needed):
        return needed
    if len(needed) > 1:
        raise ValueError(
            f"the function takes {', '.join(needed)}: say which fields these are, such as "
            "reads=('rewards', 'strategies')"
        )
    return ("rewards",)


@dataclass(frozen=True, repr=False)
class FromCounts(OfFunction):
    """Any function of how many correct and wrong members of each strategy a set holds; exact.

    Attributes:
        function: Counts of shape (…, C + 1, 2) → scores (…). counts[…, c, 1] is the number of
            correct members of strategy c, counts[…, c, 0] of its wrong ones; the last row is of
            degenerate samples. Strategies come in no order, and there may be rows of zeros.
        max_compositions: Give up on the exact form where a prompt has more ways than this to take K
            members out of its (strategy, correct) cells, and score sets instead.

    >>> from setrl import objectives
    >>> objectives.from_counts(lambda counts: (counts[..., :-1, 1] >= 2).sum(-1))
    from_counts(<lambda>)
    """

    function: Callable[[np.ndarray], np.ndarray]
    max_compositions: int = 100_000

    reads: ClassVar[tuple[str, ...]] = ("correct", "strategies")

    def __repr__(self) -> str:
        return f"from_counts({self._name})"

    def __call__(self, members: Samples) -> np.ndarray:
        """Return the function of each set's counts: fields of shape (…, K) → (…)."""
        strategies, k = members.strategies, members.num_samples
        first = (strategies[..., :, None] == strategies[..., None, :]).argmax(axis=-1)
        row = np.where(strategies == DEGENERATE, k, first)
        in_row = (row[..., None] == np.arange(k + 1)) * 1.0
        kind = members.right[..., None] == [False, True]
        return self._score_counts(np.einsum("...kc,...kt->...ct", in_row, kind * 1.0))

    def set_means(self, samples: Samples, set_size: int) -> SetMeans | None:
        """Return sums over all compositions of K into the cells (strategy, correct) of a prompt.

        None where a prompt has more than `max_compositions`.
        """
        if not self.has_closed_form(samples, set_size).all():
            return None
        means = [self._average_prompt(cells, set_size) for cells in self._find_all_cells(samples)]
        mean_B, extra_BN = (np.array(part) for part in zip(*means, strict=True))
        return SetMeans.above(mean_B, extra_BN, set_size)

    def has_closed_form(self, samples: Samples, set_size: int) -> np.ndarray:
        """Return whether a prompt has no more than `max_compositions`."""
        counts = [
            _count_compositions(cells.size_G, set_size) for cells in self._find_all_cells(samples)
        ]
        return np.array(counts) <= self.max_compositions

    def _find_all_cells(self, samples: Samples) -> list[_Cells]:
        correct_BN = samples.right
        return [_find_cells(*prompt) for prompt in zip(samples.strategies, correct_BN, strict=True)]

    def _average_prompt(self, cells: _Cells, set_size: int) -> tuple[float, np.ndarray]:
        """U, and u − U of each sample, of one prompt.

        Scores are counted from the score of the likeliest composition: where nearly all sets have
        the same score, what is left is small, and has all its digits.
        """
        n, k = len(cells.at_N), set_size
        held_MG = _list_compositions(cells.size_G, k)
        counts_MCT = np.zeros((len(held_MG), max(cells.strategy_G.max(), 0) + 2, 2))
        counts_MCT[:, cells.strategy_G, cells.correct_G] = held_MG
        chance_M = np.prod(binomials(n, k)[cells.size_G, held_MG], axis=1) / binomials(n, k)[n, k]
        scores_M = self._score_counts(counts_MCT)
        usual_score = scores_M[chance_M.argmax()]
        above_M = chance_M * (scores_M - usual_score)
        extra_G = total(above_M * (held_MG * (n / (k * cells.size_G)) - 1).T)
        return usual_score + above_M.sum(), extra_G[cells.at_N]

    def _score_counts(self, counts: np.ndarray) -> np.ndarray:
        """Return the function's scores, checked to be one number a set."""
        hint = "the last two axes of its argument run over the strategies and over wrong, correct"
        scores = np.asarray(self.function(counts), dtype=np.float64)
        return finite(self, self._check_scores(scores, counts.shape[:-2], hint))


class _Cells(NamedTuple):
    """The kinds of a prompt's samples, by strategy (−1 is degenerate) and correctness.

    Attributes:
        at_N: The cell of each sample.
        strategy_G: The strategy of each cell, from 0, or −1.
        correct_G: 1 for correct, 0 for wrong.
        size_G: How many samples it has.
    """

    at_N: np.ndarray
    strategy_G: np.ndarray
    correct_G: np.ndarray
    size_G: np.ndarray


def _find_cells(labels_N: np.ndarray, correct_N: np.ndarray) -> _Cells:
    """Return the cells of one prompt that have samples."""
    labels, strategy_N = np.unique(labels_N, return_inverse=True)
    key_N = 2 * (strategy_N - (labels[0] == DEGENERATE)) + correct_N
    key_G, at_N, size_G = np.unique(key_N, return_inverse=True, return_counts=True)
    return _Cells(at_N, key_G // 2, key_G % 2, size_G)


def _count_compositions(size_G: np.ndarray, total: int) -> float:
    """How many ways there are to take `total` out of cells of these sizes."""
    ways_K = np.eye(total + 1)[0]
    for size in size_G:
        ways_K = np.convolve(ways_K, np.ones(size + 1))[: total + 1]
    return ways_K[total]


def _list_compositions(size_G: np.ndarray, total: int) -> np.ndarray:
    """All ways to take `total` out of cells of these sizes, one a row: (M, G)."""
    held_MG, left_M = np.zeros((1, 0), dtype=np.int64), np.array([total])
    after_G = np.append(np.cumsum(size_G[::-1])[::-1], 0)[1:]  # what the later cells can give
    for size, after in zip(size_G, after_G, strict=True):
        fewest_M, most_M = np.maximum(left_M - after, 0), np.minimum(left_M, size)
        choices_M = most_M - fewest_M + 1
        parent = np.repeat(np.arange(len(left_M)), choices_M)
        ordinal = np.arange(len(parent)) - np.repeat(np.cumsum(choices_M) - choices_M, choices_M)
        taken_M = fewest_M[parent] + ordinal
        held_MG = np.column_stack([held_MG[parent], taken_M])
        left_M = left_M[parent] - taken_M
    return held_MG
