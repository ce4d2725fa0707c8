"""docs/your-own-task.md runs as it stands, with a tiny model in the place of its own."""

import contextlib
import io
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from setrl import methods
from tests import tiny_model

GUIDE = Path(__file__).parents[2] / "docs" / "your-own-task.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)
NAMED = '"Qwen/Qwen3-0.6B"'
LONG = "max_steps=200"


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """What the blocks leave behind, and what each printed beside what it shows."""
    folder = tmp_path_factory.mktemp("guide")
    model, namespace, printed = tiny_model.make(folder / "model"), {}, []
    with contextlib.chdir(folder):
        for code, shown in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
            out = io.StringIO()
            code = code.replace(NAMED, repr(str(model))).replace(LONG, "max_steps=2, use_cpu=True")
            with contextlib.redirect_stdout(out):
                exec(compile(code, str(GUIDE), "exec"), namespace)
            printed.append((out.getvalue(), shown))
    return SimpleNamespace(printed=printed, **namespace)


def test_blocks_print_what_they_show(guide):
    text = GUIDE.read_text(encoding="utf-8")
    assert NAMED in text
    assert LONG in text
    shown = [(printed, expected) for printed, expected in guide.printed if expected]
    assert len(shown) == 2
    for printed, expected in shown:
        assert printed == expected


def test_the_task_is_read_as_the_guide_says(guide):
    texts, totals = ["3 and 31", "31, 3", "17+17", "4+30", "", "5 5 5", "3 31"], [34] * 6 + [36]
    assert guide.correct(texts, totals) == [1, 1, 1, 0, 0, 0, 0]
    names = guide.strategy(texts)
    assert names[0] == names[1] != names[2]
    assert names[4] == -1
    history = guide.trainer.state.log_history
    assert history[0]["strategies/per_prompt"] >= 0
    assert guide.trainer.state.global_step == 2


def test_what_is_said_for_verl_is_the_methods(guide):
    rng = np.random.default_rng(0)
    uid = rng.permutation(["p", "q", "r"] * 8).astype(object)
    mask = torch.tensor(np.arange(5) < rng.integers(1, 6, (24, 1))).float()
    ends = mask * (mask.cumsum(1) == mask.sum(1, keepdim=True))
    rewards = ends * torch.tensor(rng.integers(0, 2, (24, 1))).float()
    cluster = rng.integers(0, 3, 24).astype(object)
    advantages, returns = guide.maxpo(rewards, mask, uid, config=None)
    assert returns is advantages
    data = SimpleNamespace(
        batch={"token_level_rewards": rewards, "response_mask": mask},
        non_tensor_batch={"uid": uid, "cluster": cluster},
    )
    guide.compute_advantage(data, "poly_epo", config=None)
    for name in "pqr":
        at = uid == name
        one = rewards.sum(1)[at][None]
        labels = cluster[at].astype(int)[None]
        expected = methods.maxpo(4).advantages(one).values_BN[0]
        np.testing.assert_allclose(advantages[at], expected.float()[:, None] * mask[at])
        expected = methods.poly_epo(4).advantages(one, clusters=labels).values_BN[0]
        got = data.batch["advantages"][at]
        np.testing.assert_allclose(got, expected.float()[:, None] * mask[at], atol=1e-7)
        assert got.abs().sum() > 0
