"""What is in a run's folder, read back as it was written."""

import numpy as np
import pytest

from setrl.logs.run import Arm, Run, Seed, is_base
from setrl.support import files
from setrl.support.errors import ConfigError, DataError
from tests import fake_run


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(fake_run.make(tmp_path_factory.mktemp("runs") / "mine", seeds=(3, 10), steps=20))


def test_everything_in_the_folder_is_found_by_its_name(run):
    assert (run.kind, run.name, run.config["samples_per_prompt"]) == ("comparison", "mine", 8)
    assert [*run.arms] == ["base", "grpo", "maxpo", "poly_epo"]
    assert [*run.arms["grpo"].seeds] == [3, 10]
    seed = run.arms["grpo"].seeds[10]
    assert seed == run.seed("grpo", 10)
    assert seed.path == run.path / "grpo" / "seed_10"
    assert [*seed.rollouts] == [1, 10, 20]
    assert seed.rollouts[10] == seed.rollout_file(10)
    assert {path.name for path in seed.evaluations.values()} == {"shifted.jsonl", "test.jsonl"}
    np.testing.assert_array_equal(seed.steps, np.arange(1, 21))
    assert (seed.last_step, seed.error, seed.outcome) == (20, None, {})
    assert run.arms["base"].seeds == {0: run.base}
    assert [*run.base.evaluations] == ["shifted", "test"]


def test_metrics_are_columns_and_the_last_record_of_a_step_counts(tmp_path):
    seed = Seed(tmp_path)
    assert (seed.last_step, seed.metrics) == (0, {})
    rows = [{"step": 1, "a": 1}, {"step": 2, "a": None}, {"step": 3}, {"step": 2, "a": 5, "b": 0}]
    files.write_lines(seed.metrics_file, rows)
    found = Seed(tmp_path).metrics
    np.testing.assert_array_equal(found["a"], [1, 5, np.nan])
    np.testing.assert_array_equal(found["b"], [np.nan, 0, np.nan])


def test_lists_of_files_follow_a_run_that_goes_on(tmp_path):
    seed = Seed(tmp_path)
    assert (seed.rollouts, seed.checkpoints, seed.evaluations) == ({}, {}, {})
    files.write_lines(seed.rollout_file(2), [])
    seed.checkpoint(4).mkdir(parents=True)
    assert seed.rollouts == {2: seed.rollout_file(2)}
    assert seed.checkpoints == {4: seed.checkpoint(4)}


def test_only_the_last_failure_of_a_run_is_its_error(tmp_path):
    for status, error in (("failed", "no disk"), ("running", None)):
        files.write_json(tmp_path / "run.json", {"status": status, "error": "no disk"})
        assert Seed(tmp_path).error == error


def test_what_is_no_number_in_the_evaluation_of_a_policy_is_unknown(tmp_path):
    files.write_json(tmp_path / "evaluation.json", {"metrics": {"success": 0.5, "rooms": None}})
    np.testing.assert_equal(Seed(tmp_path).outcome, {"success": 0.5, "rooms": np.nan})
    files.write_json(tmp_path / "evaluation.json", {"metrics": "none"})
    assert Seed(tmp_path).outcome == {}


def test_a_model_at_another_temperature_is_an_arm(tmp_path):
    for folder in ("base/evaluation", "base/temperature_0.5/evaluation", "figures",
                   "grpo/seed_0", "grpo/seed_1/temperature_0.5/evaluation"):  # fmt: skip
        (tmp_path / folder).mkdir(parents=True)
    arms = Run(tmp_path).arms
    assert list(arms) == ["base", "base_temperature_0.5", "grpo", "grpo_temperature_0.5"]
    assert arms["base_temperature_0.5"].seeds == {0: Seed(tmp_path / "base/temperature_0.5")}
    assert list(arms["grpo"].seeds) == [0, 1]
    colder = tmp_path / "grpo/seed_1/temperature_0.5"
    assert arms["grpo_temperature_0.5"].seeds == {1: Seed(colder, 1)}
    assert [is_base(arm) for arm in arms] == [True, True, False, False]


def test_any_folder_of_a_model_is_an_arm_with_one_seed(tmp_path):
    assert Arm(tmp_path).seeds == {0: Seed(tmp_path)}
    assert Arm(tmp_path / "missing").seeds[0].evaluations == {}


def test_what_is_known_beforehand_is_not_read(run):
    known = run.knowing(arms={}, config={"steps": 1})
    assert (known.arms, known.config, known.kind) == ({}, {"steps": 1}, "comparison")
    assert len(run.arms) == 4


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({}, None),
        ({"kind": "comparison"}, None),
        ({"schema_version": 1, "status": "finished"}, None),
        ({"schema_version": 1, "kind": "control"}, "control"),
    ],
)
def test_only_what_setrl_wrote_is_a_run(tmp_path, record, kind):
    files.write_json(tmp_path / "run.json", record)
    assert Run(tmp_path).kind == kind


def test_runs_that_cannot_be_read_say_why(tmp_path):
    with pytest.raises(ConfigError, match="not a run directory: the folder does not exist"):
        _ = Run(tmp_path / "missing").arms
    record = {"schema_version": 2, "kind": "comparison", "name": "new"}
    files.write_json(tmp_path / "run.json", record)
    with pytest.raises(ConfigError, match=r"run\.json has schema version 2, .* reads 1: use the"):
        _ = Run(tmp_path).kind
    (tmp_path / "run.json").write_text('{"schema_version": 1, "ki')
    with pytest.raises(DataError, match=r"run\.json"):
        _ = Run(tmp_path).kind
    (tmp_path / "config.yaml").write_text("a: [")
    with pytest.raises(DataError, match=r"config\.yaml: is damaged"):
        _ = Run(tmp_path).config
