"""Configs so small that a step of training takes milliseconds; `base` is their base model."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import pytest
import torch

from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.resolved import resolve


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def tiny_config(**changes):
    values = {
        "name": "tiny",
        "domain": "polynomial",
        "arms": {"grpo": {"method": "grpo"}, "poly_epo": {"method": "poly_epo", "set_size": 2}},
        "steps": 6,
        "prompts_per_step": 2,
        "samples_per_prompt": 4,
        "checkpoint_every": 2,
        "rollouts_every": 3,
        "base_hidden_size": 64,
        "base_layers": 1,
        "base_mlp_size": 64,
        "base_corpus": 512,
        "base_batch_size": 32,
        "eval_splits": (),
    }
    return ComparisonConfig(**{**values, **changes})


def tiny(**changes):
    """The same config, resolved."""
    return resolve(tiny_config(**changes))


@pytest.fixture
def make_resolved():
    return tiny
