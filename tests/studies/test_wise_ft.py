"""Weights between the base and a trained arm: the ends are theirs exactly, and what is refused."""

import pytest

pytest.importorskip("transformers")

import torch
from safetensors.torch import load_file

from setrl.support import files
from setrl.support.errors import ConfigError
from studies import wise_ft
from studies.wise_ft import mixed
from tests.tiny import one_thread

__all__ = ["one_thread"]


def weights(*values, name="w"):
    return {name: torch.tensor(values), "count": torch.tensor([3])}


def test_mixtures_are_linear_and_the_ends_exact():
    first, last = weights(0.1, -1e30, 0.3), weights(0.7, 1e-30, 0.3)
    assert torch.equal(mixed(first, last, 0)["w"], first["w"])
    assert torch.equal(mixed(first, last, 1)["w"], last["w"])
    torch.testing.assert_close(mixed(first, last, 0.25)["w"], torch.tensor([0.25, -7.5e29, 0.3]))
    torch.testing.assert_close(mixed(first, last, 2.0)["w"][0], torch.tensor(1.3))
    assert mixed(first, last, 0.5)["count"].tolist() == [3]


def test_numbers_keep_their_kind():
    first, last = ({"w": one["w"].bfloat16()} for one in (weights(1.0), weights(3.0)))
    assert mixed(first, last, 0.5)["w"].dtype == torch.bfloat16


@pytest.mark.parametrize("other", [weights(1.0, 2.0), weights(1.0, name="v")])
def test_different_models_are_refused(other):
    with pytest.raises(
        ConfigError, match=r"weights belong to different models: [vw] is not in both"
    ):
        mixed(weights(1.0), other, 0.5)


def evaluation(folder, split):
    return (folder / "evaluation" / f"{split}.jsonl").read_bytes()


def test_the_ends_are_evaluated_as_the_run_evaluated_them(finished, tmp_path):
    path = wise_ft.run(finished, tmp_path / "out", shares=(0, 0.5, 1))
    for split in ("test", "shifted"):
        for seed in (1, 2):
            start = tmp_path / "out" / "grpo-wise-0" / f"seed_{seed}"
            end = tmp_path / "out" / "grpo-wise-1" / f"seed_{seed}"
            trained = finished / "grpo" / f"seed_{seed}"
            assert evaluation(start, split) == evaluation(finished / "base", split)
            assert evaluation(end, split) == evaluation(trained, split)
            middle = tmp_path / "out" / "grpo-wise-0.5" / f"seed_{seed}"
            assert evaluation(middle, split) not in (
                evaluation(start, split),
                evaluation(end, split),
            )
    found = files.read_json(path)
    assert set(found["splits"]) == {"test", "shifted"}
    models = found["splits"]["test"]
    assert list(models) == ["base", "grpo", "grpo-wise-0", "grpo-wise-0.5", "grpo-wise-1"]
    assert models["grpo-wise-1"] == models["grpo"]
    assert len(models["grpo-wise-0.5"]["pass@1"]["per_seed"]) == 2


def test_the_mixture_that_is_evaluated_is_the_mean(finished, tmp_path, monkeypatch):
    found = {}

    def look(self, model, folder, *rest):
        found.update(load_file(f"{model}/model.safetensors"))

    monkeypatch.setattr(wise_ft.Mixtures, "evaluate_model", look)
    mixtures, seeds = wise_ft.opened(finished, ["grpo"])
    assert seeds == {"grpo": [1, 2]}
    mixtures.evaluate("grpo", 2, 0.5, tmp_path)
    first = load_file(finished / "base" / "model.safetensors")
    last = load_file(finished / "grpo" / "seed_2" / "final" / "model.safetensors")
    assert found.keys() == first.keys()
    for name, value in found.items():
        torch.testing.assert_close(value, (first[name] + last[name]) / 2)
    assert any((first[name] - last[name]).abs().max() > 1e-3 for name in first)


def test_a_second_time_gives_the_same_and_another_run_is_refused(finished, tmp_path):
    out = tmp_path / "out"
    path = wise_ft.run(finished, out, arms=["grpo"], shares=[0.5])
    before = path.read_bytes()
    assert wise_ft.run(finished, out, shares=[0.5]).read_bytes() == before
    files.write_json(out / "source.json", {"schema_version": 1, "run": "elsewhere"})
    with pytest.raises(ConfigError, match="was made from another run: give a new folder"):
        wise_ft.run(finished, out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="holds other files: give a new folder"):
        wise_ft.run(finished, tmp_path / "mine")


def test_what_cannot_be_mixed_is_named(finished, tmp_path):
    with pytest.raises(ConfigError, match=r"is not the folder of a run: it has no config\.yaml"):
        wise_ft.run(tmp_path, tmp_path / "out")
    with pytest.raises(ConfigError, match="has no arm 'poly': it has grpo"):
        wise_ft.run(finished, tmp_path / "out", arms=["poly"])
    assert not (tmp_path / "out").exists()
