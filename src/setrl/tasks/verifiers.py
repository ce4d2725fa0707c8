"""Tasks of the verifiers library: its prompts, its rewards, and its tools inside this process.

A sample is turned into a trace of verifiers, a finished conversation, and the task's rewards score
it. Nothing else of an episode is run: no harness, no sandbox, no server of tools. So a task whose
setup or rewards need a runtime is refused; such episodes are for prime-rl (docs/engines.md).
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from setrl.samples.conversation import Text
from setrl.support.errors import ConfigError
from setrl.support.files.loading import is_reference, load
from setrl.support.installing import install
from setrl.tasks.tables import ProblemTable

_folders: dict[str, str] = {}  # the id of a task set → the folder where its module may be


def score(
    completions: Sequence[Text], verifiers: Sequence[str], index: Sequence[int], **_: Any
) -> list[float]:
    """Return the reward of each sample by its task: the weighted sum of the task's rewards.

    Args:
        completions: The samples: texts, or the messages that follow the prompt.
        verifiers: The task set of each sample: the column of that name.
        index: The place of each sample's task in its task set.
    """
    return asyncio.run(_scored(list(zip(verifiers, index, completions, strict=True))))


async def _scored(rows: Sequence[tuple[str, int, Text]]) -> list[float]:
    traces = [_trace(tasks_of(source)[place], sample) for source, place, sample in rows]
    tasks = [tasks_of(source)[place] for source, place, _ in rows]
    await asyncio.gather(*(task.score(one) for task, one in zip(tasks, traces, strict=True)))
    return [float(one.reward) for one in traces]


def source(identity: str, args: Mapping[str, Any] | None, size: int | None, folder: str) -> str:
    """Return the JSON text that decides the tasks of a task set.

    Raises:
        ConfigError: If verifiers or the task set is missing, refuses its arguments, or needs what
            this process does not have.
    """
    _folders[identity] = folder
    text = json.dumps({"id": identity, "args": dict(args or {}), "size": size})
    tasks_of(text)
    return text


def read(source: str) -> ProblemTable:
    """Return the prompts of a task set."""
    identity = json.loads(source)["id"]
    rows = [
        (
            f"verifiers {identity}, task {place}",
            {
                "id": str(place if task.data.id is None else task.data.id),
                "prompt": _prompt(task.data),
                "verifiers": source,
                "index": place,
            },
        )
        for place, task in enumerate(tasks_of(source))
    ]
    return ProblemTable(f"verifiers {identity}", tuple(rows))


def tools(source: str) -> list[Callable[..., Any]]:
    """Return the tools of a task set as functions, for a trainer that calls them while it samples.

    Raises:
        ConfigError: If a set of tools has a setup, which only a server of tools runs.
    """
    found, task = [], tasks_of(source)[0]
    for toolset in type(task).toolsets(task.config):
        if _overrides(toolset, "setup"):
            raise ConfigError(
                f"task.verifiers: {type(toolset).__name__} has a setup, which needs a server of "
                "tools: run its episodes through prime-rl (docs/engines.md)"
            )
        found += [_plain(method) for method in _decorated(toolset, "tool")]
    return found


def _plain(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool as a function of its own, which trainers describe to a model by its hints."""

    def call(*args: Any, **kwargs: Any) -> Any:
        found = method(*args, **kwargs)
        return asyncio.run(found) if inspect.iscoroutine(found) else found

    call.__name__ = getattr(method, "tool_name", None) or method.__name__
    call.__doc__ = method.__doc__
    call.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    call.__annotations__ = dict(method.__annotations__)
    return call


@lru_cache(maxsize=8)
def tasks_of(source: str) -> tuple[Any, ...]:
    """Return the tasks of a task set.

    Raises:
        ConfigError: If it cannot be loaded, or needs what this process does not have.
    """
    settings = json.loads(source)
    identity, size = settings["id"], settings["size"]
    loaders = _loaders(identity)
    try:
        config = loaders.taskset_config_type(identity)(id=identity, **settings["args"])
        taskset = loaders.load_taskset(config)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"task.verifiers: {identity}: {error}") from error
    if not taskset.bounded and size is None:
        raise ConfigError(f"task.verifiers: {identity} never ends: set size, a number of tasks")
    found = tuple(islice(taskset, size))
    if not found:
        raise ConfigError(f"task.verifiers: {identity} has no task")
    _refuse_runtime(identity, found[0])
    return found


