"""A judge that counts clusters from 0 where 1 was asked for."""

import logging

import pytest

from setrl.judges import Group
from setrl.judges.numbering import FEWEST_REPLIES, Numbering
from tests.judges.helpers import make_groups, make_judge, right_clusters
from tests.judges.server import FaultyServer, right_numbers

NAMES = ("factor", "formula", "square")


def from_zero(samples):
    """Clusters of an honest judge that counts them from 0."""
    names = {}
    return [names.setdefault(text.split(":")[0], len(names)) for text in samples]


def asked(groups, numbers):
    with FaultyServer(numbers=numbers) as server, make_judge(server.url) as judge:
        return [judgement.labels_N for judgement in judge.judge(groups)]


@pytest.mark.parametrize("num_samples", [3, 6])
def test_a_judge_that_counts_from_zero_is_warned_about_once(num_samples, caplog):
    samples = tuple(f"{NAMES[i % 3]}: {i}" for i in range(num_samples))
    groups = [Group.of_texts(f"problem {number}", samples) for number in range(20)]
    with caplog.at_level(logging.WARNING):
        found = asked(groups, from_zero)
    assert all(-1 in labels_N for labels_N in found), "no reply is corrected"
    [record] = caplog.records
    assert "counts clusters from 0" in record.getMessage()


def test_a_judge_that_keeps_to_the_rule_is_not(caplog):
    groups = make_groups(20)
    with caplog.at_level(logging.WARNING):
        assert asked(groups, right_numbers) == list(map(right_clusters, groups))
    assert not caplog.records


@pytest.mark.parametrize(
    "replies",
    [[(-1, 0)] * (FEWEST_REPLIES - 1), [(0, -1)] * 20, [(-1,)] * 20, [(0, 0), *[(-1, 0)] * 20]],
)
def test_fewer_replies_or_one_that_starts_otherwise_say_nothing(replies):
    numbering = Numbering()
    assert not any(numbering.seems_to_start_at_zero(clusters) for clusters in replies)
