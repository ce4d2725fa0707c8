"""A stand-in for verifiers 0.4: what `setrl.tasks.verifiers` reads of it, as modules."""

import asyncio
import sys
import types
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Message:
    content: Any = None
    tool_calls: Any = None
    tool_call_id: str = ""
    name: str | None = None
    role: str = ""

    def model_dump(self, **_):
        return {"role": self.role, "content": self.content}


def of_role(role):
    return lambda **given: Message(role=role, **given)


@dataclass
class Trace:
    task: Any
    agent: Any
    is_completed: bool
    ok: bool
    nodes: list = field(default_factory=list)
    rewards: dict = field(default_factory=dict)

    @property
    def reward(self):
        return sum(self.rewards.values())

    @property
    def last_reply(self):
        said = [node.message for node in self.nodes if node.message.role == "assistant"]
        return said[-1].content


@dataclass
class Task:
    data: Any
    config: Any = None
    NEEDS_CONTAINER = False
    key = hash = "k"

    async def setup(self, trace, runtime): ...

    async def finalize(self, trace, runtime): ...

    def hooks(self, kind):
        return [getattr(self, name) for name in dir(self) if name.startswith("reward_")]

    async def score(self, trace):
        await asyncio.sleep(0)
        trace.rewards = {one.__name__: one(trace) for one in self.hooks("reward")}

    @classmethod
    def toolsets(cls, config):
        return []


class Toolset:
    async def setup(self): ...


def tool(function):
    function.tool = True
    return function


def install(monkeypatch, **tasksets):
    """Put the stand-in where `import verifiers.v1` finds it, with these task sets by id."""
    for own in (Task, Toolset):
        own.__module__ = "verifiers.v1.stand_in"
    v1 = types.ModuleType("verifiers.v1")
    v1.__dict__.update(
        Trace=Trace,
        TraceTask=types.SimpleNamespace,
        AgentInfo=types.SimpleNamespace,
        MessageNode=types.SimpleNamespace,
        ToolCall=types.SimpleNamespace,
        SystemMessage=of_role("system"),
        UserMessage=of_role("user"),
        AssistantMessage=of_role("assistant"),
        ToolMessage=of_role("tool"),
    )

    def load_taskset(config):
        if config["id"] not in tasksets:
            raise ModuleNotFoundError(f"taskset {config['id']!r} not found")
        rows = tasksets[config["id"]]
        found = list(rows(**config["args"]) if callable(rows) else rows)
        return type("Rows", (list,), {"bounded": config["id"] != "endless"})(found)

    loaders = types.ModuleType("verifiers.v1.utils.loaders")
    loaders.load_taskset = load_taskset
    loaders.taskset_config_type = lambda name: lambda id, **args: {"id": id, "args": args}
    decorators = types.ModuleType("verifiers.v1.utils.decorators")
    decorators.discover_decorated = lambda one, mark: [
        getattr(one, name) for name in dir(one) if hasattr(getattr(one, name), mark)
    ]
    agent = types.ModuleType("verifiers.v1.configs.agent")
    agent.AgentConfig = types.SimpleNamespace
    package = types.ModuleType("verifiers")
    package.__spec__, package.v1 = types.SimpleNamespace(name="verifiers"), v1
    utils = types.ModuleType("verifiers.v1.utils")
    utils.loaders, utils.decorators = loaders, decorators
    for module in (package, v1, utils, loaders, decorators, agent):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "verifiers.v1.configs", types.ModuleType("configs"))
