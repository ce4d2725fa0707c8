import os

import numpy as np
import pytest
import torch
from datasets import Dataset
from trl import GRPOTrainer

from setrl import DEGENERATE, methods
from setrl.models.small import sampler
from setrl.support.errors import RunError
from setrl.train.gathering.metrics import batch_metrics
from setrl.train.trl import SetGRPOTrainer
from tests.engines import chat

PROMPTS = ["y=x^2+3x+7, x!=4: ", "y=2x+1, x!=-4: ", "y=x^2+2x+2, x!=6: ", "y=3x+5, x!=7: "]


def length(completions, **_):
    """A reward that differs between samples of any model."""
    return [len(text) / 8 for text in completions]


def first_letters(completions, **_):
    """Strategies: samples that begin alike; the empty one is degenerate."""
    return [
        int.from_bytes(text[:2].encode(), "big") if text else DEGENERATE for text in completions
    ]


def arguments(folder, **changes):
    usual = {
        "max_steps": 3,
        "per_device_train_batch_size": 16,
        "max_completion_length": 6,
        "learning_rate": 1e-3,
        "loss_type": "dr_grpo",
    }
    return chat.arguments(folder, **{**usual, **changes})


def make(base, folder, method, rewards=length, strategies=first_letters, **changes):
    ours = {key: changes.pop(key) for key in ("sampler", "on_batch", "schedule") if key in changes}
    return SetGRPOTrainer(
        str(base),
        rewards,
        arguments(folder, **changes),
        Dataset.from_dict({"prompt": PROMPTS * 6}),
        method=method,
        strategy_func=strategies,
        **ours,
    )


def weights(trainer):
    return torch.cat([weight.detach().flatten() for weight in trainer.model.parameters()])


class Losses(SetGRPOTrainer):
    """Keeps the rows that enter the loss: prompt, sample, advantage."""

    def _compute_loss(self, model, inputs):
        def decode(ids):
            return self.processing_class.batch_decode(ids, skip_special_tokens=True)

        prompts, texts = decode(inputs["prompt_ids"]), decode(inputs["completion_ids"])
        seen = zip(prompts, texts, inputs["advantages"].tolist(), strict=True)
        self.entered = [*getattr(self, "entered", []), *seen]
        return super()._compute_loss(model, inputs)


@pytest.mark.parametrize(
    "method", [methods.poly_epo(3), methods.maxpo(2), methods.grpo(), methods.pkpo(4)]
)
def test_advantages_in_the_loss_are_the_methods(base, tmp_path, method):
    batches = []
    trainer = Losses(
        str(base),
        length,
        arguments(tmp_path, max_steps=2),
        Dataset.from_dict({"prompt": PROMPTS * 6}),
        method=method,
        strategy_func=first_letters,
        on_batch=batches.append,
    )
    trainer.train()
    assert len(batches) == 2
    expected = []
    for batch in batches:
        assert batch.samples.prompts == PROMPTS
        flat = [text for texts in batch.samples.texts for text in texts]
        rewards_BN = np.reshape(length(flat), (4, 4))
        strategies_BN = np.reshape(first_letters(flat), (4, 4))
        np.testing.assert_array_equal(batch.samples.rewards, rewards_BN)
        assert batch.samples.labels("strategies") == strategies_BN.tolist()
        values_BN = method.advantages(rewards_BN, strategies=strategies_BN).values_BN
        assert np.ptp(values_BN) > 0
        for prompt, texts, values in zip(PROMPTS, batch.samples.texts, values_BN, strict=True):
            advantages = np.float32(values).tolist()
            expected += [(prompt, *pair) for pair in zip(texts, advantages, strict=True)]
    assert sorted(trainer.entered) == sorted(expected)
    assert list(trainer._logs["advantages"]) == pytest.approx(values_BN.ravel(), abs=1e-12)


