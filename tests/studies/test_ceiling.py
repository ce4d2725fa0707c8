"""The ceiling: who is shown what, that an update is one of maximum likelihood, and a whole run."""

import pytest

pytest.importorskip("transformers")

from collections import Counter
from dataclasses import replace

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from setrl.logs.run import Seed
from setrl.models.local import load_tokenizer
from setrl.support import files
from setrl.support.errors import ConfigError, RunError
from setrl.tasks import domains
from setrl.train.lm.base_model import base_model
from setrl.train.lm.trl_arm import train_arm
from setrl.train.runs.pool import Stop
from studies import bases, ceiling
from studies.ceiling import Author, strategies_of
from tests.at_once import at_once
from tests.tiny import one_thread, tiny

__all__ = ["one_thread"]

POLYNOMIAL = domains.by_name("polynomial")
PROMPT = "y=x^2+3x+7, x!=4: "


def test_the_base_decides_which_strategies_are_asked_for():
    problems = [{"a": [6, 0], "b": [1, 3]}, {"a": [4, 1], "b": [1, 1], "": [0, 3], "c": [0, 0]}]
    counted = {"samples": 10, "problems": problems}  # 20 samples: a is right in 10, b in 2
    assert strategies_of(counted, 0.5) == ("a",)
    assert strategies_of(counted, 0.1) == ("a", "b")
    with pytest.raises(ConfigError, match=r"no strategy has a share of 0\.6 in"):
        strategies_of(counted, 0.6)


def test_the_recipes_bases_have_several_strategies():
    for name in bases.DOMAINS:
        counted = bases.read(ceiling.BASES / f"{name}.json")
        assert len(strategies_of(counted, 0.01)) >= 3


def author_of(name, strategies, count=20):
    domain = domains.by_name(name)
    problems = {problem.prompt: problem for problem in domain.problems("train", count, 0)}
    return Author(domain, problems, tuple(strategies), None)


@pytest.mark.parametrize(
    ("name", "strategies", "n"),
    [
        ("polynomial", ["x=0", "x=1", "x=-1"], 16),
        ("quadratic", ["factoring", "formula", "sum_product", "grouping"], 12),
        ("multiplication", ["near_round", "partial_products", "long_multiplication"], 2),
    ],
)
def test_samples_are_right_and_spread_evenly(name, strategies, n):
    author, rng = author_of(name, strategies), np.random.default_rng(0)
    total = Counter()
    for prompt in author.problems:
        readings = [author.domain.read(prompt, text) for text in author.texts(prompt, n, rng)]
        assert all(reading.correct for reading in readings)
        counts = Counter(dict.fromkeys(strategies, 0))
        counts.update(reading.strategy for reading in readings)
        assert counts.total() == n
        assert set(counts) == set(strategies)
        assert max(counts.values()) - min(counts.values()) <= 1
        total += counts
    assert max(total.values()) < 1.7 * min(total.values())  # the remainder goes to random ones


def test_a_strategy_that_cannot_be_used_leaves_its_place_to_the_others():
    problem = domains.Problem(PROMPT, "quadratic")
    author = Author(POLYNOMIAL, {PROMPT: problem}, ("x=4", "x=0", "x=1"), None)
    texts = author.texts(PROMPT, 9, np.random.default_rng(0))
    assert sorted(Counter(texts).values()) == [4, 5]
    assert set(texts) == {"(0, 7)", "(1, 11)"}
    nobody = replace(author, strategies=("x=4",))
    with pytest.raises(RunError, match=r"solved 'y=x\^2\+3x\+7, x!=4: ' by none of x=4"):
        nobody.texts(PROMPT, 4, np.random.default_rng(0))


def one_step(base, folder, draw):
    """A run of one update, on what `draw` gives."""
    arms = {"imitation": {"method": "raft"}}
    resolved = tiny(steps=1, arms=arms, rollouts_every=1, learning_rate=1e-2)
    run = Seed(folder)
    assert train_arm(resolved, "imitation", 3, str(base), run, lambda _: None, Stop(), draw=draw)
    return resolved, run


