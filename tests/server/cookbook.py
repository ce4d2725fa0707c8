"""`make cookbook`: the snippet of docs/engines.md with the classes of the released tinker-cookbook.

It gives trajectories of the cookbook to the snippet's builder, and the builder's rewards to the
cookbook's own `compute_advantages`; the result must be the core's advantages, in float32, also of
samples that a limit stopped, and of groups that lack samples which failed.
"""

import asyncio
import re
from pathlib import Path

import numpy as np
import tinker
from tinker_cookbook.completers import TokensWithLogprobs
from tinker_cookbook.rl.data_processing import compute_advantages
from tinker_cookbook.rl.types import Trajectory, TrajectoryGroup, Transition

from setrl import methods

try:
    from tinker_cookbook.rl.rollout_limits import (
        DEFAULT_LIMIT_STOP_REASONS,
        TerminationRewardPolicy,
    )
    from tinker_cookbook.rl.rollouts import _apply_zero_reward_on_limit
except ImportError:  # before 0.6 a limit lowers no reward
    TerminationRewardPolicy = None

DOCS = Path(__file__).parents[2] / "docs" / "engines.md"
GROUPS, N = 200, 8


def snippet():
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    space = {}
    exec(next(block for block in blocks if "compute_group_rewards" in block), space)
    return space["SetGroupBuilder"]


def trajectory(reward, strategy):
    asked = tinker.ModelInput.from_ints([1, 2])
    step = Transition(
        ob=asked,
        ac=TokensWithLogprobs(tokens=[3], maybe_logprobs=[-1.0]),
        reward=float(reward),
        episode_done=True,
        metrics={},
        logs={"strategy": f"strategy {strategy}"},
    )
    return Trajectory(transitions=[step], final_ob=asked)


def stop_some(rng, group, finals, logs):
    """Let the cookbook lower the rewards of samples that a limit stopped, as its config asks it."""
    if TerminationRewardPolicy is None:
        return
    for one in group:
        if rng.random() < 0.5:
            object.__setattr__(one, "stop_reason", DEFAULT_LIMIT_STOP_REASONS[0])
    _apply_zero_reward_on_limit(
        TerminationRewardPolicy(zero_reward_on_limit=True), group, finals, logs
    )


def main():
    rng, largest = np.random.default_rng(0), 0.0
    builder = snippet()(env_thunk=int, num_envs=N)
    for _ in range(GROUPS):
        rewards, strategies = rng.integers(0, 2, N), rng.integers(0, 3, N)
        left = rng.integers(5, N + 1)  # the others failed
        rewards, strategies = rewards[:left], strategies[:left]
        group = [trajectory(*pair) for pair in zip(rewards, strategies, strict=True)]
        final = asyncio.run(builder.compute_group_rewards(group, []))
        finals, logs = [one for one, _ in final], [one for _, one in final]
        stop_some(rng, group, finals, logs)
        whole = TrajectoryGroup(group, finals, logs)
        got = compute_advantages([whole])[0].numpy()
        want = methods.poly_epo(4).advantages([rewards], strategies=[strategies]).values_BN[0]
        largest = max(largest, float(np.abs(got - want).max()))
    print(f"tinker-cookbook: |A − A of the core| ≤ {largest:.1e} over {GROUPS} groups")
    assert largest < 1e-6


if __name__ == "__main__":
    main()
