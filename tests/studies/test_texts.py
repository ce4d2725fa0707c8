"""How different texts are: by hand, and of a run's own samples."""

import json

import pytest

pytest.importorskip("transformers")

from setrl.support import files
from setrl.support.errors import ConfigError
from studies import texts
from tests.tiny import one_thread

__all__ = ["one_thread"]


def test_equal_and_different_texts():
    assert texts.of_problem(["abcd", "abcd"]) == {
        "distinct_runs": 0.5,
        "different_texts": 0.5,
        "shared_prefix": 4.0,
    }
    assert texts.distinct_runs(["ab", "cd"]) == 1.0  # shorter than a run
    assert texts.distinct_runs(["abcdef"], length=2) == 1.0


def test_a_run_is_measured_from_its_own_texts(finished, tmp_path):
    found = files.read_json(texts.run(finished, tmp_path / "texts.json"))["splits"]
    assert set(found) == {"test", "shifted"}
    kept = finished / "base" / "evaluation" / "samples" / "test.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    own = [
        [line["text"] for line in lines if line.get("problem") == problem] for problem in range(3)
    ]
    different = sum(len(set(one)) / len(one) for one in own) / 3
    assert found["test"]["base"]["different_texts"] == pytest.approx(different, abs=1e-4)
    assert found["test"]["base"]["entropy"] >= 0


def test_an_evaluation_without_texts_is_named(finished, tmp_path):
    path = tmp_path / "evaluation" / "test.jsonl"
    path.parent.mkdir()
    path.write_bytes((finished / "base" / "evaluation" / "test.jsonl").read_bytes())
    (path.parent / "samples").mkdir()
    (path.parent / "samples" / "test.jsonl").write_text('{"schema_version": 1}\n')
    with pytest.raises(ConfigError, match="has kept no texts in its folder"):
        texts.of_model(path)
