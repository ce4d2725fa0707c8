"""Judges that are wrong in the same way every time: strategies merged, or one strategy split.

Errors of single samples at random carry no information about them (`NoisyJudge`). A policy
can learn a systematic error: a strategy that is never distinguished earns nothing for being new,
and one that is split earns a reward for nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from setrl.judges.base import Group, Judge, Judgement, judgement_by_names
from setrl.samples.labels import by_first_appearance
from setrl.samples.values import DEGENERATE
from studies.faulty.noisy import entropy

NO_NAMES = "no_names"
SplitBy = Literal["draw", "wording"]


@dataclass(frozen=True)
class MergedJudge(Judge, sees_copies=True):
    """A judge that counts some of another judge's strategies as one.

    The other judge must name strategies, as `oracle` does (`x=0` on polynomial, `factoring` on
    quadratic). A merged strategy is named by all its parts: `x=0 or x=1`. A group without names is
    unknown ("no_names").

    Attributes:
        of: The judge whose strategies are merged.
        strategies: Lists of two or more names; the names of a list count as one strategy. A name
            that no sample uses changes nothing.

    >>> from setrl.judges.exact import ExactJudge
    >>> judge = MergedJudge(ExactJudge(), (("2", "3"),))
    >>> judge.judge([Group.of_texts("p", ("2", "3", "4", ""))])[0].names_N
    ('2 or 3', '2 or 3', '4', None)
    """

    of: Judge
    strategies: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        must = "strategies must be lists of two or more names, such as [[x=0, x=1]]"
        if isinstance(self.strategies, str) or not self.strategies:
            raise ValueError(f"{must}, got {self.strategies!r}")
        for names in self.strategies:
            is_list = isinstance(names, list | tuple) and len(names) > 1
            if not is_list or not all(isinstance(name, str) for name in names):
                raise ValueError(f"{must}, got {names!r}")
        object.__setattr__(self, "strategies", tuple(map(tuple, self.strategies)))
        counts = Counter(name for names in self.strategies for name in names)
        if twice := [name for name, count in counts.items() if count > 1]:
            raise ValueError(f"strategies must hold each name once, got {twice[0]!r} twice")

    def close(self) -> None:
        """Close the other judge."""
        self.of.close()

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return the other judge's strategies, merged."""
        names = {name: _joined(one) for one in self.strategies for name in one}
        return [_renamed(judgement, names) for judgement in self.of.judge(groups)]


def _joined(names: Sequence[str]) -> str:
    return " or ".join(names)


def _renamed(judgement: Judgement, names: dict[str, str]) -> Judgement:
    if judgement.labels_N is None:
        return judgement
    if judgement.names_N is None:
        return Judgement(None, reason=NO_NAMES)
    found = judgement.names_N
    return judgement_by_names([DEGENERATE if one is None else names.get(one, one) for one in found])


@dataclass(frozen=True)
class SplitJudge(Judge, sees_copies=True):
    """A judge that splits the largest strategy of another judge in `parts`.

    If strategies have equal sizes, the first one is split; degenerate samples are not a
    strategy. Each sample of it falls into one of the parts, all equally likely:

        by="draw"     at random, by a function of `seed` and the group's texts, as in `NoisyJudge`
        by="wording"  by a hash of only `seed` and the sample's text, so that equal texts are
                      always together, and a wording is in the same part for every prompt

    A policy can learn to cause the second error. Names of strategies are dropped, because they
    would be wrong; unknown stays unknown.

    Attributes:
        of: The judge whose strategies are split.
        parts: The number of parts, at least 2; in a small strategy some may stay empty.
        by: `draw` or `wording`.
        seed: Seed of the parts.

    >>> from setrl.judges.exact import ExactJudge
    >>> same_length = ExactJudge(len)
    >>> texts = ("2+3=5", "4+1=5", "2+3=5", "5")
    >>> SplitJudge(same_length, 2, by="wording").judge([Group.of_texts("p", texts)])[0].labels_N
    (0, 1, 0, 2)
    """

    of: Judge
    parts: int
    by: SplitBy = "draw"
    seed: int = 0

    def __post_init__(self) -> None:
        whole = isinstance(self.parts, int) and not isinstance(self.parts, bool)
        if not whole or self.parts < 2:
            raise ValueError(f"parts must be a whole number of at least 2, got {self.parts!r}")
        if self.by not in get_args(SplitBy):
            raise ValueError(f"by must be one of {', '.join(get_args(SplitBy))}, got {self.by!r}")

    def close(self) -> None:
        """Close the other judge."""
        self.of.close()

    def judge(self, groups: Sequence[Group]) -> list[Judgement]:
        """Return the other judge's strategies, the largest of each group split."""
        answers = zip(groups, self.of.judge(groups), strict=True)
        return [self._split(group, judgement) for group, judgement in answers]

    def _split(self, group: Group, judgement: Judgement) -> Judgement:
        sizes = Counter(judgement.labels_N or ())
        del sizes[DEGENERATE]
        if judgement.labels_N is None or not sizes:
            return judgement
        [(largest, _)] = sizes.most_common(1)  # of equal counts the first that was met
        labels_N = np.array(judgement.labels_N)
        members = labels_N == largest
        labels_N[members] = labels_N.max() + 1 + self._parts_of(group)[members]
        return Judgement(by_first_appearance(labels_N.tolist()))

    def _parts_of(self, group: Group) -> np.ndarray:
        """Return the part of each sample, from 0, as if all samples were split."""
        if self.by == "draw":
            # A noisy judge with the same seed may be inside: it must get other numbers.
            rng = np.random.default_rng([1, entropy(self.seed, group)])
            return rng.integers(self.parts, size=len(group.texts))
        return np.array([self._part_of(text) for text in group.texts])

    def _part_of(self, text: str) -> int:
        digest = hashlib.blake2b(json.dumps([self.seed, text]).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.parts
