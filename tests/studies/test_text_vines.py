"""Vines inside a text: where they branch, what credits which token, likelihoods."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from setrl import methods
from studies import text_vines
from studies.text_vines import (
    ARMS,
    Arm,
    Target,
    Training,
    VinesConfig,
    branch_of,
    entropies_of,
    log_likelihoods,
)
from tests.tiny import one_thread, tiny  # noqa: F401

SMALL = VinesConfig(steps=2, prompts=2, samples=10, vines=5, seeds=2, problems=2, evaluated=32)


@pytest.fixture
def training(base):
    def make(arm):
        model = AutoModelForCausalLM.from_pretrained(base)
        return Training(SMALL, arm, model, AutoTokenizer.from_pretrained(base), seed=0)

    return make


def test_a_trunk_keeps_a_token_and_leaves_one_before_its_last():
    rng = np.random.default_rng(0)
    found = {branch_of([[1], [1, 2, 3], [1, 2, 3, 4]], rng) for _ in range(200)}
    assert found == {(1, 1), (2, 1), (2, 2)}
    assert branch_of([[1], [1, 2]], rng) is None


def test_a_branch_is_likelier_where_the_policy_is_unsure():
    rng, unsure = np.random.default_rng(0), np.array([9.0, 3.0, 0.0, 1.0, 9.0])
    found = [branch_of([[1, 2, 3, 4, 5]], rng, lambda _: unsure) for _ in range(2_000)]
    assert set(found) == {(0, 1), (0, 3)}
    assert found.count((0, 1)) / len(found) == pytest.approx(0.75, abs=0.04)


def test_entropies_are_those_before_each_token(training):
    model = training(ARMS["rloo"]).model
    found = entropies_of(model, [5, 6], [7, 8])
    for place, context in enumerate(([5, 6], [5, 6, 7])):
        chances = model(torch.tensor([context])).logits[0, -1].softmax(-1)
        assert found[place] == pytest.approx(-(chances * chances.log()).sum().item(), abs=1e-4)


def test_problems_come_round_again():
    some = replace(SMALL, domain="quadratic", train_problems=3)
    (first, second), (third, fourth) = some.training_prompts(0)
    assert len({first, second, third}) == 3
    assert fourth == first


def test_likelihoods_are_those_of_each_text_by_itself(training):
    model = training(ARMS["rloo"]).model
    targets = [Target([5, 6], [7, 8, 9], 1.0), Target([5], [6], 1.0)]
    found = log_likelihoods(model, targets, pad=0)
    for one, value in zip(targets, found, strict=True):
        logits = model(torch.tensor([one.context + one.ids])).logits[0].log_softmax(-1)
        start = len(one.context) - 1
        want = sum(logits[start + i, token] for i, token in enumerate(one.ids))
        assert value.item() == pytest.approx(want.item(), abs=1e-4)


def test_every_token_of_a_trunk_is_trained_once_and_vines_from_the_branch(training, monkeypatch):
    given = []

    def credit(domain, tokenizer, prompt, samples, method):
        given.append((method.name, samples))
        return [float(len(given))] * len(samples)

    monkeypatch.setattr(text_vines, "credit", credit)
    arm = Arm(methods.poly_epo(set_size=2), methods.rloo())
    run = training(arm)
    prompt = run.domain.problems("train", 1, seed=0)[0].prompt
    [context] = run.ids([prompt])
    targets = run.targets([prompt])
    (of_whole, samples), (of_vines, grown) = given
    assert (of_whole, len(samples), of_vines, len(grown)) == ("poly_epo", 6, "rloo", 5)
    stem = next(one for one in targets if one.context == context and one.ids not in samples)
    vines = [one for one in targets if one.context == context + stem.ids]
    assert stem.weight == 1.0
    assert [one.weight for one in vines] == [2.0] * 5
    assert [stem.ids + one.ids for one in vines] == grown
    assert grown[0] in samples
    assert len(targets) == 6 + 5


def test_the_study_writes_its_numbers(base, tmp_path, monkeypatch):
    monkeypatch.setattr(text_vines, "base_model", lambda *_: base)
    name = "poly_epo, vines"
    path = text_vines.run(tmp_path, replace(SMALL, arms=(name,)))
    found = json.loads(path.read_text(encoding="utf-8"))
    assert set(found["arms"]) == {"base", name}
    assert 0 <= found["arms"][name]["test pass@1"]["mean"] <= 1
    assert set(found["arms"]["base"]) == set(found["arms"][name])
