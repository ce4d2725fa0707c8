"""A judge's name changes with every setting that changes labels: a file is resumed by it."""

import inspect
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial

import pytest

from setrl.judges import Group, Judge
from setrl.judges.config import by_name, from_config
from setrl.judges.exact import ExactJudge
from setrl.models.served.endpoint import Endpoint

POINT = {"judge": "oracle", "domain": "polynomial", "options": {"strategy": "point"}}
CHANGES = {
    "exact": ({}, {"key": "studies.clusters:last_number"}),
    "oracle": (
        {"domain": "polynomial"},
        {"domain": "quadratic", "options": {"strategy": "point"}},
    ),
    "embedding": (
        {"encode": "statistics:mean", "threshold": 0.1},
        {"encode": "statistics:median", "threshold": 0.2},
    ),
    "pairwise": ({"of": "exact"}, {"of": POINT}),
    "lm": (
        {"model": "m", "endpoint": "http://e"},
        {
            "model": "n",
            "style": "code",
            "request": {"temperature": 0.5},
            "seed": 1,
            "sample_tokens": 9,
            "families": True,
        },
    ),
}
"""Judge → settings, and another value for each that changes labels."""

NOT_IN_THE_NAME = {
    ("lm", "endpoint"): "a model that moves to another address answers the same",
    ("lm", "cache"): "where answers are kept",
    ("lm", "retry_rule"): "what is unknown is asked about again",
    ("lm", "limits"): "what is unknown is asked about again",
    ("lm", "prices"): "answers do not depend on what they cost",
}
REQUESTS = {
    "temperature": 0.5,
    "max_reply_tokens": 7,
    "extra_body": {"min_p": 0.1},
    "top_p": 0.9,
    "chat": False,
}
NOT_IN_A_REQUEST = {"url", "model", "api_key_variable", "limits", "prices"}


def name_of(judge, settings):
    with closing(from_config({"judge": judge, **settings})) as made:
        return made.name


@pytest.mark.parametrize("judge", by_name)
def test_a_name_changes_with_every_setting_that_changes_labels(judge):
    settings, others = CHANGES[judge]
    names = [name_of(judge, settings)]
    names += [name_of(judge, settings | {key: value}) for key, value in others.items()]
    assert len(set(names)) == len(names)
    left_out = {key for one, key in NOT_IN_THE_NAME if one == judge}
    assert {*others, *left_out} == set(inspect.signature(by_name[judge]).parameters)
    assert names[0] == name_of(judge, settings)


def test_a_name_changes_with_all_of_a_request():
    settings = CHANGES["lm"][0]
    asked = [settings | {"request": {key: value}} for key, value in REQUESTS.items()]
    assert len({name_of("lm", one) for one in [settings, *asked]}) == len(REQUESTS) + 1
    assert name_of("lm", settings).endswith("seed 0, sample_tokens 24000")  # no defaults
    assert {*REQUESTS, *NOT_IN_A_REQUEST} == {field.name for field in fields(Endpoint)}


def test_a_name_changes_with_the_instructions_in_a_file(tmp_path):
    settings = CHANGES["lm"][0] | {"style": str(tmp_path / "mine.md")}
    names = []
    for instructions in ("Sort them.", "Sort them by the first step."):
        (tmp_path / "mine.md").write_text(instructions)
        names.append(name_of("lm", settings))
    assert names[0] != names[1]


@dataclass(frozen=True)
class FirstLettersJudge(Judge):
    """Strategies by the first letters."""

    count: int
    fold: bool = False

    def judge(self, groups):
        return ExactJudge(lambda text: text[: self.count]).judge(groups)


def test_a_judge_of_your_own_has_its_settings_in_its_name():
    judge = FirstLettersJudge(2)
    assert judge.judge([Group.of_texts("p", ("ab", "abc", "b"))])[0].labels_N == (0, 0, 1)
    assert judge.name == "first_letters:2"
    assert FirstLettersJudge(2, fold=True).name == "first_letters:2, fold True"
    assert FirstLettersJudge(count=len).name == "first_letters:builtins:len"


def test_a_judge_made_of_judges_names_all_of_them():
    assert name_of("pairwise", {"of": POINT}) == "pairwise:[by:[oracle:[polynomial:point]]]"


def test_a_function_without_a_name_is_shown_without_its_address():
    first, second = (ExactJudge(partial(str.split, sep=sep)).name for sep in ",;")
    assert first != second
    assert " at 0x" not in first


def test_a_judge_that_is_no_dataclass_must_say_its_name():
    class Mine(Judge):
        def judge(self, groups):
            return []

    with pytest.raises(TypeError, match="Mine needs a name with every setting that changes"):
        _ = Mine().name
