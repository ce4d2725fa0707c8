"""The judge against a server that misbehaves: all answers in order, all failures counted."""

import logging
import sqlite3
import threading
import time

import pytest
from aiohttp import web

from tests.judges.helpers import make_groups, make_judge, right_labels
from tests.judges.server import FAULTS, FaultyServer, completion, reply_text

TRANSPORT = {"timeout", "rate_limit", "server_error", "connection"}


@pytest.fixture(autouse=True)
def nothing_stays_open():
    """Every test closes its judges: no thread of theirs is left."""
    yield
    assert [thread.name for thread in threading.enumerate() if "setrl" in thread.name] == []


def wait_until(condition, seconds=5.0):
    last = time.monotonic() + seconds
    while not condition() and time.monotonic() < last:
        time.sleep(0.01)
    return condition()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_that_stays_is_unknown_for_its_reason(fault):
    groups = make_groups(3)
    timeout_s = 0.5 if FAULTS[fault] == "timeout" else 20.0
    with (
        FaultyServer({fault: 1.0}) as server,
        make_judge(server.url, {"attempts": 2, "timeout_s": timeout_s}) as judge,
    ):
        judgements = judge.judge(groups)
    if FAULTS[fault] is None:
        assert [j.labels_N for j in judgements] == [right_labels(group) for group in groups]
        assert judge.counts.requests == 3
    else:
        assert [(j.labels_N, j.reason) for j in judgements] == [(None, FAULTS[fault])] * 3
        assert judge.counts.unknown == {FAULTS[fault]: 3}
        assert judge.counts.requests == 6  # a second attempt, or a repair
        assert judge.counts.failures == server.counted == {FAULTS[fault]: 6}


def test_all_faults_at_once():
    seed = 0
    groups = make_groups(40, seed=seed)
    often = dict.fromkeys(FAULTS, 0.02) | {"hang": 0.2, "rate_limit": 0.05}
    with FaultyServer(often, seed) as server:
        with make_judge(server.url, {"concurrency": 40, "attempts": 20, "timeout_s": 1.5}) as judge:
            judgements = judge.judge(groups)
        assert wait_until(lambda: server.open == 0), "a socket was left open"
    assert len(judgements) == len(groups)
    known = [j.labels_N is not None for j in judgements]
    assert [j.labels_N for j in judgements if j.labels_N is not None] == [
        right_labels(group) for group, is_known in zip(groups, known, strict=True) if is_known
    ]
    unknown = [j.reason for j in judgements if j.labels_N is None]
    assert set(unknown) <= set(FAULTS.values()) - TRANSPORT  # twenty attempts get through
    counts = judge.counts
    assert counts.failures == server.counted
    assert counts.requests == len(server.log)
    assert counts.unknown.total() == len(unknown)
    assert counts.groups == len(groups)
    assert counts.repaired > 0


def test_what_is_unknown_is_asked_again_by_the_next_run(tmp_path):
    groups = make_groups(6)
    cache = tmp_path / "judge.sqlite"
    with FaultyServer({"no_json": 1.0}) as server:
        with make_judge(server.url, cache=cache) as judge:
            assert all(j.reason == "unparsable" for j in judge.judge(groups))
        server.faults = {}
        with make_judge(server.url, cache=cache) as judge:
            assert [j.labels_N for j in judge.judge(groups)] == list(map(right_labels, groups))
            assert judge.counts.cached == 0


def test_a_server_that_is_not_there():
    with make_judge("http://127.0.0.1:9/v1", {"attempts": 3}) as judge:
        assert [j.reason for j in judge.judge(make_groups(2))] == ["connection"] * 2
    assert judge.counts.failures == {"connection": 6}


