"""Samples of a base model are read by its domain, and counted."""

import pytest

pytest.importorskip("transformers")

import numpy as np

from setrl.train.lm.resolved import ResolvedConfig
from studies import bases


class Author:
    """Writes what the author of the corpus writes."""

    def __init__(self, folder, temperature, tokens):
        self.domain = ResolvedConfig.load(bases.RECIPES / folder / "config.yaml").base.author

    def texts(self, prompt, n, seed):
        rng = np.random.default_rng(seed)
        problem = next(p for p in self.domain.problems("test", 3, 0) if p.prompt == prompt)
        return ["rubbish", *(self.domain.write(problem, rng).text for _ in range(n - 1))]


@pytest.mark.parametrize("name", bases.DOMAINS)
def test_every_sample_is_counted_once(name, tmp_path, monkeypatch):
    monkeypatch.setattr(bases, "base_model", lambda config, cache: name)
    monkeypatch.setattr(bases, "LocalModel", Author)
    recipe = bases.RECIPES / name / "config.yaml"
    resolved = ResolvedConfig.load(recipe, ["eval_problems=3"])
    counted = bases.measure(resolved, samples=20)
    assert [sum(map(sum, problem.values())) for problem in counted] == [20, 20, 20]
    assert all(problem[""][1] >= 1 for problem in counted)
    assert sum(right for problem in counted for right, _ in problem.values()) > 20
    found = bases.read(bases.write(tmp_path / "x" / "base.json", counted, 20))
    assert found == {"schema_version": 1, "samples": 20, "problems": counted}
