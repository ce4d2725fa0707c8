"""Replies of a judge that mean something else than they seem to."""

import logging

import pytest
from aiohttp import web

from setrl.judges import Group
from tests.judges.helpers import make_groups, make_judge, right_clusters
from tests.judges.server import FaultyServer, completion, reply_text


class CutServer(FaultyServer):
    """A server that stops at its limit of tokens, and says so."""

    async def _plain(self, request, numbers, fault):
        reply = completion(reply_text(numbers, fault))
        reply["choices"][0]["finish_reason"] = "length"
        return web.json_response(reply)


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="finish_reason is not looked at")
@pytest.mark.parametrize("group", make_groups(3), ids=lambda group: group.prompt)
def test_a_reply_that_was_cut_by_its_length_is_a_failure(group):
    with CutServer() as server, make_judge(server.url, {"attempts": 2}) as judge:
        judgement = judge.judge([group])[0]
    assert judgement.clusters_N is None
    assert judgement.reason is not None


def from_zero(samples):
    """Clusters of an honest judge that counts them from 0."""
    names = {}
    return [names.setdefault(text.split(":")[0], len(names)) for text in samples]


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="its first cluster is degenerate")
@pytest.mark.parametrize("num_samples", [3, 6])
def test_a_judge_that_counts_from_zero_is_recognised_or_warned_about(num_samples, caplog):
    names = ("factor", "formula", "square")
    samples = tuple(f"{names[i % 3]}: {i}" for i in range(num_samples))
    groups = [Group(f"problem {number}", samples) for number in range(20)]
    with (
        caplog.at_level(logging.WARNING),
        FaultyServer(numbers=from_zero) as server,
        make_judge(server.url) as judge,
    ):
        found = [judgement.clusters_N for judgement in judge.judge(groups)]
    recognised = all(labels in (None, right_clusters(groups[0])) for labels in found)
    assert recognised or caplog.records
