"""tinker-cookbook's log, as 0.5.4 itself wrote it (tests/data/make_tinker_log.py)."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from setrl.samples.importers import tinker_cookbook
from setrl.support.errors import ConfigError, DataError
from tests.samples.reading import options as how
from tests.samples.reading import read_log

FOLDER = Path(__file__).parents[1] / "data" / "tinker_cookbook"
TRUTH = json.loads((FOLDER / "truth.json").read_text())
QUESTIONS = ["12*3", "4*5", "6*2"]


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


@pytest.mark.parametrize("step", [0, 2])
def test_a_text_is_never_given_to_a_sample_that_did_not_write_it(step):
    found = samples(step, strategy="strategy")
    known = 0
    for one, truth in zip(
        found, [text for group in TRUTH[str(step)] for text in group], strict=True
    ):
        assert one.text in ("", truth)
        known += bool(one.text)
    assert 0 < known <= 8  # of the third group the log holds no texts


def test_where_only_rewards_are_read_equal_ones_may_change_places():
    found = samples(0)
    for group in range(2):
        of_group = found[4 * group : 4 * group + 4]
        truth, logged = TRUTH["0"][group], summaries(0)[4 * group : 4 * group + 4]
        assert all(one.text for one in of_group)
        assert sorted((one.text, one.reward) for one in of_group) == sorted(
            (text, line["total_reward"]) for text, line in zip(truth, logged, strict=True)
        )


def test_prompts_are_those_of_the_tree_and_others_are_said_to_be_missing():
    assert [one.prompt for one in samples(0)[::4]] == [
        *QUESTIONS[:2], "group 2 of step 0 (products), whose prompt is not logged",
    ]  # fmt: skip
    without = samples(1)
    assert all("prompt is not logged" in one.prompt and not one.text for one in without)


def test_a_failed_group_is_in_the_tree_alone(tmp_path):
    """The summaries number the groups that did not fail, so the numbers do not tell."""
    folder = tmp_path / "iteration_000000"
    shutil.copytree(FOLDER / "iteration_000000", folder)
    path = folder / "train_rollout_summaries.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()[4:]]
    for line in lines:
        line["group_idx"] -= 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = samples(0, tmp_path)
    assert found[0].prompt == QUESTIONS[1]
    assert sorted(one.text for one in found[:4]) == sorted(TRUTH["0"][1])


def test_records_are_of_the_last_step_and_notes_say_what_lacks():
    imported = read_log("tinker", FOLDER, reward="correct")
    assert imported.notes == [
        "only step 2 is read, of steps 0 to 2; setrl import reads more with --steps FIRST:LAST",
        "4 of 12 samples have no text: the log holds texts of only the first groups "
        "(num_groups_to_log), and not always who wrote which",
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