def _refuse_runtime(identity: str, task: Any) -> None:
    """Refuse a task whose setup or rewards need a runtime, which only a harness gives."""
    needs = [name for name in ("setup", "finalize") if _overrides(task, name)]
    for function in task.hooks("reward"):
        runtime = inspect.signature(function).parameters.get("runtime")
        if runtime is not None and runtime.default is runtime.empty:
            needs.append(function.__name__)
    if task.NEEDS_CONTAINER or needs:
        raise ConfigError(
            f"task.verifiers: {identity} needs a runtime for {', '.join(needs) or 'its box'}: "
            "run its episodes through prime-rl (docs/engines.md)"
        )
    if task.data.prompt is None:
        raise ConfigError(
            f"task.verifiers: {identity} has no prompt: its user opens the conversation"
        )


def _overrides(one: Any, name: str) -> bool:
    """Whether a class outside verifiers defines a method."""
    owner = next((kind for kind in type(one).__mro__ if name in vars(kind)), None)
    return owner is not None and owner.__module__.partition(".")[0] != "verifiers"


def _prompt(data: Any) -> str | list[dict[str, Any]]:
    """Return the prompt of a task: text, or messages if there are several or a system message."""
    system = [] if data.system_prompt is None else [_message("system", data.system_prompt)]
    if isinstance(data.prompt, str):
        return [*system, _message("user", data.prompt)] if system else data.prompt
    return [*system, *(one.model_dump(mode="json", exclude_none=True) for one in data.prompt)]


def _message(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _trace(task: Any, sample: Text) -> Any:
    """Return the finished conversation of a sample as a trace of verifiers."""
    import verifiers.v1 as vf
    from verifiers.v1.configs.agent import AgentConfig

    prompt = _prompt(task.data)
    asked = [_message("user", prompt)] if isinstance(prompt, str) else prompt
    said = [_message("assistant", sample)] if isinstance(sample, str) else sample
    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
        agent=vf.AgentInfo(config=AgentConfig()),
        is_completed=True,
        ok=True,
    )
    for place, message in enumerate([*asked, *said]):
        sampled = place >= len(asked) and message["role"] == "assistant"
        trace.nodes.append(
            vf.MessageNode(
                parent=place - 1 if place else None, message=_typed(message, place), sampled=sampled
            )
        )
    return trace


def _typed(message: Mapping[str, Any], place: int) -> Any:
    """Return a trainer's message as one of verifiers'; ids of calls follow their places."""
    import verifiers.v1 as vf

    content = message.get("content")
    if message["role"] == "assistant":
        calls = [
            vf.ToolCall(id=f"{place + 1}", name=call["name"], arguments=_json(call["arguments"]))
            for each in message.get("tool_calls") or ()
            for call in [each.get("function", each)]
        ]
        return vf.AssistantMessage(content=content, tool_calls=calls or None)
    if message["role"] == "tool":
        name = message.get("name")
        return vf.ToolMessage(tool_call_id=f"{place}", content=content or "", name=name)
    kind = vf.SystemMessage if message["role"] == "system" else vf.UserMessage
    return kind(content=content)


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _decorated(one: Any, mark: str) -> list[Callable[..., Any]]:
    from verifiers.v1.utils.decorators import discover_decorated

    found: list[Callable[..., Any]] = discover_decorated(one, mark)
    return found


def _loaders(identity: str) -> Any:
    """Return the loaders of verifiers; a module in the folder of the config is imported first."""
    if importlib.util.find_spec("verifiers") is None:
        raise ConfigError(f"task.verifiers needs verifiers: {install('verifiers')}")
    from verifiers.v1.utils import loaders

    folder, name = Path(_folders.get(identity, ".")), identity.replace("-", "_").lower()
    if (folder / f"{name}.py").is_file() and is_reference(f"{name}:__all__"):
        load(f"{name}:__all__", folder)
    return loaders
