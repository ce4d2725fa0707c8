"""docs/unknown.md says what the scoring stage makes of an unknown value."""

import re
from pathlib import Path

import numpy as np
import pytest

from setrl import methods
from setrl.core import objectives
from setrl.rewards import Combine
from setrl.support.errors import RunError
from setrl.train.scoring import samples_of, score

PAGE = Path(__file__).parents[2] / "docs" / "unknown.md"
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| .+? \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
CELLS = dict(ROWS)
NAN = float("nan")
POLY, MAJORITY = methods.poly_epo(2), methods.set_rl(objectives.majority(), 2)
STRATEGIES = [0, 1, 1, 2]
DISTANCE = methods.set_rl(objectives.pairwise_distance(), 2)


def matrix(*places):
    """Distances of four samples, without those at these places."""
    found = 1 - np.eye(4)
    for place in places:
        found[place] = found[place[::-1]] = NAN
    return [found]


GIVEN = {
    "reward": (POLY, {"rewards": [1, 0, None, 1], "strategies": STRATEGIES}),
    "correct, which the method reads": (
        methods.concave_counts(),
        {"correct": [True, False, None, True], "strategies": STRATEGIES},
    ),
    "correct, which the method does not read": (
        POLY,
        {"correct": [True, False, None, True], "strategies": STRATEGIES},
    ),
    "strategy": (POLY, {"strategies": [0, 1, None, 2]}),
    "answer": (MAJORITY, {"fields": {"answers": ["1", "2", None, "1"]}}),
    "pair distance, NaN on the diagonal": (DISTANCE, {"fields": {"pairs": matrix((2, 2))}}),
    "pair distance, NaN elsewhere": (DISTANCE, {"fields": {"pairs": matrix((1, 2))}}),
    "`proxy`, `second`, `families`": (
        methods.set_rl(objectives.mean(of="second"), 2),
        {"fields": {"second": [1, 2, None, 1]}},
    ),
    "was it cut?": (POLY, {"strategies": STRATEGIES}),
}


def scored(method, combine=None, rewards=(1, 0, 0, 1), **given):
    columns = rewards if isinstance(rewards, list) and isinstance(rewards[0], list) else [rewards]
    return score(samples_of(columns, 4, **given), method, combine=combine)


def fate(method, given):
    """What becomes of the third of four samples."""
    try:
        found = scored(method, **given).advantages
    except RunError:
        return "stops the run"
    if found.usable_BN[0, 2]:
        return "stays"
    assert found.values_BN[0, 2] == 0
    assert np.isnan(found.with_BN[0, 2])
    return "leaves the sets"


@pytest.mark.parametrize("row", GIVEN)
def test_the_page_says_what_becomes_of_an_unknown_value(row):
    assert CELLS[row].startswith(fate(*GIVEN[row]))


def test_the_page_has_no_other_rows():
    assert [*CELLS][1:] == [*GIVEN]  # behind the head


@pytest.mark.parametrize(
    ("combine", "reward"),
    [
        (None, 0.0),
        (Combine((1, 1), outcome=0, missing="skip"), 0.0),
        (Combine((1, 1), outcome=0), NAN),
        (Combine((1, 0), outcome=0), 0.0),
        (Combine((1, 1), outcome=0, gates=(None, "sample")), 0.0),
    ],
)
def test_a_part_that_is_unknown(combine, reward):
    found = scored(methods.dr_grpo(), combine, rewards=[[1, 0, 0, 1], [1, None, 1, 1]])
    np.testing.assert_equal(found.samples.rewards[0, 1], reward)
