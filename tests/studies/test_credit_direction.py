"""Gradients, their noise and where they lead: each part against its definition."""

import pytest

pytest.importorskip("transformers")

from dataclasses import replace

import numpy as np
import torch

from setrl import methods
from setrl.models.local import load_tokenizer, load_weights
from setrl.support import files
from setrl.tasks import domains
from setrl.train.lm.base_model import base_model
from studies import credit_direction as study
from studies.credit_direction import Batch, Noise
from tests.tiny import one_thread, tiny

__all__ = ["one_thread"]
POLYNOMIAL = domains.by_name("polynomial")


@pytest.fixture(scope="module")
def sampled(base):
    """A model and its samples; some of them count as right."""
    model = load_weights(base, "float32").eval()
    prompts = [problem.prompt for problem in POLYNOMIAL.problems("train", 2, 0)]
    batch = study.draw(model, load_tokenizer(base), POLYNOMIAL, prompts, 8, 0)
    rng = np.random.default_rng(0)
    names = np.array([None, "x=0", "x=1", "x=2"], dtype=object)
    return model, replace(
        batch, right_M=rng.random(16) < 0.5, strategies_M=names[rng.integers(4, size=16)]
    )


def one_by_one(model, batch):
    """log π of each sample, token by token."""
    for ids, labels in zip(batch.tokens["input_ids"], batch.tokens["labels"], strict=True):
        places = (labels != -100).nonzero()[:, 0].tolist()
        logits = model(ids[None, : places[-1] + 1]).logits[0]
        yield sum(logits[place - 1].log_softmax(-1)[ids[place]] for place in places)


def test_log_probabilities_are_those_of_single_tokens(sampled):
    model, batch = sampled
    found = study.log_probabilities(model, batch.tokens)
    wanted = torch.stack(list(one_by_one(model, batch)))
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def test_samples_are_scored_as_they_were_drawn(base):
    """E[π(y)/π(y)] says nothing; but no sample may contain a token that was not sampled."""
    model, tokenizer = load_weights(base, "float32").eval(), load_tokenizer(base)
    [problem] = POLYNOMIAL.problems("train", 1, 0)
    batch = study.draw(model, tokenizer, POLYNOMIAL, [problem.prompt], 64, 0)
    samples = [ids[labels != -100] for ids, labels in zip(
        batch.tokens["input_ids"], batch.tokens["labels"], strict=True)]  # fmt: skip
    ended = [sample[-1] == tokenizer.eos_token_id for sample in samples]
    most = POLYNOMIAL.max_new_tokens + 1
    assert all(len(sample) == most for sample, end in zip(samples, ended, strict=True) if not end)
    assert all((sample[:-1] != tokenizer.eos_token_id).all() for sample in samples)


def test_gradients_are_sums_over_samples(sampled):
    model, batch = sampled
    found_MP = study.gradients(model, batch)
    weights = list(model.parameters())
    single = [torch.autograd.grad(one, weights) for one in one_by_one(model, batch)]
    single_MP = torch.stack([torch.cat([part.flatten() for part in one]) for one in single])
    for row, method in zip(found_MP, study.METHODS.values(), strict=True):
        advantages = torch.from_numpy(batch.advantages(method)).float()
        wanted = (advantages[:, None] * single_MP).sum(dim=0)
        torch.testing.assert_close(torch.from_numpy(row), wanted, atol=1e-3, rtol=1e-3)
        assert wanted.abs().max() > 1e-2


def test_advantages_are_those_of_the_core(sampled):
    _, batch = sampled
    rewards_BN = batch.right_M.reshape(2, 8).astype(float)
    names = {None: -1, "x=0": 0, "x=1": 1, "x=2": 2}
    strategies_BN = np.array([names[name] for name in batch.strategies_M]).reshape(2, 8)
    for method in (methods.poly_epo(4), methods.concave_counts(0.0)):
        wanted = method.advantages(rewards_BN, strategies=strategies_BN).values_BN.ravel()
        np.testing.assert_allclose(batch.advantages(method), wanted)


def test_noise_is_unbiased_and_adds_up():
    rng = np.random.default_rng(0)
    mean, ratios = np.array([1.0, 2.0, 0.0]), []
    for _ in range(400):
        drawn_RP = mean + 2.0 * rng.normal(size=(6, 3))
        noise = Noise(drawn_RP @ drawn_RP.T)
        assert noise.signal() + noise.variance() == pytest.approx((drawn_RP**2).sum(axis=1).mean())
        ratios.append((noise.signal(), noise.variance()))
    found = np.mean(ratios, axis=0)
    assert found == pytest.approx([5.0, 12.0], rel=0.1)  # ‖mean‖² and 3 · 2²


