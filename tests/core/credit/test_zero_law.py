"""u = v by enumeration in fractions ⇒ the credit is exactly 0.0; what is small but real stays."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from claims import exact, scores
from setrl import credit, objectives, set_advantages
from setrl.core.idea import Sets
from tests.core.catalogue import EXACT, Case, Entry, cases, samples_of

EPS = np.finfo(float).eps
SIZES = (3, 4, 5)


def alike(n: int) -> list[Case]:
    """Prompts with samples of one to three kinds, in numbers with rounding errors."""
    rng = np.random.default_rng(n)
    found = []
    for _ in range(5):
        kind_N = rng.integers(0, rng.integers(1, 4), n)
        rewards, proxy = rng.integers(0, 5, (2, 3)) / 10
        strategies, answers = rng.integers(-1, 2, 3), rng.integers(0, 2, 3)
        features = rng.integers(-1, 2, (3, 3)) / 3
        kernel = features @ features.T + 0.1 * np.eye(3)
        of_kinds = (rewards, strategies, answers, proxy)
        pairs = ((kernel + kernel.T) / 2)[kind_N][:, kind_N]
        found.append(Case(*(field[kind_N].tolist() for field in of_kinds), pairs.tolist()))
    return found


LISTED = {n: [*cases(n), *alike(n)] for n in SIZES}


def abstaining(rewards: Sequence[float], answers: Sequence[int], ties: str) -> exact.Score:
    """The majority vote of those that have an answer; 0 where nobody has one."""
    of_voters = scores.majority(rewards, answers, ties)

    def score(s: Sequence[int]) -> Fraction:
        voters = tuple(i for i in s if answers[i] >= 0)
        return of_voters(voters) if voters else Fraction(0)

    return score


# Some answers are missing: by the strategy, which is degenerate in some cases.
ABSTAINING = [
    Entry(objectives.majority(ties), lambda c, ties=ties: abstaining(c.rewards, c.strategies, ties))
    for ties in ("uniform", "lexicographic")
]


def padded(entry: Entry, votes: bool) -> dict:
    """The cases of all sizes as prompts of one ragged batch, and the fields that are read."""
    most = max(SIZES)
    blocks = {n: samples_of(LISTED[n]) for n in SIZES}
    names = ("rewards", *(name for name in entry.objective.reads if name != "rewards"))
    fields = {}
    for name in names:
        rows = []
        for n, samples in blocks.items():
            value = getattr(samples, "strategies" if votes and name == "answers" else name) * 1.0
            width = [(0, 0)] + [(0, most - n)] * (value.ndim - 1)
            rows.append(np.pad(value, width, constant_values=np.nan))
        fields[name] = np.concatenate(rows)
    if votes:
        fields["answers"][fields["answers"] < 0] = np.nan
    sizes_B = np.repeat(SIZES, [len(LISTED[n]) for n in SIZES])
    return {**fields, "mask": np.arange(most) < sizes_B[:, None], "abstain": votes}


def check(entry: Entry, fields: dict, set_size: int) -> None:
    rewards, others = fields["rewards"], {k: v for k, v in fields.items() if k != "rewards"}
    found = [
        set_advantages(
            rewards, objective=entry.objective, set_size=set_size, estimator=estimator,
            baseline="leave_one_out", **others,
        ).values_BN
        for estimator in (credit.Exact(), credit.Enumerated())
    ]  # fmt: skip
    listed = [(n, case) for n in SIZES for case in LISTED[n]]
    for *both, (n, case) in zip(*found, listed, strict=True):
        if n <= set_size:
            continue
        want = Sets(entry.definition(case), n, set_size)
        gap_N = [want.u[i] - want.v[i] for i in range(n)]
        largest = max(map(abs, (*want.u, *want.v, 1)))
        for i, gap in enumerate(gap_N):
            for value in (values_N[i] for values_N in both):
                assert gap or value == 0.0, (set_size, case, value)
                if abs(gap) > 100 * EPS * largest:  # what no rounding error can be
                    assert value * gap > 0, (set_size, case, value, gap)


@pytest.mark.parametrize("entry", [*EXACT, *ABSTAINING], ids=lambda entry: entry.name)
def test_zero_is_zero_and_what_is_real_stays(entry):
    fields = padded(entry, votes=entry in ABSTAINING)
    for set_size in range(entry.smallest, max(SIZES)):
        if entry.objective.set_size in (None, set_size):
            check(entry, fields, set_size)


def test_one_abstains_of_four():
    """Issue of 3.7e-17: three votes for one answer, K = 2, and one sample without an answer."""
    rewards, answers = [[0.1, 0.1, 0.1, 0.7]], [["4", "4", "4", None]]
    found = set_advantages(
        rewards, objective=objectives.majority(), set_size=2, baseline="leave_one_out",
        answers=answers, abstain=True,
    )  # fmt: skip
    assert found.estimator == "closed form"
    assert found.values_BN.tolist() == [[0.0, 0.0, 0.0, 0.0]]


def test_a_small_credit_beside_a_large_one_stays():
    rewards = np.array([[1.0, 1.0, 1.0, 1.0 + 2.0**-40, 0.0, 0.0]])
    found = set_advantages(
        rewards, objective=objectives.max(), set_size=2, baseline="leave_one_out"
    ).values_BN[0]
    assert found[3] > found[0] > 0 > found[4]
