"""What set credit needs of a trainer, with trainers as other libraries and later TRLs make them."""

import inspect

import numpy as np
import pytest
import torch
from peft import LoraConfig
from trl import GRPOTrainer
from trl.trainer import grpo_trainer

from setrl.core import methods
from setrl.support.errors import ConfigError, RunError
from setrl.train.trl import SetCredit, seam, set_credit
from tests.engines.chat import LABELS, REWARDS, fixed_labels, fixed_rewards

METHOD = methods.poly_epo(3)
EXPECTED = METHOD.advantages(np.reshape(REWARDS, (2, 4)), strategies=np.reshape(LABELS, (2, 4)))


def rewritten():
    """TRL's class as Unsloth puts another in its place: its source, changed and run again."""
    source = inspect.getsource(grpo_trainer).replace("class GRPOTrainer", "class _Rewritten", 1)
    space = {"__name__": "unsloth_compiled_cache", "__package__": "trl.trainer"}
    exec(compile(source, "UnslothGRPOTrainer.py", "exec"), space)

    class UnslothGRPOTrainer(space["_Rewritten"]):
        def __init__(self, model, reward_funcs, args=None, train_dataset=None, **kwargs):
            given = {"model": model, "reward_funcs": reward_funcs, "args": args}
            super().__init__(**given, train_dataset=train_dataset, **kwargs)

    original = UnslothGRPOTrainer._generate_and_score_completions

    def wrapped(self, *args, **kwargs):
        return original(self, *args, **kwargs)

    UnslothGRPOTrainer._generate_and_score_completions = wrapped
    return UnslothGRPOTrainer


class Mixin:
    def create_optimizer(self, *given):
        return super().create_optimizer(*given)


class AxolotlGRPOTrainer(Mixin, GRPOTrainer):
    """A subclass behind mixins, as axolotl's."""

    _tag_names = ("trl", "grpo", "axolotl")


def trained(make_chat, kind):
    entered = []

    class Losses(set_credit(kind)):
        def _compute_loss(self, model, inputs):
            entered.append(inputs["advantages"].clone())
            return super()._compute_loss(model, inputs)

    trainer = make_chat(METHOD, kind=Losses, strategy_func=fixed_labels)
    trainer.train()
    [advantages] = entered
    return trainer, sorted(advantages.tolist())


@pytest.mark.parametrize("kind", [rewritten, lambda: AxolotlGRPOTrainer])
def test_classes_in_the_place_of_trls_are_credited(make_chat, kind, recwarn):
    _, entered = trained(make_chat, kind())
    assert entered == sorted(np.float32(EXPECTED.values_BN).ravel().tolist())
    assert not [one for one in recwarn if "set credit" in str(one.message)]


class Prefetching(GRPOTrainer):
    """Scores outside its method, as axolotl's asynchronous trainer."""

    def _prepare_inputs(self, inputs):
        return GRPOTrainer._generate_and_score_completions(self, inputs)


def test_a_loss_of_samples_that_were_not_credited_stops_the_training(make_chat):
    with pytest.raises(RunError, match="SetPrefetching computes a loss from samples that set cred"):
        make_chat(METHOD, kind=set_credit(Prefetching), strategy_func=fixed_labels).train()


def own_rewards(self, inputs):
    """Rewards made elsewhere, as in axolotl's trainer for long sequences."""
    self._calculate_rewards = lambda *scored: torch.tensor([[0.0], [1.0]])
    return GRPOTrainer._generate_and_score_completions(self, inputs)


def changed(change):
    def score(self, inputs):
        output = GRPOTrainer._generate_and_score_completions(self, inputs)
        change(self, output)
        return output

    return {"_generate_and_score_completions": score}


def backwards(self, *scored):
    return GRPOTrainer._calculate_rewards(self, *scored).flip(0)


