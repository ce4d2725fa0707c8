"""Task sets of the verifiers library as tasks, with a stand-in (`make verifiers`: released)."""

import inspect
from types import SimpleNamespace

import pytest

from setrl import tasks
from setrl.support.errors import ConfigError
from setrl.tasks import verifiers as adapter
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.resolved import resolve
from tests.tasks import fake_verifiers as fake


class Sum(fake.Task):
    def reward_right(self, trace):
        return float(trace.last_reply == self.data.gold)

    def reward_used(self, trace):
        calls = [one for node in trace.nodes for one in node.message.tool_calls or []]
        answers = [node.message for node in trace.nodes if node.message.role == "tool"]
        assert [one.id for one in calls] == [one.tool_call_id for one in answers]
        return 0.5 * bool(calls)


class Tools(fake.Toolset):
    @fake.tool
    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @fake.tool
    async def wait(self) -> str:
        """Wait."""
        return "done"


class WithTools(Sum):
    @classmethod
    def toolsets(cls, config):
        return [Tools()]


class WithServer(Sum):
    @classmethod
    def toolsets(cls, config):
        return [type("Slow", (Tools,), {"setup": lambda self: None})()]


def data(i, system=None, prompt=None):
    prompt = f"{i} + {i}?" if prompt is None else prompt
    return SimpleNamespace(id=None, prompt=prompt, system_prompt=system, gold=str(2 * i))


def sums(kind=Sum, count=12, **more):
    return [kind(data(i, **more)) for i in range(count)]


class NeedsRuntime(Sum):
    def reward_file(self, trace, runtime):
        return 1.0


class NeedsSetup(Sum):
    async def setup(self, trace, runtime): ...


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    turns = [fake.Message("Hi", role="user"), fake.Message("Yes?", role="assistant")]
    fake.install(
        monkeypatch,
        sums=lambda count=12: sums(count=count),
        told=sums(system="Be brief."),
        turns=sums(prompt=[*turns, fake.Message("1 + 1?", role="user")]),
        tools=sums(WithTools),
        server=sums(WithServer),
        endless=sums(),
        runtime=sums(NeedsRuntime),
        setup=sums(NeedsSetup),
        empty=[],
        user=[Sum(SimpleNamespace(id=None, prompt=None, system_prompt=None))],
    )
    adapter.tasks_of.cache_clear()
    yield
    adapter.tasks_of.cache_clear()


def task_of(name="sums", **keys):
    return tasks.from_config(task={"verifiers": name, "splits": {"test": 3}, **keys})


def test_prompts_and_rewards_are_those_of_the_task_set():
    task = task_of(args={"count": 9})
    assert {split: len(task.usable(split)) for split in task.splits} == {"train": 6, "test": 3}
    [problem, *_] = task.usable("test")
    gold = str(2 * problem.columns["index"])
    call = {"type": "function", "function": {"name": "add", "arguments": {"a": 1, "b": 1}}}
    tool_use = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "add", "content": "2"},
        {"role": "assistant", "content": gold},
    ]
    samples = [gold, "no", [{"role": "assistant", "content": gold}], tool_use]
    columns = {key: [value] * 4 for key, value in problem.columns.items()}
    [reward] = task.rewards
    assert reward(prompts=[""] * 4, completions=samples, **columns) == [1.0, 0.0, 1.0, 1.5]
    found = task.problems("test", None, 0)
    assert [one.correct for one in found.read(found.problems[0], ["no", "x"])] == [False, False]


def test_several_turns_and_system_messages_are_conversations():
    [one, *_] = task_of("turns", splits={"train": 1.0}).usable("train")
    assert [message["role"] for message in one.prompt.messages] == ["user", "assistant", "user"]
    [told, *_] = task_of("told").usable("train")
    assert told.prompt == f"{told.columns['index']} + {told.columns['index']}?"
    assert told.prompt.messages[0] == {"role": "system", "content": "Be brief."}


def test_tools_are_functions_of_their_own():
    add, wait = task_of("tools").tools
    assert (add(2, b=3), wait()) == (5, "done")
    assert (add.__name__, add.__doc__) == ("add", "Add two numbers.")
    assert list(inspect.signature(add).parameters) == ["a", "b"]
    assert task_of().tools == []


def test_a_task_with_tools_is_trained_by_trl_and_not_evaluated_without_them(tmp_path):
    keys = {"name": "own", "model": "m", "arms": {"grpo": {"method": "grpo"}}}
    keys["task"] = {"verifiers": "tools"}
    with pytest.raises(ConfigError, match=r"eval_splits must be \[\] for a task with tools"):
        resolve(ComparisonConfig(**keys))
    assert len(resolve(ComparisonConfig(**keys, eval_splits=())).task.tools) == 2
    with pytest.raises(ConfigError, match="engine must be left out for a task with tools"):
        resolve(ComparisonConfig(**keys, eval_splits=(), engine={"tinker": "http://x"}))
    with pytest.raises(ConfigError, match="model must be given for this task"):
        ComparisonConfig(**{**keys, "model": None})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "taskset 'missing' not found"),
        ("endless", "endless never ends: set size"),
        ("runtime", "runtime needs a runtime for reward_file: run its episodes through prime-rl"),
        ("setup", "setup needs a runtime for setup"),
        ("empty", "empty has no task"),
        ("user", "user has no prompt"),
    ],
)
def test_what_needs_more_than_this_process_is_refused(name, said):
    with pytest.raises(ConfigError, match=said):
        task_of(name).usable("train")


def test_a_server_of_tools_is_refused_and_an_endless_set_is_cut():
    with pytest.raises(ConfigError, match="Slow has a setup, which needs a server of tools"):
        _ = task_of("server").tools
    assert len(task_of("endless", size=5).all_problems("train")) == 2
    with pytest.raises(ConfigError, match="args must go with verifiers, got"):
        tasks.from_config(task={"data": "x.jsonl", "args": {"a": 1}})
    with pytest.raises(ConfigError, match="levle"):
        task_of(args={"levle": 1}).usable("train")