def test_dr_grpo_is_trls_own(base, tmp_path):
    """Without strategies and with r − mean r, nothing is left of us: TRL's own steps."""
    ours = make(base, tmp_path, methods.dr_grpo(), strategies=None)
    ours.train()
    theirs = GRPOTrainer(
        str(base),
        length,
        arguments(tmp_path, scale_rewards="none"),
        Dataset.from_dict({"prompt": PROMPTS * 6}),
    )
    theirs.train()
    torch.testing.assert_close(weights(ours), weights(theirs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("draw", [None, sampler.sample_ids])
def test_same_seed_same_bits(base, tmp_path, draw):
    def train(seed):
        trainer = make(base, tmp_path, methods.poly_epo(2), sampler=draw, seed=seed)
        trainer.train()
        return weights(trainer)

    assert torch.equal(train(1), train(1))
    assert not torch.equal(train(1), train(2))


def test_every_step_draws_anew(base, tmp_path):
    batches = []
    draw = {"sampler": sampler.sample_ids, "on_batch": batches.append, "learning_rate": 0.0}
    make(base, tmp_path, methods.poly_epo(2), max_steps=2, **draw).train()
    assert batches[0].samples.prompts == batches[1].samples.prompts
    assert batches[0].samples.texts != batches[1].samples.texts


def test_micro_batches_change_only_the_rounding(base, tmp_path):
    def train(size):
        accumulation = {"gradient_accumulation_steps": 16 // size}
        trainer = make(
            base,
            tmp_path,
            methods.poly_epo(2),
            sampler=sampler.sample_ids,
            per_device_train_batch_size=size,
            optim="sgd",
            learning_rate=1.0,
            **accumulation,
        )
        if not trainer.model_accepts_loss_kwargs:  # TRL 1.9 divides by the steps, and Trainer, too
            pytest.skip("TRL and transformers both divide the loss by the accumulation steps")
        trainer.train()
        return weights(trainer)

    torch.testing.assert_close(train(16), train(4), rtol=0, atol=1e-6)


def test_a_sampler_gets_each_prompt_once(base, tmp_path):
    calls = []

    def draw(model, prompt_ids, n, **how):
        calls.append((len(prompt_ids), n))
        return sampler.sample_ids(model, prompt_ids, n, **how)

    make(base, tmp_path, methods.maxpo(2), sampler=draw, max_steps=1).train()
    assert calls == [(4, 4)]


def test_features_of_trl_go_on_working(base, tmp_path):
    logs = []
    trainer = make(
        base,
        tmp_path,
        methods.poly_epo(2),
        beta=0.1,
        entropy_coef=0.01,
        num_iterations=2,
        max_steps=4,
        epsilon_high=0.3,
        loss_type="dapo",
        on_batch=logs.append,
    )
    trainer.train()
    assert len(logs) == 2  # two updates from each batch
    history = [entry for entry in trainer.state.log_history if "kl" in entry]
    assert len(history) == 4
    assert history[0]["kl"] == pytest.approx(0, abs=1e-6)
    assert history[-1]["kl"] > 0
    assert "rewards/length/mean" in history[0]
    assert not [key for key in history[0] if "first_letters" in key]  # labels have no mean


def test_our_metrics_are_logged_beside_trls(base, tmp_path):
    batches = []
    trainer = make(base, tmp_path, methods.poly_epo(2), on_batch=batches.append, max_steps=1)
    trainer.train()
    [batch] = batches
    logged = trainer.state.log_history[0]
    assert batch_metrics(batch).items() <= logged.items()
    assert logged["strategies/per_prompt"] > 1
    assert logged["time/credit"] == batch.seconds["credit"]


def test_strategies_may_be_names(base, tmp_path):
    """A name is a label like any other; −1 is degenerate and None unknown all the same."""
    names = {0: "factoring", 1: DEGENERATE, 2: "formula", 3: None}

    def named(completions, **_):
        return [names[len(text) % 4] for text in completions]

    batches = []
    changes = {"strategies": named, "on_batch": batches.append, "max_steps": 1}
    make(base, tmp_path, methods.poly_epo(1), **changes).train()
    labels = [named(texts) for texts in batches[0].samples.texts]
    for row, strategies in zip(labels, batches[0].samples.strategies, strict=True):
        assert (np.isnan(strategies) == [label is None for label in row]).all()
        assert ((strategies == DEGENERATE) == [label == DEGENERATE for label in row]).all()
        for label, strategy in zip(row, strategies, strict=True):
            alike = [label == other for other in row if label is not None]
            assert (strategies == strategy).sum() == sum(alike)
    assert {label for row in labels for label in row} == set(names.values())


def test_rewards_may_be_arrays(base, tmp_path):
    batches = []

    def begins(completions, **_):
        return np.array([text.startswith("(") for text in completions])

    changes = {"rewards": begins, "on_batch": batches.append, "max_steps": 1}
    make(base, tmp_path, methods.maxpo(2), **changes).train()
    texts = [text for texts in batches[0].samples.texts for text in texts]
    assert batches[0].samples.rewards.ravel().tolist() == begins(texts).tolist()


def test_weights_of_rewards_are_kept(base, tmp_path):
    batches = []

    def constant(completions, **_):
        return [1.0] * len(completions)

    make(
        base,
        tmp_path,
        methods.dr_grpo(),
        rewards=[length, constant],
        reward_weights=[2.0, 3.0],
        on_batch=batches.append,
        max_steps=1,
    ).train()
    flat = [text for texts in batches[0].samples.texts for text in texts]
    expected = 2 * np.array(length(flat)) + 3
    np.testing.assert_allclose(batches[0].samples.rewards.ravel(), expected, rtol=1e-6)


def test_samples_without_reward_or_strategy_are_left_out(base, tmp_path):
    batches = []

    def sometimes(completions, **_):
        return [None if i % 4 == 1 else length([t])[0] for i, t in enumerate(completions)]

    def unsure(completions, **_):
        labels = first_letters(completions)
        return [None if i % 4 == 2 else label for i, label in enumerate(labels)]

    trainer = make(
        base,
        tmp_path,
        methods.poly_epo(1),
        rewards=sometimes,
        strategies=unsure,
        on_batch=batches.append,
        max_steps=1,
    )
    trainer.train()
    [batch] = batches
    assert np.isnan(batch.samples.rewards[:, 1]).all()
    assert np.isnan(batch.samples.strategies[:, 2]).all()
    assert (batch.advantages.values_BN[:, 1:3] == 0).all()
    assert not batch.advantages.usable_BN[:, 1:3].any()
    assert batch.advantages.usable_BN[:, [0, 3]].all()
    reward = trainer.state.log_history[0]["reward"]
    assert reward == pytest.approx(np.nanmean(batch.samples.rewards), abs=1e-4)


def raises(**_):
    raise KeyError("gold")


def too_few(completions, **_):
    return [1.0] * (len(completions) - 1)


def words(completions, **_):
    return ["good"] * len(completions)


def infinite(completions, **_):
    return [float("inf")] * len(completions)


def forgets(**_):
    pass


def pairs(completions, **_):
    return [[0, 1]] * len(completions)


def halves(completions, **_):
    return [0.5] * len(completions)


def huge(completions, **_):
    return [2**53] * len(completions)


@pytest.mark.parametrize(
    ("rewards", "strategies", "message"),
    [
        (raises, first_letters, "the reward function 'raises' raised KeyError: 'gold'"),
        (too_few, first_letters, "'too_few' must return one value for each sample, 16, got 15"),
        (words, first_letters, "'words' must return a finite number, .*, got 'good'"),
        (infinite, first_letters, "function 'infinite' must return a finite number, .*, got inf"),
        (forgets, first_letters, "'forgets' must return one value for each sample, 16, got None"),
        (length, raises, "the strategy function 'raises' raised KeyError"),
        (length, pairs, r"the strategy function 'pairs' must return names or integers .*, got \[0"),
        (
            length,
            halves,
            r"the strategy function 'halves' must return names or integers .* got 0.5",
        ),
        (length, huge, r"'huge' must return names or integers from 0 to 2\^53"),
    ],
)
def test_functions_that_fail_are_named(base, tmp_path, rewards, strategies, message):
    trainer = make(base, tmp_path, methods.poly_epo(2), rewards, strategies, max_steps=1)
    with pytest.raises(RunError, match=message):
        trainer.train()


@pytest.mark.parametrize(
    ("method", "changes", "message"),
    [
        (
            methods.maxpo(5),
            {},
            r"maxpo: set_size must .* in \[1, 3\] with num_generations=4, got 5",
        ),
        (
            methods.maxpo(4),
            {},
            r"maxpo: set_size must .* in \[1, 3\] with num_generations=4, got 4",
        ),
        (methods.pkpo(5), {}, r"pkpo: set_size must .* in \[1, 4\] with num_generations=4, got 5"),
        (
            methods.poly_epo(2),
            {"strategies": None},
            "poly_epo reads strategies: pass strategy_func",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_at_once(tmp_path, method, changes, message):
    with pytest.raises(ValueError, match=message):
        make(tmp_path / "no model is looked for", tmp_path, method, **changes)


def test_the_arguments_are_left_as_they_were(base, tmp_path):
    args = arguments(tmp_path)
    SetGRPOTrainer(
        str(base),
        length,
        args,
        Dataset.from_dict({"prompt": PROMPTS}),
        method=methods.grpo(),
        strategy_func=first_letters,
    )
    assert args.reward_weights is None
    assert args.scale_rewards == "group"
    assert os.listdir(tmp_path) == []


def test_a_schedule_decides_the_method_of_each_step(base, tmp_path):
    batches = []
    make(
        base,
        tmp_path,
        methods.maxpo(2),
        max_steps=3,
        schedule=lambda done: methods.maxpo(1 + round(3 * done)),
        on_batch=batches.append,
    ).train()
    for set_size, batch in zip([1, 2, 3], batches, strict=True):
        want = methods.maxpo(set_size).advantages(batch.samples.rewards).values_BN
        np.testing.assert_array_equal(batch.advantages.values_BN, want)


def test_a_name_in_the_place_of_a_method_is_answered_in_words(base, tmp_path):
    with pytest.raises((TypeError, ValueError), match=r"method.*poly_epo"):
        make(base, tmp_path, "poly_epo")
