"""Models of a finished run, sampled in other ways: with the run's settings, its own samples."""

import pytest

pytest.importorskip("transformers")

from setrl.support import files
from studies import sampling
from tests.studies.test_wise_ft import evaluation
from tests.tiny import one_thread

__all__ = ["one_thread"]


def test_the_runs_own_settings_give_its_own_samples(finished, tmp_path):
    out = tmp_path / "out"
    found = files.read_json(sampling.run(finished, out, temperatures=(1.0, 0.1), samples=32))
    for part in ("base", "grpo/seed_1", "grpo/seed_2"):
        as_evaluated = evaluation(finished / part, "shifted")
        assert evaluation(out / "temperature_1" / part, "shifted") == as_evaluated
        assert evaluation(out / "temperature_0.1" / part, "shifted") != as_evaluated
    for splits in found["temperatures"].values():
        assert set(splits["test"]) == {"base", "grpo"}
        assert set(splits["test"]["grpo"]["pass@32"]) == {"value", "low", "high", "per_seed"}


def test_more_samples_lengthen_the_curves(finished, tmp_path):
    found = files.read_json(sampling.run(finished, tmp_path / "out", samples=64))
    assert {"pass@1", "pass@64"} <= set(found["temperatures"]["1"]["test"]["grpo"])
