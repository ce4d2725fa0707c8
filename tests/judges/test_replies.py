import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setrl import DEGENERATE
from setrl.judges.replies import (
    FORMATS,
    ReplyError,
    ReplyFormat,
    read_levels,
    read_reply,
    response_format,
)
from setrl.models.served.client import Choice, RequestError
from setrl.models.served.endpoint import Endpoint

GOOD = '{"clusters":[1,0,2]}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        '  {\n "clusters" : [1, 0, 2] }  ',
        f"```json\n{GOOD}\n```",
        f"Samples 1 and 3 differ in {{method}}.\n{GOOD}\nThat is all.",
        f'<think>Perhaps {{"clusters":[1,1,1]}}?</think>{GOOD}',
        f'first thoughts without an opening {{"clusters":[0,0,0]}}</think>{GOOD}',
        f"{GOOD}\n{GOOD}",
        f'{{"note": "two ways"}} {GOOD}',
        '{"reasoning": "short", "clusters": [1, 0, 2]}',
        f'{GOOD} <think>or {{"clusters":[2,2,2]}}',
        f"<think>{'Hm. ' * 100_000}</think>{GOOD}",
    ],
)
def test_one_answer_is_read_wherever_it_stands(text):
    assert read_reply(text, 3) == (0, DEGENERATE, 1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unparsable"),
        ("1, 0, 2", "unparsable"),
        ("[1,0,2]", "unparsable"),
        (GOOD[:-3], "unparsable"),
        (f"<think>{GOOD}", "unparsable"),
        (f"<think>{GOOD}</think>", "unparsable"),
        (f'{GOOD} no, rather {{"clusters":[1,1,2]}}', "unparsable"),
        ('{"clusters":[1,1,1],"clusters":[1,0,2]}', "unparsable"),
        ('{"clusters":"1,0,2"}', "unparsable"),
        ('{"clusters":{"1":1,"2":0,"3":2}}', "unparsable"),
        ('{"Clusters":[1,0,2]}', "unparsable"),
        ("{'clusters':[1,0,2]}", "unparsable"),
        ('{"a":' * 9_000, "unparsable"),
        ("{" * 40_000, "unparsable"),
        (" " * 60_000 + GOOD, "unparsable"),
        ('{"clusters":[1,0]}', "wrong_length"),
        ('{"clusters":[1,0,2,2]}', "wrong_length"),
        ('{"clusters":[]}', "wrong_length"),
        ('{"clusters":[1,0,4]}', "bad_id"),
        ('{"clusters":[1,0,-1]}', "bad_id"),
        ('{"clusters":[1,0,2.0]}', "bad_id"),
        ('{"clusters":[1,0,"2"]}', "bad_id"),
        ('{"clusters":[1,0,true]}', "bad_id"),
        ('{"clusters":[1,0,null]}', "bad_id"),
        ('{"clusters":[1,0,NaN]}', "bad_id"),
        ('{"clusters":[1,0,[2]]}', "bad_id"),
    ],
)
def test_what_could_mean_two_things_means_nothing(text, reason):
    with pytest.raises(ReplyError) as error:
        read_reply(text, 3)
    assert error.value.reason == reason


# What could be taken for a part of JSON, and characters of other kinds; all of Unicode is slow.
PROSE = st.text(alphabet='{}[]":,.\\0 \n\t\r\0aé²\u2028\ufeff日😀\ud800', max_size=60)


@given(PROSE, PROSE)
def test_prose_neither_hides_nor_changes_the_answer(before, after):
    assert read_reply(f"{before}\n{GOOD}\n{after}", 3) == (0, DEGENERATE, 1)


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_numbers_become_labels(numbers):
    read = read_reply(json.dumps({"clusters": numbers}), len(numbers))
    assert [label + 1 for label in read] == numbers


def test_two_levels_are_read():
    assert read_levels('{"clusters":[2,1,0,2],"families":[3,3,0,3]}', 4) == (
        1,
        0,
        -1,
        1,
        2,
        2,
        -1,
        2,
    )
    assert read_reply('{"clusters":[2,1],"families":"any"}', 2) == (1, 0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"clusters":[1,0,2]}', "unparsable"),
        ('{"families":[1,0,2]}', "unparsable"),
        ('{"clusters":[1,0,2],"families":[1,0]}', "wrong_length"),
        ('{"clusters":[1,0,2],"families":[1,0,4]}', "bad_id"),
        ('{"clusters":[1,0,1],"families":[1,0,2]}', "bad_id"),  # one strategy in two families
        ('{"clusters":[1,0,2],"families":[1,1,2]}', "bad_id"),  # no strategy, and a family
        ('{"clusters":[1,2,2],"families":[0,1,1]}', "bad_id"),
        (
            '{"clusters":[1,0,2],"families":[1,0,1]} {"clusters":[1,0,2],"families":[1,0,2]}',
            "unparsable",
        ),
    ],
)
def test_two_levels_that_contradict_each_other_mean_nothing(text, reason):
    with pytest.raises(ReplyError) as error:
        read_levels(text, 3)
    assert error.value.reason == reason


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