def test_cosines_of_known_directions():
    rng = np.random.default_rng(1)
    first, second = np.array([3.0, 0.0]), np.array([1.0, 1.0])
    a_RP, b_RP = (mean + 0.05 * rng.normal(size=(20, 2)) for mean in (first, second))
    found = study.cosine(a_RP @ b_RP.T, Noise(a_RP @ a_RP.T), Noise(b_RP @ b_RP.T))
    assert found == pytest.approx(np.sqrt(0.5), abs=0.02)


def test_the_jackknife_gives_the_standard_error_of_a_mean():
    values = np.random.default_rng(0).normal(size=30)
    value, error = study.jackknife(30, lambda kept: values[kept].mean())
    assert value == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(30))


def test_slopes_are_products_with_the_gradient(sampled):
    model, batch = sampled
    exact = load_weights(model.name_or_path, "float64").eval()
    weights = list(exact.parameters())
    direction = np.random.default_rng(0).normal(size=sum(w.numel() for w in weights))
    before = torch.nn.utils.parameters_to_vector(weights).clone()
    found = study.slopes(exact, batch, direction)
    torch.testing.assert_close(torch.nn.utils.parameters_to_vector(weights), before)
    for value, one in zip(found, one_by_one(exact, batch), strict=True):
        own = torch.cat([part.flatten() for part in torch.autograd.grad(one, weights)])
        assert value == pytest.approx(float(own @ torch.from_numpy(direction)), rel=1e-3, abs=1e-2)


def tabular(logits):
    """The chances of ("a", right), ("a", wrong), ("b", right), (None, wrong)."""
    chances = np.exp(logits - logits.max())
    return chances / chances.sum()


def test_effects_are_derivatives_of_a_tabular_policy():
    """Every sample occurs in proportion to its probability, so all means are exact."""
    chances, direction = np.array([0.4, 0.2, 0.3, 0.1]), np.array([0.5, -1.0, 2.0, 0.3])
    counts = (chances * 10).astype(int)
    kinds = np.repeat(np.arange(4), counts)
    slopes = direction - chances @ direction  # ∇ log π · d of a softmax
    batch = Batch(
        {},
        np.tile(np.array([True, False, True, False])[kinds], 2),
        np.tile(np.array(["a", "a", "b", None], dtype=object)[kinds], 2),
        10,
    )
    found = study.effects(batch, np.tile(7.0 * slopes[kinds], 2), ["a", "b"])  # of any scale

    def measures(step):
        p = tabular(np.log(chances) + step * direction)
        right_in_32 = sum(1 - (1 - j) ** 32 for j in (p[0], p[2]))
        return np.array([p[0] / (p[0] + p[1]), p[0] + p[2], right_in_32])

    size = 1e-5 / np.sqrt((chances * slopes**2).sum())
    success, pass_at_1, strategies = (measures(size) - measures(-size)) / 2e-5
    values = {name: one["value"] for name, one in found.items()}
    assert values["success of a"] == pytest.approx(success, rel=1e-6)
    assert values["success of b"] == pytest.approx(0.0, abs=1e-12)
    assert values["within"] + values["shift"] == pytest.approx(pass_at_1, rel=1e-6)
    assert values["within"] == pytest.approx(0.6 * success, rel=1e-6)
    assert values["strategies"] == pytest.approx(strategies, rel=1e-5)
    assert all(one["stderr"] == pytest.approx(0.0, abs=1e-12) for one in found.values())


def test_a_whole_study(base, tmp_path):
    taught = tiny(name="small", base_corpus=2_500, prompts_per_step=4, samples_per_prompt=8)
    (tmp_path / "small.yaml").write_text(taught.config.to_yaml())
    base_model(taught.base, base.parent, show_progress=False)
    small = study.DirectionConfig(
        recipe=tmp_path / "small.yaml",
        batches=4,
        probe_prompts=4,
        probe_samples=16,
        shown=2,
        half_way=2,
    )
    path = study.run(tmp_path / "out", small, cache=base.parent)
    found = files.read_json(path)
    assert list(found["policies"]) == ["base", "after 2 steps"]
    at = found["policies"]["base"]
    assert set(at["noise"]["methods"]) == set(study.METHODS)
    assert len(at["noise"]["cosines"]) == 6
    assert set(at["effects"]) == {"gradient", "adam"}
    assert len(study.figure(found).axes) == 6
    again = study.run(tmp_path / "out", small, cache=base.parent)
    assert files.read_json(again) == found
