import asyncio
import json

import pytest
from aiohttp import web

from setrl.models.served.client import (
    LONGEST_RETRY_AFTER_S,
    RequestError,
    _parse_json,
    read_choices,
    retry_after_s,
)
from tests.judges.helpers import make_groups, make_judge
from tests.judges.server import FaultyServer, completion


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0),
        ("7", 7),
        ("0.25", 0.25),
        ("-3", 0),
        ("nan", 0),
        ("inf", LONGEST_RETRY_AFTER_S),
        ("1e9", LONGEST_RETRY_AFTER_S),
        ("soon", 0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 0),
        ("", 0),
    ],
)
def test_retry_after_in_all_its_forms(header, seconds):
    assert retry_after_s(header) == seconds


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>502</html>",
        b"null",
        b"[]",
        b"{}",
        b'{"error": {"message": "no"}}',
        b'{"choices": []}',
        b'{"choices": [null]}',
        b'{"choices": [{"text": "no chat"}]}',
        b'{"choices": [{"message": {"content": [1]}}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_completion_is_the_servers_error(body):
    with pytest.raises(RequestError) as error:
        read_choices(_parse_json(body), chat=True)
    assert (error.value.reason, error.value.status) == ("server_error", 200)


def test_a_reply_of_thoughts_alone_has_an_empty_text():
    body = b'{"choices": [{"message": {"content": null, "reasoning_content": "hm"}}]}'
    assert [choice.text for choice in read_choices(_parse_json(body), chat=True)] == [""]


COUNTED = [(-1000, 7), (7, -1), (10**400, 7), (True, True), (1.5, 7), (7, 64_000_001)]
ODD = [{"prompt_tokens": sent, "completion_tokens": received} for sent, received in COUNTED]


@pytest.mark.parametrize(
    "usage", [None, [], "many", {"prompt_tokens": "7"}, {"prompt_tokens": 7}, *ODD]
)
def test_odd_usage_is_estimated(usage, monkeypatch):
    with FaultyServer() as server, make_judge(server.url) as judge:
        odd = completion('{"clusters":[1,1,1,1,1]}') | {"usage": usage}

        async def reply(*_):
            return web.json_response(odd)

        server._fine = reply
        assert judge.judge(make_groups(1))[0].labels_N == (0,) * 5
        assert judge.counts.estimated == 1
        assert judge.counts.prompt_tokens > 0
        assert judge.counts.reply_tokens > 0


def plain(key):
    return key


def escaped(key):
    return "".join(f"\\u{ord(letter):04X}" for letter in key)


def partly_escaped(key):
    return f"\\u0073{key[1:]}"


@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("spelled", [plain, escaped, partly_escaped])
def test_a_key_that_the_server_sends_back_is_never_shown(status, spelled, monkeypatch):
    key = "sk-0123456789/abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)

    async def reply(request, *_):
        sent = request.headers["Authorization"].removeprefix("Bearer ")
        text = f"{'no' * 60} use of KEY"  # cut inside the key
        reply = json.dumps(completion(text)).replace("KEY", spelled(sent).replace("/", "\\/"))
        return web.Response(text=reply, status=status, content_type="application/json")

    with FaultyServer() as server, make_judge(server.url) as judge:
        monkeypatch.setattr(server, "answer", reply)
        [judgement] = judge.judge(make_groups(1))
        assert judgement.labels_N is None
        assert judgement.detail is not None
        assert key[:8] not in str(judgement)
        assert escaped(key[5:12]) not in str(judgement)
        assert server.headers[0]["Authorization"] == f"Bearer {key}"


async def in_two_parts(request, key):
    response = web.StreamResponse(status=401)
    await response.prepare(request)
    await response.write(f"no use of {key[:12]}".encode())
    await asyncio.sleep(0.05)
    await response.write(key[12:].encode())
    return response


async def in_a_bad_header(request, key):
    request.transport.write(f"HTTP/1.1 200 OK\r\nno header {key}\r\n\r\n{{}}".encode())
    request.transport.close()
    return web.Response()


@pytest.mark.parametrize("reply", [in_two_parts, in_a_bad_header])
def test_a_key_in_a_broken_reply_is_never_shown(reply, monkeypatch):
    key = "sk-0123456789/abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with FaultyServer() as server, make_judge(server.url) as judge:
        monkeypatch.setattr(server, "answer", lambda request, _: reply(request, key))
        [judgement] = judge.judge(make_groups(1))
        assert "[the API key]" in judgement.detail
        assert key[:8] not in judgement.detail


def test_half_of_a_letter_is_no_reason_to_stop(monkeypatch):
    async def reply(*_):
        said = completion('\ud800 {"clusters":[1,1,1,1,1]}') | {"usage": None}
        return web.Response(text=json.dumps(said), content_type="application/json")

    with FaultyServer() as server, make_judge(server.url) as judge:
        monkeypatch.setattr(server, "answer", reply)
        assert judge.judge(make_groups(1))[0].labels_N == (0,) * 5
