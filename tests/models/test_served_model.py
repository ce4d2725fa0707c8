"""Asking a server that misbehaves: what is sent, what is asked again, what counts as failed."""

import socket
import time
from collections import Counter

import pytest
from aiohttp import web

from setrl.models.generators import Ask, Completion, Failure, problem_seed
from setrl.models.served.client import LONGEST_RETRY_AFTER_S
from setrl.models.served.endpoint import Endpoint, Limits, refuse_unreachable
from setrl.models.served.served_model import PATIENT, ServedModel
from setrl.support.errors import ConfigError, RunError
from tests.models.samples import ReasoningServer, SampleServer

ASKS = [Ask(place, f"problem {place}", (0, 1, 2, 3, 4), 5) for place in range(4)]


LIMITS = {"concurrency": 2, "backoff_s": 0.001, "attempts": 4, "timeout_s": 60}


def model(server, limits=None, samples_per_request=2, give_up_after=20, **asked):
    limits = Limits(**{**LIMITS, **(limits or {})})
    asked = {"temperature": 1.0, "top_p": 1.0, "max_reply_tokens": None, **asked}
    endpoint = Endpoint(server.url, "m", limits=limits, **asked)
    return ServedModel(endpoint, samples_per_request, give_up_after)


def draw(server, asks=ASKS, seed=7, **changes):
    return list(model(server, **changes).generate(asks, seed))


def wanted(asks=ASKS, seed=7):
    """Every sample, by the seed that it must have been asked for with."""
    return {
        Completion(
            ask.problem,
            number,
            f"#{problem_seed(seed, ask.problem) % 2**31 + number} {ask.prompt}",
            "stop",
        )
        for ask in asks
        for number in ask.numbers
    }


def test_every_sample_is_asked_for_once_with_a_seed_of_its_own():
    with SampleServer() as server:
        assert set(draw(server)) == wanted()
        assert set(server.given.values()) == {1}
        assert len(server.bodies) == 12
        assert {body["model"] for body in server.bodies} == {"m"}


def test_samples_do_not_depend_on_how_they_are_cut_into_requests():
    with SampleServer() as server:
        assert set(draw(server, samples_per_request=5)) == wanted()
        some = [Ask(2, "problem 2", (1, 4), 5)]
        assert set(draw(server, some, samples_per_request=1)) <= wanted()


@pytest.mark.parametrize("chat", [True, False])
def test_what_is_sent(chat, monkeypatch):
    monkeypatch.setenv("MY_KEY", "secret")
    with SampleServer() as server:
        [sample] = draw(
            server, [Ask(0, "p", (3,), 5)], chat=chat, temperature=0.6, top_p=0.95,
            max_reply_tokens=99, api_key_variable="MY_KEY",
        )  # fmt: skip
        [body] = server.bodies
        assert [sent["Authorization"] for sent in server.headers] == ["Bearer secret"]
    assert (sample.number, sample.finish) == (3, "stop")
    assert body.pop("messages" if chat else "prompt") == (
        [{"role": "user", "content": "p"}] if chat else "p"
    )
    seed = body.pop("seed")
    assert seed == (problem_seed(7, 0) + 3) % 2**31
    assert body == {"model": "m", "n": 1, "temperature": 0.6, "top_p": 0.95, "max_tokens": 99}


MISCHIEF = ["429", "500", "drop", "cut", "prose", "empty", "fewer", "503", "408", "ok"]


@pytest.mark.parametrize("what", MISCHIEF[:-1])
def test_one_mischief_is_asked_again(what):
    with SampleServer([what]) as server:
        assert set(draw(server)) == wanted()


def test_a_server_that_fails_often_loses_nothing():
    with SampleServer(MISCHIEF, forever=True) as server:
        events = draw(server, limits={"attempts": 99, "concurrency": 3, "longest_pause_s": 0.01})
        assert Counter(events) == Counter(wanted())
        assert len(server.bodies) > 30


