"""An OpenAI-compatible judge that misbehaves, with seeded probability, in every known way.

It sorts samples by the text before their first ':' ("degenerate" has no strategy), so that tests
know what is right, and it logs what it did to each request, so that they know what was wrong.
"""

import asyncio
import json
import random
import re
from collections import Counter

from aiohttp import web

from tests.models.server import FakeServer, cut_off

SAMPLE = re.compile(r"^<sample (\d+) (\w+)>\n(.*?)\n</sample \1 \2>$", re.DOTALL | re.MULTILINE)

# Each fault, and the kind of failure that the client must count for it; None: not a failure.
FAULTS = {
    "hang": "timeout",
    "slow_drip": "timeout",
    "rate_limit": "rate_limit",
    "server_error": "server_error",
    "overloaded": "server_error",
    "cut_body": "server_error",
    "dropped": "connection",
    "cut_while_sending": "connection",
    "cut_reply": "unparsable",
    "no_json": "unparsable",
    "key_twice": "unparsable",
    "two_answers": "unparsable",
    "no_content": "unparsable",
    "one_id_too_many": "wrong_length",
    "one_id_missing": "wrong_length",
    "id_out_of_range": "bad_id",
    "id_no_integer": "bad_id",
    "prose_around": None,
    "thoughts": None,
    "fenced": None,
    "brisk_drip": None,
}


def shown_samples(messages):
    """The samples as the judge sees them, in the order shown."""
    return [text for _, _, text in SAMPLE.findall(messages[1]["content"])]


def right_numbers(samples):
    """1, 2, … by the text before ':'; 0 for degenerate."""
    names = {"degenerate": 0}
    return [names.setdefault(text.split(":")[0], len(names)) for text in samples]


class FaultyServer(FakeServer):
    """A fake judge; `faults` maps names of FAULTS to probabilities.

    Attributes:
        log: One entry a request: the fault, or "fine".
    """

    def __init__(self, faults=None, seed=0, numbers=right_numbers, delay_s=0.0, refuses=None):
        super().__init__(delay_s)
        self.faults = faults or {}
        assert set(self.faults) <= set(FAULTS)
        self.numbers = numbers
        self.refuses = refuses or {}  # kind of response_format → status
        self.retry_after, self.usage = "0.01", True
        self.log = []
        self._rng = random.Random(seed)

    @property
    def counted(self):
        """Failures by the kind that a client should see."""
        return Counter(FAULTS[fault] for fault in self.log if FAULTS.get(fault))

    async def answer(self, request, body):
        kind = body.get("response_format", {"type": "plain"})["type"]
        if kind in self.refuses:
            self.log.append("refused")
            return web.json_response({"error": "not supported"}, status=self.refuses[kind])
        fault = self._draw()
        self.log.append(fault)
        numbers = self.numbers(shown_samples(body["messages"]))
        return await getattr(self, f"_{fault}", self._plain)(request, numbers, fault)

    def _draw(self):
        u = self._rng.random()
        for fault, probability in self.faults.items():
            if u < probability:
                return fault
            u -= probability
        return "fine"

    async def _plain(self, request, numbers, fault):
        reply = completion(reply_text(numbers, fault))
        return web.json_response(reply if self.usage else {"choices": reply["choices"]})

    async def _no_content(self, request, numbers, fault):
        return web.json_response(completion(None))

    async def _hang(self, request, numbers, fault):
        await asyncio.sleep(60)

    async def _rate_limit(self, request, numbers, fault):
        return web.Response(status=429, headers={"Retry-After": self.retry_after})

    async def _server_error(self, request, numbers, fault):
        return web.Response(status=500, text="Internal Server Error")

    async def _overloaded(self, request, numbers, fault):
        return web.Response(status=503, headers={"Retry-After": self.retry_after})

    async def _cut_body(self, request, numbers, fault):
        return web.Response(text=json.dumps(completion("…"))[:-20], content_type="application/json")

    async def _dropped(self, request, numbers, fault):
        request.transport.abort()
        await asyncio.sleep(0.01)

    async def _cut_while_sending(self, request, numbers, fault):
        data = json.dumps(completion(reply_text(numbers, "fine"))).encode()
        return await cut_off(request, data[:-5])

    async def _slow_drip(self, request, numbers, fault):
        return await drip(request, completion(reply_text(numbers, "fine")), 0.05)

    async def _brisk_drip(self, request, numbers, fault):
        return await drip(request, completion(reply_text(numbers, "fine")), 0.0)


async def drip(request, value, pause_s):
    """A few bytes at a time."""
    data = json.dumps(value).encode()
    response = web.StreamResponse()
    await response.prepare(request)
    for start in range(0, len(data), 4):
        await response.write(data[start : start + 4])
        await asyncio.sleep(pause_s)
    return response


def completion(content):
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


def reply_text(numbers, fault):
    """The judge's words, right or spoilt."""
    answer = json.dumps({"clusters": numbers})
    spoilt = {
        "cut_reply": answer[: len(answer) // 2],
        "no_json": "I would put the first two together.",
        "key_twice": f'{{"clusters": {numbers}, "clusters": {numbers[::-1]}}}',
        "two_answers": f"{json.dumps({'clusters': [0**number for number in numbers]})} or {answer}",
        "one_id_too_many": json.dumps({"clusters": [*numbers, numbers[-1]]}),
        "one_id_missing": json.dumps({"clusters": numbers[:-1]}),
        "id_out_of_range": json.dumps({"clusters": [*numbers[:-1], len(numbers) + 1]}),
        "id_no_integer": json.dumps({"clusters": [*numbers[:-1], "1"]}),
        "prose_around": f"They differ in {{method}}. {answer} I hope that this helps.",
        "thoughts": f'<think>Maybe {{"clusters": [1]}}? No.</think>\n{answer}',
        "fenced": f"```json\n{answer}\n```",
    }
    return spoilt.get(fault, answer)
