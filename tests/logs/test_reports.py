"""Logs in forms that were reported as unreadable, or as read wrongly, by this or another reader."""

import json
from pathlib import Path

import pytest

from setrl.evaluate.loading import load_samples
from setrl.logs import FieldNames, LogOptions, open_log
from setrl.logs.options import VerdictWords
from setrl.support.errors import ConfigError, DataError

REPORTS = Path(__file__).parents[1] / "data/reports"
TIMEOUT = VerdictWords(wrong=("timeout",))


def shares(path, **options):
    """The share of right samples, and the numbers of problems and samples."""
    found = load_samples(path, LogOptions(**options))
    return found.correct_PN.mean(), len(found), found.n


@pytest.mark.parametrize(("name", "size"), [("nested_rows", (4, 3)), ("promptfoo", (3, 4))])
def test_a_list_of_samples_below_a_path(name, size):
    assert shares(REPORTS / f"{name}.json") == (0.5, *size)


def test_fields_besides_the_list_are_kept(tmp_path):
    rows = [{"id": "q", "ok": right} for right in (True, False)]
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"run": {"a.b": {"model": "m", "samples": rows}}}))
    found = load_samples(path, LogOptions(FieldNames(correct="ok")))
    assert found.settings["model"] == {"m": 2}
    assert "run.a.b.samples.id" in found.reading[0]


def test_two_models_of_promptfoo_are_named(tmp_path):
    log = json.loads((REPORTS / "promptfoo.json").read_text())
    for place, row in enumerate(log["results"]["results"]):
        row["provider"] = {"id": f"model {place % 2}"}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert load_samples(path).settings["model"] == {"model 0": 6, "model 1": 6}


def test_two_prompts_of_promptfoo_are_two_problems(tmp_path):
    log = json.loads((REPORTS / "promptfoo.json").read_text())
    for place, row in enumerate(log["results"]["results"]):
        row["promptIdx"] = place % 2
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert shares(path)[1:] == (6, 2)


@pytest.mark.parametrize(("status", "share"), [("base_status", 0.5), ("plus_status", 0.25)])
def test_evalplus_maps_each_task_to_its_samples(status, share):
    path = REPORTS / "evalplus_eval_results.json"
    assert shares(path, fields=FieldNames(correct=status), words=TIMEOUT) == (share, 3, 4)
    assert open_log(path, LogOptions(words=TIMEOUT))[0].id == "HumanEval/0"


def test_evalplus_needs_a_choice_and_a_meaning():
    path = REPORTS / "evalplus_eval_results.json"
    with pytest.raises(DataError, match="got 'timeout'; --wrong timeout or --unknown timeout"):
        shares(path)
    with pytest.raises(ConfigError, match=r"base_status and eval.plus_status may both say"):
        shares(path, words=TIMEOUT)


def test_a_mapping_whose_samples_have_no_id(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"out": {q: [{"passed": i < 1} for i in range(2)] for q in "ab"}}))
    log = open_log(path, needs=["correct"])
    assert [(group.id, len(group)) for group in log] == [("a", 2), ("b", 2)]


def test_a_score_of_a_failed_sample_counts_in_inspect():
    path = REPORTS / "insp_score_on_error.json"
    assert shares(path) == (0.375, 4, 4)
    assert "4 samples ended with an error and have a score" in str(load_samples(path).reading)


def test_a_scorer_with_several_values_has_a_score_for_each(tmp_path):
    log = json.loads((REPORTS / "insp_score_on_error.json").read_text())
    for place, sample in enumerate(log["samples"]):
        letter = sample["scores"]["match"]["value"]
        sample["scores"] = {"multi": {"value": {"right": letter, "style": "CP"[place % 2]}}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(
        ConfigError, match=r"the scores multi.right, multi.style: name one with --r"
    ):
        shares(path)
    assert shares(path, fields=FieldNames(reward="multi.right"))[0] == 0.375
    with pytest.raises(ConfigError, match=r"graded \(0.5 to 1\): --correct-above 0.75"):
        shares(path, fields=FieldNames(reward="multi.style"))
    above = {"fields": FieldNames(reward="multi.style"), "correct_above": 0.75}
    assert shares(path, **above)[0] == 0.5


def test_lm_eval_without_names_of_filters():
    path = REPORTS / "samples_gsm8k_2024-04-08.jsonl"
    assert shares(path) == (0.4, 5, 1)
    assert shares(path, filter="2") == (0.8, 5, 1)