def test_a_repair_quotes_the_reply_and_says_what_was_wrong():
    group = make_groups(1)[0]
    with (
        FaultyServer({"one_id_missing": 1.0}) as server,
        make_judge(server.url) as judge,
    ):
        wait_for_one = judge.submit(group)
        assert wait_until(lambda: len(server.log) >= 1)
        wait_for_one.result()
    first, second = (body["messages"] for body in server.bodies)
    assert second[:2] == first
    assert second[2] == {"role": "assistant", "content": second[2]["content"]}
    assert second[2]["content"].startswith('{"clusters"')
    assert '"clusters" has 4 entries' in second[3]["content"]


def test_retry_after_is_honoured():
    with FaultyServer({"rate_limit": 1.0}) as server:
        server.retry_after = "0.2"
        with make_judge(server.url, {"attempts": 2, "longest_pause_s": 1.0}) as judge:
            judge.judge(make_groups(1))
    first, second = server.times
    assert second - first >= 0.2


def test_a_server_that_asks_for_too_much_patience_is_left_alone():
    with FaultyServer({"overloaded": 1.0}) as server:
        server.retry_after = "100"
        with make_judge(server.url) as judge:
            assert judge.judge(make_groups(1))[0].reason == "server_error"
    assert len(server.log) == 1


def test_unknown_groups_are_logged_once_a_minute(caplog):
    with (
        caplog.at_level(logging.WARNING),
        FaultyServer({"no_json": 1.0}) as server,
        make_judge(server.url) as judge,
    ):
        judge.judge(make_groups(20))
    (record,) = caplog.records
    assert "1 of 1 prompt unknown (1 unparsable); now: there is no JSON" in record.getMessage()


def test_an_unknown_judgement_has_the_answer_of_the_server():
    with FaultyServer({"no_json": 1.0}) as server, make_judge(server.url) as judge:
        (prose,) = judge.judge(make_groups(1))
    with (
        FaultyServer({"server_error": 1.0}) as server,
        make_judge(server.url, {"attempts": 1}) as judge,
    ):
        (dead,) = judge.judge(make_groups(1))
    assert prose.detail == "I would put the first two together."
    assert "HTTP 500: Internal Server Error" in dead.detail


def test_a_damaged_row_of_the_cache_is_asked_about_again(tmp_path):
    (group,) = make_groups(1)
    with FaultyServer() as server:
        for damage in (None, "UPDATE judgements SET clusters = '[0]'"):
            if damage is not None:
                with sqlite3.connect(tmp_path / "judge.sqlite") as database:
                    database.execute(damage)
            with make_judge(server.url, cache=tmp_path / "judge.sqlite") as judge:
                (judgement,) = judge.judge([group])
            assert judgement.labels_N == right_labels(group)
    assert len(server.log) == 2


def test_what_a_server_says_is_logged(caplog):
    refuses = dict.fromkeys(("json_schema", "json_object", "plain"), 401)
    with (
        caplog.at_level(logging.WARNING),
        FaultyServer(refuses=refuses) as server,
        make_judge(server.url) as judge,
    ):
        assert judge.judge(make_groups(1))[0].reason == "refused"
    assert len(server.log) == 1
    assert 'refused (HTTP 401: {"error": "not supported"})' in caplog.text


class CutServer(FaultyServer):
    """A server that stops a reply, and says why."""

    finish = "length"

    async def _plain(self, request, numbers, fault):
        reply = completion(reply_text(numbers, fault))
        reply["choices"][0]["finish_reason"] = self.finish
        return web.json_response(reply)


@pytest.mark.parametrize("finish", ["length", "content_filter", "tool_calls", 7])
def test_a_reply_that_did_not_end_by_itself_is_a_failure(finish, monkeypatch):
    groups = make_groups(3)
    monkeypatch.setattr(CutServer, "finish", finish)
    with CutServer() as server, make_judge(server.url, {"attempts": 2}) as judge:
        judgements = judge.judge(groups)
    assert [(j.labels_N, j.reason) for j in judgements] == [(None, "truncated")] * 3
    assert judge.counts.failures == {"truncated": 6}  # the reply and its repair