@pytest.mark.parametrize(
    ("what", "reason", "requests"),
    [("429", "rate_limit", 3), ("502", "server_error", 3), ("drop", "connection", 3),
     ("prose", "server_error", 3), ("empty", "server_error", 3), ("400", "refused", 2)],
)  # fmt: skip
def test_what_fails_to_the_end_is_a_failure_and_no_sample(what, reason, requests):
    with SampleServer([what], forever=True) as server:
        events = draw(server, ASKS[:1], limits={"attempts": 3}, samples_per_request=5)
        assert events == [Failure(0, 5, reason)]
        assert len(server.bodies) == requests


class PickyServer(SampleServer):
    """A server that refuses some requests, such as of a prompt that a filter knows."""

    def __init__(self, refuses):
        super().__init__()
        self.refuses = refuses

    async def answer(self, request, body):
        if self.refuses(body):
            return web.Response(status=400, text="not this one")
        return await super().answer(request, body)


def test_refused_prompts_are_left_out_and_the_rest_is_drawn():
    """compl-ai#20: 25 of them in front of 40 good ones were a dead server."""
    asks = [Ask(place, f"{'bad' if place < 25 else 'good'} {place}", (0, 1, 2, 3), 4)
            for place in range(65)]  # fmt: skip
    with PickyServer(lambda body: "bad" in body["messages"][0]["content"]) as server:
        events = draw(server, asks)
        refused = [event for event in events if isinstance(event, Failure)]
        assert {event for event in events if isinstance(event, Completion)} == wanted(asks[25:])
        assert sum(event.samples for event in refused) == 25 * 4
        assert {event.reason for event in refused} == {"refused"}
        of_bad = [one for one in server.bodies if "bad" in one["messages"][0]["content"]]
        assert 25 <= len(of_bad) <= 2 * 25 + 2  # a refused problem is not asked about again


def test_a_server_that_takes_one_sample_a_request_gets_one():
    """optillm#8."""
    with PickyServer(lambda body: body["n"] > 1) as server:
        assert set(draw(server, limits={"concurrency": 1})) == wanted()
        assert Counter(body["n"] for body in server.bodies) == {2: 1, 1: 20}


def test_a_server_that_takes_several_is_not_asked_for_one():
    with PickyServer(lambda body: "3" in body["messages"][0]["content"]) as server:
        draw(server, limits={"concurrency": 1})
        assert {body["n"] for body in server.bodies[:-1]} == {2, 1}  # 1: the fifth sample
        assert sum("3" in body["messages"][0]["content"] for body in server.bodies) == 1


def test_a_request_can_lack_what_a_server_refuses():
    body = {"temperature": None, "top_p": None, "max_completion_tokens": 9, "max_tokens": None}
    with PickyServer(lambda body: {"max_tokens", "temperature", "top_p"} & body.keys()) as server:
        asked = model(server, extra_body=body, max_reply_tokens=5)
        assert set(asked.generate(ASKS, 7)) == wanted()
        assert {one["max_completion_tokens"] for one in server.bodies} == {9}
    assert asked.settings == {"model": "m", "temperature": None, "top_p": None, "max_tokens": None,
                              "chat": True, "extra_body": body}  # fmt: skip


@pytest.mark.parametrize(("end", "finish"), [("stop", "reasoning"), ("length", "length")])
def test_a_text_that_the_server_takes_for_thoughts_is_marked(end, finish):
    with ReasoningServer(end=end) as server:
        found = draw(server, ASKS[:1])
    assert {(one.text, one.finish) for one in found} == {("", finish)}


@pytest.mark.parametrize("end", ["content_filter", ["stop"], {}])
def test_a_text_that_the_service_ended_is_no_sample(end):
    with SampleServer(end=end) as server:
        assert draw(server, ASKS[:1], samples_per_request=5) == 5 * [Failure(0, 1, "filtered")]


def test_a_slow_server_times_out():
    with SampleServer(delay=0.5) as server:
        assert draw(
            server, ASKS[:1], limits={"attempts": 1, "timeout_s": 0.05}, samples_per_request=5
        ) == [Failure(0, 5, "timeout")]


def test_a_dead_server_ends_the_run():
    with SampleServer(["500"], forever=True) as server:
        generator = model(server, limits={"attempts": 1}, give_up_after=3).generate(ASKS, 7)
        with pytest.raises(RunError, match=r"3 requests in a row failed.*server_error .HTTP 500"):
            list(generator)