FAULTS = [
    ({"_generate_and_score_completions": own_rewards}, "rewards do not come from `_calculate_rew"),
    ({"_calculate_rewards": backwards}, r"must give the 2 rewards in order, .* \[1.0, 0.0\]"),
    (changed(lambda _, out: out.pop("advantages")), "must hold 2 numbers, and holds None"),
    (
        changed(lambda _, out: out["advantages"].unsqueeze_(1)),
        r"2 numbers, and holds \[\[-0.5",
    ),
    (changed(lambda _, out: out["advantages"].neg_()), "must have advantages around 0, and have"),
    (changed(lambda one, _: one._logs["advantages"].clear()), "log 2 advantages, and logs 0"),
    ({"_calculate_rewards": lambda self, inputs: None}, r"has _calculate_rewards\(self, inputs\) "),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS)
def test_trainers_that_score_otherwise_are_refused(make_chat, changes, message):
    kind = type("SetLater", (SetCredit, type("Later", (GRPOTrainer,), changes)), {})
    with pytest.raises(ConfigError, match=f"this trainer of TRL .*: .*{message}.*; it was tested"):
        make_chat(METHOD, kind=kind, strategy_func=fixed_labels)


def test_a_class_without_the_methods_is_refused():
    class Other:
        def _generate(self, prompts):
            return prompts

    with pytest.raises(TypeError, match=r"Other has no method _calculate_rewards\(inputs, prom"):
        set_credit(Other)


def raising(self, inputs):
    raise OSError("no such device")


def test_a_version_that_was_not_tested_is_tried(make_chat, monkeypatch):
    monkeypatch.setattr(seam.trl, "__version__", "1.99.0")
    with pytest.warns(UserWarning, match=r"and this is 1.99.0: what it needs of TRL was tried"):
        make_chat(METHOD, strategy_func=fixed_labels)
    kind = type("Later", (GRPOTrainer,), {"_generate_and_score_completions": raising})
    with pytest.raises(ConfigError, match=r"TRL 1.99.0: Later cannot score .*no such device"):
        make_chat(METHOD, kind=set_credit(kind), strategy_func=fixed_labels)


def test_the_version_that_needs_triton_is_refused_on_a_cpu(make_chat, monkeypatch):
    monkeypatch.setattr(seam.trl, "__version__", "1.15.0")
    with pytest.raises(ConfigError, match=r"TRL 1.15.0 does not train on the device cpu, .* trl=="):
        make_chat(METHOD, strategy_func=fixed_labels)


def test_a_tested_version_that_cannot_be_tried_is_warned_of(make_chat):
    kind = type("Patched", (GRPOTrainer,), {"_generate_and_score_completions": raising})
    with pytest.warns(UserWarning, match="Patched cannot score .*: set credit was not checked"):
        make_chat(METHOD, kind=set_credit(kind), strategy_func=fixed_labels)


def test_the_trial_calls_nobody_and_leaves_nothing(make_chat):
    asked = []

    def rewards(completions, **_):
        asked.append(completions)
        return fixed_rewards(completions)

    trainer = make_chat(METHOD, rewards, strategy_func=fixed_labels)
    assert asked == []
    assert trainer.reward_funcs[0].__name__ == "rewards"
    assert "_generate_single_turn" not in vars(trainer)
    assert not trainer._metrics["train"]
    assert not trainer._metrics["eval"]
    assert not trainer._logs["advantages"]
    assert trainer.state.num_input_tokens_seen == 0


def test_adapters_start_from_the_seed_of_the_arguments(make_chat):
    """Before TRL 1.15 they start from the random numbers of the process."""

    def adapters(kind):
        torch.rand(3)
        config = LoraConfig(r=2, target_modules="all-linear", init_lora_weights=False)
        made = make_chat(METHOD, peft_config=config, strategy_func=fixed_labels)
        return torch.cat([one.flatten() for one in made.model.parameters() if one.requires_grad])

    assert torch.equal(adapters(0), adapters(1))
