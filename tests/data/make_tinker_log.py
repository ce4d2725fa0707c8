"""Make tinker_cookbook/: iterations logged by the code of the released tinker-cookbook 0.5.4.

    .venv-cookbook/bin/python tests/data/make_tinker_log.py

Rollouts, loggers and exports are the package's own, called as its trainer calls them. Only the
model is made up: a completer that draws its answers, so that no server is needed. The samples of a
group end in another order than they began, as with a server. Trees of texts, which are not read,
are left out.
"""

import asyncio
import random
import shutil
import tempfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import tinker
from tinker_cookbook.completers import TokensWithLogprobs
from tinker_cookbook.rl import train
from tinker_cookbook.rl.metric_util import compute_trajectory_metrics
from tinker_cookbook.rl.problem_env import ProblemEnv, ProblemGroupBuilder
from tinker_cookbook.rl.rollout_logging import RolloutSummaryGroup
from tinker_cookbook.rl.rollouts import do_group_rollout
from tinker_cookbook.utils import ml_log
from tinker_cookbook.utils.misc_utils import iteration_dir

FOLDER = Path(__file__).parent / "tinker_cookbook"
QUESTIONS = ["12*3", "4*5", "6*2"]
N, ITERATIONS = 4, 3


class Letters:
    """A renderer whose tokens are letters."""

    def build_generation_prompt(self, messages):
        return tinker.ModelInput.from_ints([ord(c) for c in messages[-1]["content"]])

    def parse_response(self, tokens):
        ends = SimpleNamespace(is_clean=True, is_stop_sequence=True)
        return {"role": "assistant", "content": "".join(map(chr, tokens))}, ends

    def get_stop_sequences(self):
        return []


class Product(ProblemEnv):
    """One multiplication; the strategy of a sample is the sign that it writes."""

    def __init__(self, question):
        super().__init__(Letters())
        self.question = question

    def get_question(self):
        return self.question

    def get_reference_answer(self):
        return str(eval(self.question))

    def check_answer(self, sample_str):
        return sample_str.endswith(self.get_reference_answer())

    def check_format(self, sample_str):
        return "=" in sample_str

    async def step(self, action, *, extra=None):
        result = await super().step(action, extra=extra)
        result.logs["strategy"] = "sum" if chr(action[0]) == "+" else "product"
        return result


class Drawn:
    """A policy that draws its answers, each after a while of its own."""

    def __init__(self, rng):
        self.rng = rng

    async def __call__(self, model_input, stop, **_):
        question = "".join(map(chr, model_input.to_ints()))
        right = str(eval(question))
        sign, end = self.rng.choice("+*"), self.rng.choice([right, right, right + "0", ""])
        text = f"{sign}{question}" + (f"={end}" if end else "")
        await asyncio.sleep(self.rng.random() / 20)
        tokens = [ord(c) for c in text]
        return TokensWithLogprobs(tokens=tokens, maybe_logprobs=[-1.0] * len(tokens))


async def iteration(number, folder, logger, rng):
    """One batch: rollouts, their log, and metrics."""
    builders = [
        ProblemGroupBuilder(env_thunk=partial(Product, q), num_envs=N, dataset_name="products")
        for q in QUESTIONS
    ]

    Path(iteration_dir(folder, number)).mkdir(parents=True, exist_ok=True)
    groups = await asyncio.gather(*[do_group_rollout(one, Drawn(rng)) for one in builders])
    tags = [builder.logging_tags() for builder in builders]
    for base_name, split in (("train", "train"), ("eval_products", "eval/products")):
        if base_name == "train" or number != 1:
            train._maybe_export_rollout_summary_jsonl(
                config=SimpleNamespace(rollout_json_export=True),
                base_name=base_name,
                split=split,
                iteration=number,
                groups_P=[
                    RolloutSummaryGroup(
                        trajectory_group=group, tags=tag, sampling_client_step=number
                    )
                    for group, tag in zip(groups, tags, strict=True)
                ],
                store=logger.store,
            )
    metrics = {"progress/batch": number, "optim/lr": 1e-4, "optim/entropy": 1.0 - number / 10}
    logger.log_metrics(metrics | compute_trajectory_metrics(list(groups), tags), step=number)


async def main():
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        logger = ml_log.setup_logging(folder, config={"model_name": "drawn", "group_size": N})
        for number in range(ITERATIONS):
            await iteration(number, folder, logger, rng)
        logger.close()
        for path in sorted(Path(folder).rglob("*.json*")):
            copy = FOLDER / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


if __name__ == "__main__":
    asyncio.run(main())
