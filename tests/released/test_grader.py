r"""The snippets of docs/grader.md with the released packages; `make graders` has them all.

Elsewhere the packages that are missing are skipped.
"""

# nothing of a package is imported where it is missing

import asyncio
import contextlib
import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "grader.md"
RIGHT, WRONG, SURD = r"So it is \boxed{0.5}.", r"\boxed{2}", r"\boxed{1+\sqrt{2}}"
ROWS = [(RIGHT, r"\frac{1}{2}", 1.0), (WRONG, r"\frac{1}{2}", 0.0), (SURD, r"\sqrt{2}+1", 1.0)]


def block(heading, **names):
    """Run the snippet below a heading, and return its names."""
    part = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    code = re.search(r"```python\n(.*?)```", part, re.DOTALL)[1]
    assert len([line for line in code.splitlines() if line.strip()]) <= 5
    exec(compile(code, heading, "exec"), names)
    return names


def test_trl(tmp_path):
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    from setrl_grader import trl_reward
    from tests import tiny_model

    folder = str(tiny_model.make(tmp_path / "model"))
    chat = [{"role": "user", "content": "x"}]
    problems = datasets.Dataset.from_list(
        [{"prompt": "x", "solution": gold, "level": 3} for _, gold, _ in ROWS]
    )
    args = trl.GRPOConfig(
        str(tmp_path), max_steps=1, num_generations=3, per_device_train_batch_size=3,
        max_completion_length=4, report_to=[], use_cpu=True, save_strategy="no",
    )  # fmt: skip
    trainer = block("TRL", model=folder, args=args, problems=problems)["trainer"]
    seen = []
    trainer.reward_funcs = [lambda **columns: seen.append(columns) or trl_reward(**columns)]
    trainer.train()
    columns = {**seen[0], "solution": [gold for _, gold, _ in ROWS]}
    texts = [text for text, *_ in ROWS]
    chats = [[*chat, {"role": "assistant", "content": text}] for text in texts]
    for completions in (texts, chats):  # with all that TRL passes
        found = trl_reward(**{**columns, "completions": completions})
        assert found == [reward for *_, reward in ROWS]


def test_verl():
    pytest.importorskip("verl")
    hydra = pytest.importorskip("hydra")
    import verl
    from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
    from verl.trainer.ppo.reward import get_custom_reward_fn

    overrides = re.findall(r"reward\.custom\S+=\S+", PAGE.read_text(encoding="utf-8"))
    folder = Path(verl.__file__).parent / "trainer" / "config"
    with hydra.initialize_config_dir(str(folder), version_base=None):
        config = hydra.compose("ppo_trainer", overrides)
    score = get_custom_reward_fn(config)
    for text, gold, reward in ROWS:
        found = score(data_source="math", solution_str=text, ground_truth=gold, extra_info={})
        assert found == {"score": reward, "acc": reward, "gold_read": 1.0}

    import numpy as np
    import torch
    from tensordict import TensorDict
    from verl import DataProto

    async def reward_of(text, gold):
        tokens = {"responses": torch.ones(1, 2, dtype=torch.long),
                  "attention_mask": torch.ones(1, 4, dtype=torch.long)}  # fmt: skip
        other = {"data_source": "math", "reward_model": {"ground_truth": gold}, "extra_info": {}}
        data = DataProto(
            TensorDict(tokens, batch_size=1),
            {name: np.array([value], dtype=object) for name, value in other.items()},
        )
        tokenizer = SimpleNamespace(decode=lambda ids, skip_special_tokens: text)
        return await NaiveRewardManager(config, tokenizer, score).run_single(data)

    async def all_at_once():
        return await asyncio.gather(*(reward_of(text, gold) for text, gold, _ in ROWS))

    found = asyncio.run(all_at_once())
    assert [each["reward_score"] for each in found] == [reward for *_, reward in ROWS]


def test_verifiers():
    vf = pytest.importorskip("verifiers.v1")
    from verifiers.v1.trace import AgentInfo, Trace, TraceTask

    class Data(vf.TaskData):
        answer: str

    made = block("verifiers and prime-rl", Data=Data)

    async def reward_of(text, gold):
        data = Data(prompt="x", answer=gold)
        about = TraceTask(type="Problem", data=data)
        trace = Trace(task=about, agent=AgentInfo(config=vf.AgentConfig()), root_reply=text)
        await made["Problem"](data).score(trace)
        return trace.reward

    for text, gold, reward in ROWS:
        assert asyncio.run(reward_of(text, gold)) == reward
    with pytest.raises(vf.TaskError, match="cannot be used"):
        asyncio.run(reward_of(RIGHT, "2x+"))


def test_inspect_ai(tmp_path):
    inspect_ai = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    samples = [Sample(input="x", target=gold) for _, gold, _ in ROWS]
    samples += [Sample(input="x", target=["7", "2"]), Sample(input="x", target="2x+")]
    texts = [text for text, *_ in ROWS] + [WRONG, WRONG]
    task = block("inspect_ai", problems=MemoryDataset(samples))["task"]

    @solver
    def written():  # instead of a model, whose tokens inspect_ai counts with a file of the network
        async def solve(state, generate):
            state.output = ModelOutput.from_content("none", texts[int(state.sample_id) - 1])
            return state

        return solve

    [log] = inspect_ai.eval(
        task, model="mockllm/model", solver=written(), log_dir=str(tmp_path), display="none"
    )
    assert log.status == "success", log.error
    scores = [sample.scores["setrl_math"] for sample in log.samples]
    assert [score.value for score in scores[:4]] == ["C", "I", "C", "C"]
    assert scores[4].value != scores[4].value  # NaN: unscored
    assert log.results.scores[0].metrics["accuracy"].value == 0.75


def test_lighteval():
    pytest.importorskip("lighteval")
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    settings = {"name": "x", "prompt_function": None, "hf_repo": "x", "hf_subset": "x"}
    [metric] = block("lighteval", settings=settings)["config"].metrics
    rows = [*ROWS, (RIGHT, "2x+", None)]
    docs = [Doc(query="x", choices=[gold], gold_index=0) for _, gold, _ in rows]
    responses = [ModelResponse(text=[text]) for text, *_ in rows]
    values = [each["setrl_math"] for each in apply_metric(responses, docs, [metric])]
    assert values[:3] == [reward for *_, reward in ROWS]
    assert metric.get_corpus_aggregations()["setrl_math"](values) == pytest.approx(2 / 3)


def test_math_verify_s_names():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        block("math-verify's names")
    part = PAGE.read_text(encoding="utf-8").partition("\n## math-verify's names\n")[2]
    assert printed.getvalue() == re.search(r"```text\n(.*?)```", part, re.DOTALL)[1]
