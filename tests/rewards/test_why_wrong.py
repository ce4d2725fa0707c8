"""A wrong sample says why, where its gold and its text are known."""

import pytest

from setrl.logs.records import group_of
from setrl.rewards.answers import why_wrong
from setrl.samples.types import Group, Sample


@pytest.mark.parametrize(
    ("text", "gold", "correct", "why"),
    [
        (r"So \boxed{(1,3)}", "(1,2)", False, "entry 2 differs: the number 3 is not 2"),
        (r"So \boxed{(1,2)}", "(1,2)", False, None),  # another reward decided
        (r"So \boxed{(1,3)}", "(1,2)", True, None),
        (r"So \boxed{(1,3)}", None, False, None),
        ("So 3", "(1,2)", False, None),
        ("", "(1,2)", False, None),
    ],
)
def test_it_says_why_only_where_the_grader_found_it(text, gold, correct, why):
    sample = Sample(text, correct)
    assert why_wrong(Group("1", "prompt", (sample,), gold), sample) == why


def test_a_rollout_keeps_its_gold():
    record = {"prompt": "p", "gold": "4", "n": 1, "texts": [r"\boxed{5}"], "correct": [0]}
    group = group_of(record, "file:1")
    assert why_wrong(group, group.samples[0]) == "the number 5 is not 4"
