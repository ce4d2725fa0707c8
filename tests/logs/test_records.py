"""Reading evaluation files: labels, torn lines, and what is refused."""

import json
import math
import re

import numpy as np
import pytest

from setrl.evaluate.loading import load_evaluation
from setrl.evaluate.problems import on_common
from setrl.support.errors import DataError


def record(**changes):
    fields = {
        "schema_version": 1,
        "prompt": "p",
        "kind": "k",
        "split": "test",
        "n": 3,
        "correct": [1, 0, 1],
        "strategies": ["a", None, "b"],
        "answers": ["7", "8", None],
        "texts": [],
    }
    return json.dumps({**fields, **changes}) + "\n"


def write(path, *lines):
    path.write_text("".join(lines))
    return path


def test_arrays_and_labels(tmp_path):
    other = record(prompt="q", strategies=["b", "b", None], temperature=0.7)
    path = write(tmp_path / "test.jsonl", record(temperature=0.7), other)
    evaluation = load_evaluation(path)
    assert evaluation.prompts == ("p", "q")
    assert evaluation.n == 3
    assert evaluation.temperature == 0.7
    assert evaluation.counted("strategies").tolist() == [[0, -1, 1], [1, 1, -1]]
    assert evaluation.counted("answers").tolist() == [[0, 1, -1], [0, 1, -1]]
    assert evaluation.correct_count_P.tolist() == [2, 2]


def test_graded_rewards_and_proxy_scores_are_read_where_they_are(tmp_path):
    lines = [
        record(rewards=[0.5, None, 1], proxy=[3, 2, 1]),
        record(prompt="q", rewards=[0, 0, 0], proxy=[1, 1, 1]),
    ]
    evaluation = load_evaluation(write(tmp_path / "graded.jsonl", *lines))
    np.testing.assert_array_equal(evaluation.samples.rewards, [[0.5, np.nan, 1], [0, 0, 0]])
    assert evaluation.choose([1]).samples.proxy.tolist() == [[1, 1, 1]]
    assert evaluation.samples.names["strategies"] == ("a", "b")
    plain = load_evaluation(write(tmp_path / "plain.jsonl", record()))
    assert not plain.has_rewards
    assert plain.choose([0]).samples.proxy is None


def test_problems_can_be_chosen_in_any_order(tmp_path):
    path = write(tmp_path / "test.jsonl", record(), record(prompt="q", correct=[0, 0, 0]))
    chosen = load_evaluation(path).choose([1, 0])
    assert chosen.prompts == ("q", "p")
    assert chosen.correct_count_P.tolist() == [0, 2]
    assert chosen.on(["p", "q"]).correct_count_P.tolist() == [2, 0]
    assert np.isnan(chosen.temperature)


@pytest.mark.parametrize("damage", [record(prompt="q")[:40], record()])
def test_damage_is_an_error_or_left_out_with_a_warning(tmp_path, caplog, damage):
    path = write(tmp_path / "test.jsonl", record(), damage)
    message = r"test.jsonl:2(: is not JSON| has the problem of .*test.jsonl:1)|line 2 is not JSON"
    with pytest.raises(DataError, match=f"({message}).*--allow-damaged"):
        load_evaluation(path)
    assert not caplog.records
    assert load_evaluation(path, allow_damaged=True).prompts == ("p",)
    assert re.search(message, caplog.text)


def test_a_damaged_line_in_the_middle_is_left_out_too(tmp_path, caplog):
    path = write(tmp_path / "test.jsonl", record(), record()[:30] + "\n", record(prompt="q"))
    with pytest.raises(DataError, match="jsonl:2: is not JSON"):
        load_evaluation(path)
    assert load_evaluation(path, allow_damaged=True).prompts == ("p", "q")


def test_one_prompt_with_two_ids_is_two_problems(tmp_path):
    path = write(tmp_path / "test.jsonl", record(id="row 1"), record(id="row 2"))
    assert load_evaluation(path).prompts == ("p", "p")


def test_all_lines_that_hold_a_problem_again_are_counted(tmp_path):
    path = write(tmp_path / "test.jsonl", record(), record(prompt="q"), "\n", *[record()] * 3)
    with pytest.raises(DataError, match=r"jsonl:4 has the problem of .*jsonl:1, the first of 3"):
        load_evaluation(path)


def test_a_last_line_that_is_whole_needs_no_newline(tmp_path):
    path = write(tmp_path / "test.jsonl", record(), record(prompt="q").rstrip("\n"))
    assert load_evaluation(path).prompts == ("p", "q")