def test_failures_in_between_do_not_end_the_run():
    with SampleServer(["500", "ok"], forever=True) as server:
        events = draw(server, limits={"attempts": 1, "concurrency": 1}, give_up_after=2)
        assert Counter(type(event) for event in events) == {Failure: 6, Completion: 10}


@pytest.mark.parametrize("status", ["401", "403", "404"])
def test_a_wrong_model_address_or_key_is_said_at_once(status):
    with SampleServer([status], forever=True) as server:
        with pytest.raises(ConfigError, match=f"completions answered HTTP {status}: no: {status}"):
            draw(server, limits={"concurrency": 1})
        assert len(server.bodies) == 1


class TemplateServer(SampleServer):
    """A server whose model has no chat template; it answers as vLLM (400) or transformers (500)."""

    def __init__(self, status):
        super().__init__()
        self.status = status

    async def answer(self, request, body):
        if not request.path.endswith("/chat/completions"):
            return await super().answer(request, body)
        text = '{"error": {"message": "… so you must provide a chat template if …"}}'
        return web.Response(status=self.status, text=text)


@pytest.mark.parametrize("status", [400, 500])
def test_a_server_without_a_chat_template_is_answered_with_the_flag(status):
    with TemplateServer(status) as server:
        with pytest.raises(ConfigError, match=r"must provide a chat template.*--no-chat sends"):
            draw(server, limits={"concurrency": 1})
        assert len(server.bodies) == 1
        assert set(draw(server, chat=False)) == wanted()


def test_a_server_that_cannot_be_reached_is_said_at_once():
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        began = time.monotonic()
        with pytest.raises(RunError, match=r"cannot be reached .*refused.*: start the server"):
            list(ServedModel(Endpoint(url, "m", limits=PATIENT)).generate(ASKS, 7))
    assert time.monotonic() - began < 5


def test_a_proxy_answers_in_place_of_the_server(monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    refuse_unreachable("http://127.0.0.1:1/v1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(RunError, match="cannot be reached"):
        refuse_unreachable("http://127.0.0.1:1/v1")


def test_no_more_requests_than_allowed_are_under_way():
    with SampleServer(delay=0.02) as server:
        draw(server, limits={"concurrency": 3}, samples_per_request=1)
        assert server.most_at_once == 3


def test_closing_drops_what_is_under_way():
    with SampleServer(delay=0.05) as server:
        events = model(server, limits={"concurrency": 1}).generate(ASKS, 7)
        next(events)
        events.close()
        assert len(server.bodies) <= 2


def test_retry_after_is_honoured(monkeypatch):
    import asyncio

    slept, sleep = [], asyncio.sleep

    async def note(seconds, *more):
        slept.append(seconds)
        return await sleep(0, *more)

    with SampleServer(["429"], retry_after="30") as server:
        monkeypatch.setattr("setrl.models.served.client.asyncio.sleep", note)
        assert draw(server, ASKS[:1], limits={"concurrency": 1})
        monkeypatch.undo()
    assert 30 in slept


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"url": "localhost:8000"}, "url must start with http"),
        ({"temperature": -1.0}, "temperature must be at least 0"),
        ({"top_p": 0.0}, r"top_p must be in \(0, 1\]"),
    ],
)
def test_wrong_options_are_config_errors(changes, message):
    with pytest.raises(ConfigError, match=message):
        Endpoint(**{"url": "http://localhost/v1", "model": "m", **changes})


@pytest.mark.parametrize("name", ["concurrency", "attempts"])
def test_limits_are_at_least_one(name):
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, got 0"):
        Limits(**{name: 0})


@pytest.mark.parametrize("name", ["samples_per_request", "give_up_after"])
def test_a_served_model_needs_at_least_one(name):
    with pytest.raises(ConfigError, match=f"{name} must be at least 1, got 0"):
        ServedModel(Endpoint("http://localhost/v1", "m"), **{name: 0})


def test_evaluation_waits_as_long_as_any_server_asks_it_to():
    assert PATIENT.longest_pause_s >= LONGEST_RETRY_AFTER_S