def test_an_update_is_a_step_of_maximum_likelihood(base, tmp_path):
    """One step of the trainer gives the same weights as −Σ log π, written out here."""
    tokenizer, given = load_tokenizer(base), []
    problems = {problem.prompt: problem for problem in POLYNOMIAL.problems("train", 2, 3)}
    author = Author(POLYNOMIAL, problems, ("x=0", "x=1", "x=2"), tokenizer)

    def draw(model, prompt_ids, n, *rest, **more):
        groups = author(model, prompt_ids, n, *rest, **more)
        pairs = zip(prompt_ids, groups, strict=True)
        given.extend((ids, one) for ids, group in pairs for one in group)
        return groups

    resolved, run = one_step(base, tmp_path / "run", draw)
    [metrics] = files.read_lines(run.metrics_file)
    assert (metrics["reward/mean"], metrics["strategies/correct_per_prompt"]) == (1.0, 3.0)
    assert len(given) == 2 * 4

    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    total = 0.0
    for prompt, sample in given:
        logits = model(torch.tensor([[*prompt, *sample]])).logits[0, len(prompt) - 1 : -1]
        total = total - logits.log_softmax(-1)[range(len(sample)), sample].sum()
    (total / len(given) / resolved.sample_tokens).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    trained, before = load_file(run.final / "model.safetensors"), AutoModelForCausalLM
    start = before.from_pretrained(base, dtype=torch.float32).state_dict()
    for name, weights in trained.items():
        moved = (model.state_dict()[name] - start[name]).abs()
        close = (weights - model.state_dict()[name]).abs() < 1e-4
        # Adam's first step is the sign of the gradient: rounding decides where that is 0.
        assert close.float().mean() > 0.98, name
        assert moved.max() > 5e-3


def test_the_author_writes_the_same_again_and_other_things_with_another_seed(base):
    tokenizer = load_tokenizer(base)
    problems = {problem.prompt: problem for problem in POLYNOMIAL.problems("train", 3, 0)}
    author = Author(POLYNOMIAL, problems, ("x=0", "x=1", "x=2", "x=3", "x=-1"), tokenizer)
    ids = [tokenizer(prompt)["input_ids"] for prompt in problems]

    def drawn(seed):
        return author(None, ids, 3, 13, 1.0, torch.Generator().manual_seed(seed))

    assert drawn(1) == drawn(1) != drawn(2)
    ends = {sample[-1] for group in drawn(1) for sample in group}
    assert ends == {tokenizer.eos_token_id}


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "small.yaml"
    small = tiny(
        name="small", workers=1, steps=1, eval_splits=["test"], eval_problems=2, eval_samples=32
    )
    path.write_text(small.config.to_yaml())
    return path


def test_a_whole_run_and_the_same_command_again(recipe, base, tmp_path):
    options = {"recipes": [recipe], "seeds": [1], "shares": [0.05, 0.01], "cache": base.parent}
    base_model(tiny().base, base.parent, show_progress=False)
    with at_once():
        folder = ceiling.run(tmp_path / "out", **options)
    path = folder / "ceiling_small.json"
    found, before = files.read_json(path), path.read_bytes()
    assert found["strategies"]["imitation_0.05"][:2] == ["x=0", "x=1"]
    assert len(found["strategies"]["imitation_0.01"]) > len(found["strategies"]["imitation_0.05"])
    arms = found["splits"]["test"]
    assert set(arms) == {"base", "imitation_0.05", "imitation_0.01"}
    assert len(arms["imitation_0.01"]["pass@1"]["per_seed"]) == 1
    weights = folder / "runs/ceiling_small/imitation_0.01/seed_1/final/model.safetensors"
    written = weights.stat().st_mtime_ns
    with at_once():
        ceiling.run(tmp_path / "out", **options)
    assert path.read_bytes() == before
    assert weights.stat().st_mtime_ns == written
