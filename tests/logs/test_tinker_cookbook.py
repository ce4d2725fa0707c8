"""tinker-cookbook's log, as 0.5.4 itself wrote it (tests/data/make_tinker_log.py)."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from setrl.logs.importers import tinker_cookbook
from setrl.support.errors import ConfigError, DataError
from tests.logs.reading import options as how
from tests.logs.reading import read_log

FOLDER = Path(__file__).parents[1] / "data" / "tinker_cookbook"


def samples(step, path=FOLDER, **options):
    file = path / f"iteration_{step:06d}" / "train_rollout_summaries.jsonl"
    return flat(tinker_cookbook.READER.groups(file, how(**options), []))


def flat(parts):
    """Each sample with the step of its group."""
    return [
        SimpleNamespace(**one._asdict(), step=part.step, prompt=part.prompt, group=part.id)
        for part in parts
        for one in part.samples
    ]


def summaries(step):
    path = FOLDER / f"iteration_{step:06d}" / "train_rollout_summaries.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("step", [0, 1, 2])
def test_scores_and_strategies_are_those_of_the_summaries(step):
    found, logged = samples(step, strategy="strategy"), summaries(step)
    assert [one.reward for one in found] == [line["total_reward"] for line in logged]
    assert [one.strategy for one in found] == [s["steps"][0]["logs"]["strategy"] for s in logged]
    assert [one.reward for one in samples(step, reward="correct")] == [
        line["steps"][0]["metrics"]["correct"] for line in logged
    ]
    assert {one.step for one in found} == {step}
    assert all(one.advantage is None for one in found)


def test_prompts_and_texts_are_said_to_be_missing():
    found = samples(0)
    assert found[8].prompt == "group 2 of step 0 (products), whose prompt is not logged"
    assert not any(one.text for one in found)


def test_records_are_of_the_last_step_and_notes_say_what_lacks():
    imported = read_log("tinker", FOLDER, reward="correct")
    assert imported.notes == [
        "left out: all steps but 2, of 0 to 2; setrl import reads more with --steps FIRST:LAST",
        "12 of 12 samples have no text: the summaries hold only what agents log of their turns",
    ]
    assert [(r["n"], r["step"], r["split"]) for r in imported.records] == [(4, 2, "tinker")] * 3
    with pytest.raises(ConfigError, match="reward is graded"):
        read_log("tinker", FOLDER)
    with pytest.raises(
        ConfigError, match=r"no score 'acc'; it has total_reward, final_reward, format"
    ):
        read_log("tinker", FOLDER, reward="acc")
    with pytest.raises(DataError, match="has no 'approach'"):
        read_log("tinker", FOLDER, reward="correct", strategy="approach")


def test_rollouts_of_test_sets_are_found_by_name():
    found = tinker_cookbook.evaluations(FOLDER)
    assert {name: list(steps) for name, steps in found.items()} == {"eval_products": [0, 2]}
    path = found["eval_products"][2]
    assert len(read_log("tinker", path, reward="correct").records) == 3


@pytest.mark.parametrize(
    "line", ['{"iteration": 0}', '{"group_idx": 0, "iteration": 0, "total_reward": "much"}', "[1]"]
)
def test_lines_of_another_form_are_a_sentence(tmp_path, line):
    path = tmp_path / "train_rollout_summaries.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match=r"train_rollout_summaries\.jsonl:1"):
        read_log("tinker", path)


def test_agents_that_log_their_turns_are_read_from_there(tmp_path):
    [line, *_] = summaries(0)
    turns = [{**line["steps"][0], "logs": {"assistant_content": text}} for text in ("a", "b")]
    path = tmp_path / "train_rollout_summaries.jsonl"
    path.write_text(json.dumps({**line, "steps": turns}) + "\n")
    [found] = flat(tinker_cookbook.READER.groups(path, how(), []))
    assert found.text == "a\n\nb"
