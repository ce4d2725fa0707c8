"""What TRL's own trainer does and ours does not, or does wrongly without a word."""

import os
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import pytest
import torch
import trl
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3ForSequenceClassification,
)
from trl import GRPOConfig, GRPOTrainer

from setrl import Method
from setrl.core import methods, objectives
from setrl.engines.trl import SetGRPOTrainer
from setrl.errors import RunError

PROMPTS = [[{"role": "user", "content": text}] for text in ("one", "two", "three", "four")]
REWARDS = [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]
LABELS = [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A tiny random model of bytes, with a chat template that knows tools."""
    folder = tmp_path_factory.mktemp("model")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    whole = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    templates = Path(trl.__file__).parent / "chat_templates"
    whole.chat_template = (templates / "qwen3.jinja").read_text()
    whole.save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        Qwen3ForCausalLM(config_of(whole)).save_pretrained(folder)
    return folder


def config_of(tokenizer, **changes):
    sizes = dict.fromkeys(("hidden_size", "intermediate_size", "head_dim"), 32)
    heads = dict.fromkeys(("num_attention_heads", "num_key_value_heads", "num_hidden_layers"), 1)
    return Qwen3Config(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=True,
        **sizes,
        **heads,
        **changes,
    )


@pytest.fixture
def make(base, tmp_path):
    """A trainer of one step of two prompts with four samples each."""
    torch.set_num_threads(1)

    def make(method, rewards=None, scale_rewards="group", **others):
        args = GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=8,
            num_generations=4,
            max_completion_length=4,
            scale_rewards=scale_rewards,
            shuffle_dataset=False,
            seed=5,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            logging_steps=1,
            model_init_kwargs={"dtype": "float32"},
        )
        data = Dataset.from_dict({"prompt": PROMPTS})
        rewards = fixed_rewards if rewards is None else rewards
        return SetGRPOTrainer(str(base), rewards, args, data, method=method, **others)

    return make


def step(trainer):
    """The batch of one step."""
    batches = []
    trainer.on_batch = batches.append
    trainer.train()
    return batches[0]


def fixed_rewards(completions, **_):
    return REWARDS


def fixed_labels(completions, **_):
    return LABELS


class World:
    """An environment that gives the reward itself."""

    def reset(self, **_):
        return None

    def get_reward(self):
        return 100.0

    def look(self) -> str:
        """Look around."""
        return "nothing"


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="the environment's is last")
@pytest.mark.parametrize("factory", [World, lambda: World()], ids=["class", "function"])
def test_the_reward_of_an_environment_is_no_cluster(make, factory):
    trainer = make(methods.poly_epo(2), cluster_func=fixed_labels, environment_factory=factory)
    batch = step(trainer)
    np.testing.assert_array_equal(batch.clusters_BN.ravel(), LABELS)
    np.testing.assert_array_equal(batch.rewards_BN.ravel(), np.add(REWARDS, 100.0))


@pytest.mark.xfail(strict=True, raises=(AttributeError, ValueError), reason="none are refused")
@pytest.mark.parametrize("rewards", [None, []])
def test_an_environment_may_own_all_rewards(base, make, rewards):
    """TRL takes both for none."""
    args = make(methods.grpo()).args
    trainer = SetGRPOTrainer(
        str(base),
        rewards,
        args,
        Dataset.from_dict({"prompt": PROMPTS}),
        method=methods.grpo(),
        environment_factory=World,
    )
    np.testing.assert_array_equal(step(trainer).rewards_BN, np.full((2, 4), 100.0))


@pytest.mark.xfail(strict=True, raises=AssertionError, reason="args is required")
@pytest.mark.parametrize("more", [{}, {"args": None}], ids=["missing", "None"])
def test_there_may_be_no_args(base, tmp_path, monkeypatch, more):
    """As with TRL's, whose defaults may not fit the machine."""
    monkeypatch.chdir(tmp_path)

    def answer(kind, **own):
        data = Dataset.from_dict({"prompt": PROMPTS})
        try:
            return type(kind(str(base), fixed_rewards, train_dataset=data, **own, **more).args)
        except Exception as error:
            return str(error)

    assert answer(SetGRPOTrainer, method=methods.grpo()) == answer(GRPOTrainer)


@pytest.mark.xfail(strict=True, raises=TypeError, reason="unexpected keyword has_tool_images")
@pytest.mark.parametrize("count", [1, 3])
def test_samples_after_a_tool_call(make, count):
    """The call that TRL 1.16 makes for what follows the answer of a tool."""
    trainer = make(methods.grpo())
    ids, _ = trainer._generate_single_turn(
        [[1, 2]] * count, None, None, num_generations=1, has_tool_images=False
    )
    assert len(ids) == count


class Slow:
    """An object with an asynchronous call."""

    def __init__(self, values):
        self.values = values

    async def __call__(self, completions, **_):
        return self.values


@pytest.mark.xfail(strict=True, raises=RunError, reason="a coroutine is taken for the values")
@pytest.mark.parametrize("part", ["rewards", "cluster_func"])
def test_objects_with_an_async_call(make, part):
    usual = {"rewards": fixed_rewards, "cluster_func": fixed_labels}
    slow = {"rewards": Slow(REWARDS), "cluster_func": Slow(LABELS)}
    batch = step(make(methods.poly_epo(2), **{**usual, part: slow[part]}))
    np.testing.assert_array_equal(batch.rewards_BN.ravel(), REWARDS)
    np.testing.assert_array_equal(batch.clusters_BN.ravel(), LABELS)


@pytest.mark.xfail(strict=True, raises=ValueError, reason="too many dimensions 'str'")
@pytest.mark.parametrize("names", ["abcdabcd", ["factor", "square"] * 4])
def test_an_async_cluster_function_may_give_names(make, names):
    async def named(completions, **_):
        return list(names)

    labels_BN = step(make(methods.poly_epo(2), cluster_func=named)).clusters_BN
    same = np.equal.outer(list(names), list(names))
    np.testing.assert_array_equal(np.equal.outer(labels_BN.ravel(), labels_BN.ravel()), same)


@pytest.mark.xfail(strict=True, raises=ValueError, reason="one processing class for two columns")
@pytest.mark.parametrize("wrap", [list, lambda ones: ones[0]], ids=["list", "alone"])
def test_a_reward_model_beside_a_cluster_function(base, make, wrap):
    tokenizer = PreTrainedTokenizerFast.from_pretrained(base)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = Qwen3ForSequenceClassification(config_of(tokenizer, num_labels=1))
    trainer = make(
        methods.poly_epo(2),
        rewards=[model],
        cluster_func=fixed_labels,
        reward_processing_classes=wrap([tokenizer]),
    )
    batch = step(trainer)
    assert np.isfinite(batch.rewards_BN).all()
    np.testing.assert_array_equal(batch.clusters_BN.ravel(), LABELS)


@pytest.mark.xfail(strict=True, raises=RunError, reason="the run ends with an error")
@pytest.mark.parametrize("method", [methods.grpo(), methods.poly_epo(2)], ids=["grpo", "poly_epo"])
def test_a_step_without_any_reward_trains_on_nothing(make, method):
    trainer = make(method, rewards=lambda completions, **_: [None] * 8, cluster_func=fixed_labels)
    before = [weight.detach().clone() for weight in trainer.model.parameters()]
    assert (step(trainer).advantages.values_BN == 0).all()
    assert all(map(torch.equal, before, trainer.model.parameters()))


@pytest.mark.xfail(strict=True, raises=pytest.fail.Exception, reason="nothing is said")
@pytest.mark.parametrize("scale", ["batch"])
def test_a_scale_without_effect_is_announced(make, scale):
    with pytest.warns(UserWarning, match="scale_rewards"):
        make(methods.grpo(), scale_rewards=scale)


def hollow(rewards):
    """An objective that is undefined."""
    return np.full(rewards.shape[:-1], np.nan)


@pytest.mark.parametrize("set_size", [1, 2])
def test_nan_of_an_objective_ends_the_step_by_name(make, set_size):
    trainer = make(Method("own", objectives.from_function(hollow), set_size=set_size))
    with pytest.raises(Exception, match="hollow"):
        trainer.train()
