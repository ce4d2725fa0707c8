"""`make verifiers`: the snippet of docs/engines.md with the classes of the released package.

It loads the snippet as a plug-in, as prime-rl does, and has its Env run whole episodes: the
attempts of a group at once, then `finalize`. In the place of a model a stand-in ends each attempt
with a reward and a strategy. The rewards, minus their mean as prime-rl's `grpo` does in float32,
must be the core's advantages.
"""

import asyncio
import re
import sys
import types
from pathlib import Path

import numpy as np
import verifiers.v1 as vf
from verifiers.v1.agent import Agents
from verifiers.v1.trace import AgentInfo, Trace, TraceTask
from verifiers.v1.utils.loaders import load_environment, resolve_env_config

from setrl import methods

DOCS = Path(__file__).parents[2] / "docs" / "engines.md"
GROUPS, N = 50, 8


class Rows(vf.Taskset[vf.Task, vf.TasksetConfig]):
    def load(self):
        yield vf.Task(vf.TaskData(prompt="2 + 2"))


def plug_in(name, **contents):
    """What a package that is installed would export."""
    module = types.ModuleType(name)
    module.__dict__.update(contents, __all__=list(contents))
    module.__spec__ = types.SimpleNamespace(name=name)
    sys.modules[name] = module


def snippet():
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    space = {}
    exec(next(block for block in blocks if "BestOfNEnv" in block), space)
    return {name: space[name] for name in space["__all__"]}


def attempts(drawn, episode_traces, config):
    """An agent whose attempts end as `drawn` says, in any order."""

    async def run(task):
        reward, strategy, ok = next(drawn)
        await asyncio.sleep(0.001 * reward)
        about = TraceTask(type="Task", data=task.data)
        trace = Trace(task=about, agent=AgentInfo(config=config.agent), ok=ok, is_completed=True)
        trace.info["strategy"] = f"strategy {strategy}"
        trace.record_reward("right", float(reward))
        episode_traces.append(trace)

    return Agents(config, lambda name, spec: types.SimpleNamespace(run=run))


def credited(env, task, rows):
    drawn = iter(rows)
    env._episode_agents = lambda ctx, traces, *_: attempts(drawn, traces, env.config)
    return asyncio.run(env.run_episode(task, None))


def compare(episode):
    """The largest difference of a group from the core, in float32."""
    good = [trace for trace in episode.traces if trace.ok]
    rewards = [trace.metrics["task_reward"] for trace in good]
    labels = [int(trace.info["strategy"].split()[1]) for trace in good]
    given = np.array([trace.reward for trace in good], dtype=np.float32)
    want = methods.poly_epo(4).advantages([rewards], strategies=[labels]).values_BN[0]
    return float(np.abs(given - given.mean() - want).max()), float(np.abs(want).max())


def main():
    plug_in("rows", Rows=Rows)
    plug_in("sets", **snippet())
    env = load_environment(resolve_env_config({"id": "sets", "taskset": {"id": "rows"}, "n": N}))
    [task], rng, found = list(env.taskset), np.random.default_rng(0), []
    for _ in range(GROUPS):
        ok = rng.permutation([False, *[True] * (N - 1)])
        rows = zip(rng.integers(0, 2, N), rng.integers(0, 3, N), map(bool, ok), strict=True)
        episode = credited(env, task, rows)
        assert not episode.errors, episode.errors
        assert [trace.ok for trace in episode.traces].count(False) == 1
        found.append(compare(episode))
    largest, size = np.max(found, axis=0)
    print(f"verifiers: |A − A of the core| ≤ {largest:.1e} over {GROUPS} groups, |A| ≤ {size:.2f}")
    assert largest < 1e-6 < size


if __name__ == "__main__":
    main()
