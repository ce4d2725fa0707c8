"""A judge of two levels: strategies, and the families that they belong to."""

import json

import numpy as np
import pytest
from aiohttp import web

from setrl import methods
from setrl.judges import Group
from setrl.train.gathering.judging import with_judgements
from setrl.train.scoring import samples_of, score
from tests.judges.helpers import make_judge
from tests.judges.server import FaultyServer, completion, shown_samples

GROUP = Group.of_texts("p", ("a1: 1", "a2: 2", "b1: 3", "degenerate: 4", "a1: 5"))
STRATEGIES, FAMILIES = (0, 1, 2, -1, 0), (0, 0, 1, -1, 0)


def numbered(names):
    known = {"degenerate": 0}
    return [known.setdefault(name, len(known)) for name in names]


class TwoLevels(FaultyServer):
    """Sorts samples by the text before ':', and into families by its first letter.

    Attributes:
        broken: How many replies put one strategy into two families first.
    """

    def __init__(self, broken=0):
        super().__init__()
        self.broken = broken

    async def answer(self, request, body):
        names = [text.split(":")[0] for text in shown_samples(body["messages"])]
        families = [name if name == "degenerate" else name[:1] for name in names]
        reply = {"clusters": numbered(names), "families": numbered(families)}
        if self.broken:
            self.broken -= 1
            reply["families"] = list(range(1, len(names) + 1))
        return web.json_response(completion(json.dumps(reply)))


def test_labels_and_families_come_in_the_order_of_the_samples_and_are_kept(tmp_path):
    with TwoLevels() as server:
        for _ in range(2):
            with make_judge(server.url, families=True, cache=tmp_path / "judge.sqlite") as judge:
                [found] = judge.judge([GROUP])
            assert (found.labels_N, found.families_N) == (STRATEGIES, FAMILIES)
    assert len(server.bodies) == 1, "the second judge found it in the cache"
    text = server.bodies[0]["messages"][1]["content"]
    assert '{"clusters":[…],"families":[…]}, two lists of exactly 5 integers' in text
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert schema["required"] == ["clusters", "families"]


def test_a_contradiction_is_repaired_once_and_then_unknown():
    for broken in (1, 2):
        with TwoLevels(broken) as server, make_judge(server.url, families=True) as judge:
            [found] = judge.judge([GROUP])
        assert judge.counts.repaired == (broken == 1)
        assert found.families_N == (FAMILIES if broken == 1 else None)
        assert found.reason == (None if broken == 1 else "bad_id")
        again = server.bodies[1]["messages"][-1]["content"]
        assert "differ in families" in again
        assert '"families":[…]' in again


def test_one_level_asks_for_nothing_more():
    with FaultyServer() as server, make_judge(server.url) as judge:
        [found] = judge.judge([GROUP])
        assert found.families_N is None
        assert "families" not in judge.name
    with pytest.raises(ValueError, match="needs a style with instructions"):
        make_judge("http://e", families=True, style="compact")


def test_families_of_a_judge_are_a_field_of_the_method():
    with TwoLevels() as server, make_judge(server.url, families=True) as judge:
        said = judge.judge([GROUP])
    rewards = [[1.0, 0, 1, 0, 1]]
    method = methods.poly_families(set_size=2)
    samples, _ = with_judgements(samples_of(rewards, 5), said)
    found = score(samples, method).advantages.values_BN
    want = method.advantages(rewards, strategies=[STRATEGIES], families=[FAMILIES]).values_BN
    np.testing.assert_array_equal(found, want)
