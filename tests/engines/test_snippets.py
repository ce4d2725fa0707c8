"""The blocks of docs/engines.md for engines that are not installed, with what those pass them.

Read in slime after 0.3.1 (`Sample`, `RolloutManager._post_process_rewards`), rLLM 0.3.0.pre
(`collect_reward_and_advantage_from_trajectory_groups`) and prime-rl 0.8 (`GRPOAlgorithm`), which
runs an Env of verifiers; with the released verifiers: `make verifiers`.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from setrl import methods
from tests.engines.conformance.groups import CASES, DEFINITIONS

pytestmark = pytest.mark.filterwarnings("ignore:no group has")
DOCS = Path(__file__).parents[2] / "docs" / "engines.md"
WANTED = DEFINITIONS["poly_epo"]


@pytest.fixture(autouse=True)
def pairs(monkeypatch):
    """The blocks have sets of 4, the groups here are credited by pairs."""
    four, two = methods.poly_epo(4), methods.poly_epo(2)
    monkeypatch.setattr(methods, "poly_epo", lambda size: {4: two}[size])
    assert four != two


def block(words, name="set_credit"):
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    [found] = [one for one in blocks if words in one]
    space = {}
    exec(found, space)
    return space[name]


@pytest.mark.parametrize("case", [name for name, one in CASES.items() if "bf16" not in one.needs])
@pytest.mark.parametrize("has_rollouts", [False, True])
def test_slime(case, has_rollouts):
    groups = CASES[case]
    rows = [(i, s, turn) for i, s in enumerate(groups.samples) for turn in range(s.rows)]
    if not has_rollouts:
        rows = [row for row in rows if row[2] == 0]
    samples = [
        SimpleNamespace(
            index=100 + place,
            rollout_id=i if has_rollouts else None,
            group_index=s.group,
            metadata={"strategy": s.label},
            get_reward_value=lambda args, s=s: s.reward,
        )
        for place, (i, s, _) in enumerate(rows)
    ]
    raw, found = block("def set_credit(args, samples)")(None, samples)
    want = WANTED(groups)
    np.testing.assert_equal(raw, [s.reward for _, s, _ in rows])
    np.testing.assert_allclose(found, [want[i] for i, _, _ in rows], atol=1e-12)


@pytest.mark.parametrize("case", [name for name, one in CASES.items() if "bf16" not in one.needs])
def test_rllm(case, monkeypatch):
    registry = {}
    module = ModuleType("rllm.trainer.algorithms.advantage")
    module.register_rllm_adv_estimator = lambda name: lambda f: registry.setdefault(name, f)
    for name in ("rllm", "rllm.trainer", "rllm.trainer.algorithms"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert block("register_rllm_adv_estimator")
    groups = CASES[case]
    members = [[groups.samples[i] for i in places] for places in groups.groups.values()]
    found, _ = registry["other"](
        rewards=[np.array([s.reward for s in one]) for one in members],
        algorithm_config=None,
        traj_groups=[
            SimpleNamespace(trajectories=[SimpleNamespace(info={"strategy": s.label}) for s in one])
            for one in members
        ],
    )
    want = WANTED(groups)
    for places, values in zip(groups.groups.values(), found, strict=True):
        np.testing.assert_allclose(values, [want[i] for i in places], atol=1e-12)


class Trace(SimpleNamespace):
    """A finished attempt of verifiers: rewards are added up."""

    @property
    def reward(self):
        return sum(self.rewards.values())

    def record_reward(self, name, value):
        self.rewards[name] = value

    def record_metric(self, name, value):
        self.metrics[name] = value


class BestOfNEnv:
    async def finalize(self, task, episode):
        best = max(trace.reward for trace in episode.traces)
        for trace in episode.traces:
            trace.record_metric("best", trace.reward == best)


@pytest.mark.parametrize("case", [name for name, one in CASES.items() if "bf16" not in one.needs])
def test_prime_rl(case, monkeypatch):
    for name in ("verifiers", "verifiers.v1", "verifiers.v1.envs", "verifiers.v1.envs.best_of_n"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    one, other = (sys.modules[f"verifiers.v1{end}"] for end in ("", ".envs.best_of_n"))
    one.Task = one.Episode = SimpleNamespace
    sys.modules["verifiers"].v1, other.BestOfNEnv = one, BestOfNEnv
    groups = CASES[case]
    env, want = block("BestOfNEnv", "SetEnv")(), WANTED(groups)
    for places in groups.groups.values():
        traces = [attempt(groups.samples[i]) for i in places]
        if not any(trace.ok for trace in traces):
            continue  # prime-rl trains on none of them
        asyncio.run(env.finalize(None, SimpleNamespace(traces=traces)))
        good = np.array([trace.ok for trace in traces])
        rewards = np.array([trace.reward for trace in traces])[good]
        np.testing.assert_allclose(
            rewards - rewards.mean(), np.array([want[i] for i in places])[good], atol=1e-12
        )
        assert all("best" in trace.metrics for trace in traces)


def attempt(sample):
    """One without a reward has failed; verifiers gives it 0, and prime-rl leaves it out."""
    ok = not np.isnan(sample.reward)
    rewards = {"right": sample.reward if ok else 0.0}
    return Trace(ok=ok, rewards=rewards, metrics={}, info={"strategy": sample.label})
