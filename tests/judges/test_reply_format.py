"""The format of replies, when several questions look for it at the same time."""

import asyncio

from setrl.judges.reply_format import FORMATS, ReplyFormat, response_format
from setrl.models.served.client import Choice, RequestError
from setrl.models.served.endpoint import Endpoint

MESSAGES = [{"role": "user", "content": "sort"}]
REFUSED = RequestError("refused", status=400)


def format_of(body):
    return body.get("response_format", {"type": "plain"})["type"]


class Server:
    """Refuses the first format. The refusal of "late" comes when "early" has its answer."""

    endpoint = Endpoint("http://localhost/v1", "m")

    def __init__(self):
        self.format, self.used = ReplyFormat(), {}

    async def ask(self, body, key, adapt):
        if format_of(body) == "json_schema":
            if key == "late":
                await self.question("early")
            body = adapt(REFUSED)
        self.used[key] = format_of(body)
        if key == "late":
            assert adapt(REFUSED) is None, "a known format is not given up"
        return [Choice("{}", "stop")]

    async def question(self, key):
        return (await self.format.ask(self, MESSAGES, 2, key)).text


def test_a_question_that_is_refused_late_takes_over_the_known_format():
    server = Server()
    assert asyncio.run(server.question("late")) == "{}"
    assert server.used == {"late": "json_object", "early": "json_object"}


def test_formats_have_the_names_of_the_protocol():
    assert [format_of(response_format(name, 3)) for name in FORMATS] == list(FORMATS)