def test_a_temperature_of_null_is_not_known(tmp_path):
    path = write(tmp_path / "test.jsonl", record(temperature=None))
    assert np.isnan(load_evaluation(path).temperature)


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"test.jsonl: is text in UTF-16: save it as UTF-8"):
        load_evaluation(path)


def test_line_separators_inside_a_string_do_not_end_a_line(tmp_path):
    line = json.dumps({**json.loads(record()), "prompt": "a\u2028b"}, ensure_ascii=False)
    path = tmp_path / "test.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    assert load_evaluation(path).prompts == ("a\u2028b",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "test.jsonl: is empty"),
        (["{]\n"], "jsonl:1: is not JSON"),
        ([record(), record(schema_version=3)], "jsonl:2: .* schema_version 2"),
        ([record(correct=[1])], "jsonl:1: 'correct' must have n = 3 entries, got 1"),
        ([record(correct=[1, 0.5, 0])], r"jsonl:1: correct must be True or False .*, got 0.5"),
        ([record(prompt=["p"])], r"jsonl:1: 'prompt' must be text, got \[\"p\"\]"),
        ([record(n="3")], "jsonl:1: 'n' must be a whole number, got \"3\""),
        ([record(temperature="hot")], "'temperature' must be a number or null, got \"hot\""),
        ([record(n=0, correct=[], strategies=[], answers=[])], "n must be 1 or more, got 0"),
        ([record(strategies=3)], "jsonl:1: 'strategies' must have n = 3 entries, got 3"),
        ([record(answers=["7", {}, None])], "answers must be texts, .*, got {}"),
        ([record(answers=["7", math.inf, None])], "jsonl:1: answers must be .*, got inf"),
        ([record(strategies=["a", 1.5, None])], "jsonl:1: strategies must be .*, got 1.5"),
        ([record(rewards=[1, "a", 0])], "jsonl:1: rewards must be a finite number, .*, got 'a'"),
        ([record(rewards=[1, math.inf, 0])], "jsonl:1: rewards must be .*, got inf"),
        ([record(proxy=[1, math.inf, 0])], "jsonl:1: proxy must be .*, got inf"),
        ([record(step=1.5)], "jsonl:1: step must be a whole number from 0 .*, got 1.5"),
        ([record(rewards=[1.0])], "jsonl:1: 'rewards' must have n = 3 entries, got 1"),
        (
            [record(), record(prompt="q", proxy=[1, 2, 3])],
            "jsonl:2: only some lines have 'proxy': all or none must",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path, lines, message):
    with pytest.raises(DataError, match=message):
        load_evaluation(write(tmp_path / "test.jsonl", *lines))


def test_problems_may_differ_in_their_number_of_samples(tmp_path):
    fewer = record(prompt="q", n=1, correct=[1], strategies=["a"], answers=["7"], rewards=[None])
    found = load_evaluation(write(tmp_path / "t.jsonl", record(rewards=[1, 0.5, 2]), fewer))
    assert (found.n, found.most, found.size_P.tolist()) == (1, 3, [3, 1])
    assert found.correct_count_P.tolist() == [2, 1]
    assert found.present_PN.tolist() == [[True, True, True], [True, False, False]]
    assert found.counted("strategies").tolist() == [[0, -1, 1], [0, -1, -1]]
    assert np.isnan(found.samples.rewards[1]).all()
    assert on_common({"t": [found]}, 2).arms["t"][0].prompts == ("p",)
    assert found.on(["q"]).n == 1
    with pytest.raises(DataError, match="no problem has 4 samples: the largest number is 3"):
        on_common({"t": [found]}, 4)


def test_texts_are_those_of_the_first_samples(tmp_path):
    path = write(
        tmp_path / "texts.jsonl",
        record(texts=["a", "b", "c"]),
        record(prompt="q", texts=["d", None, "e"]),
        record(prompt="r", texts=["f", "g", "h"]),
    )
    evaluation = load_evaluation(path)
    assert evaluation.samples.texts == (("a", "b", "c"), ("d",), ("f", "g", "h"))
    assert evaluation.texts_kept == 1
    assert evaluation.choose([2, 0]).samples.texts == (("f", "g", "h"), ("a", "b", "c"))
    bare = load_evaluation(write(tmp_path / "bare.jsonl", record()))
    assert (bare.texts_kept, bare.choose([0]).texts_kept) == (0, 0)
