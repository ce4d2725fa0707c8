"""Agents: whole trajectories with tool calls as the members of a set, trained by GRPO and Poly-EPO.

    python recipes/calculator/train.py

It teaches a model of 0.4 million parameters to call two tools, trains it with each method in TRL's
own loop of tool calls, and prints what is left of the strategies. See README.md here.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from calculator import (
    add,
    correct,
    examples,
    make_calculator_tokenizer,
    multiply,
    problems,
    strategy,
)
from datasets import Dataset
from transformers import PrinterCallback, Qwen3ForCausalLM
from trl import GRPOConfig

from setrl import Method, methods
from setrl.evaluate import pass_at_k
from setrl.models.small.imitation import Course, taught_model
from setrl.models.small.sampler import sample_ids
from setrl.trl import SetGRPOTrainer

B, N = 8, 16  # problems of a step, samples of a problem
SAMPLES = 32  # samples of a problem in evaluation
TOKENS = 80  # of a whole conversation, with what the tools answer
CALLS = 4
METHODS = {"grpo": methods.grpo(), "poly_epo": methods.poly_epo(set_size=4)}


class Seen:
    """A reward function that keeps what it saw: of each problem, results and strategies."""

    __name__ = "correct"

    def __init__(self) -> None:
        self.right: dict[str, list[float]] = defaultdict(list)
        self.strategies: dict[str, list[str | int]] = defaultdict(list)

    def __call__(self, prompts, completions, result, **_):
        """Return the rewards."""
        rewards = correct(completions, result)
        rows = zip(prompts, rewards, strategy(completions), strict=True)
        for prompt, reward, label in rows:
            self.right[prompt[0]["content"]].append(reward)
            self.strategies[prompt[0]["content"]].append(label)
        return rewards

    def summary(self) -> dict:
        """Return pass@1, pass@8, and the strategies of right samples."""
        counts = [int(sum(rewards)) for rewards in self.right.values()]
        right = [
            [s for s, ok in zip(self.strategies[key], self.right[key], strict=True) if ok]
            for key in self.right
        ]
        kept = [set(strategies) - {-1} for strategies in right]
        shares = Counter(s for strategies in right for s in strategies)
        return {
            "pass@1": float(pass_at_k(counts, SAMPLES, 1).mean()),
            "pass@8": float(pass_at_k(counts, SAMPLES, 8).mean()),
            "strategies": sum(map(len, kept)) / len(kept),
            "shares": {s: n / shares.total() for s, n in shares.most_common(6)},
        }


def dataset(split: str, count: int | None = None) -> Dataset:
    chosen = problems(split)[:count]
    return Dataset.from_dict(
        {"prompt": [one.prompt for one in chosen], "result": [one.result for one in chosen]}
    )


def make_base(tokenizer, written: int, epochs: int):
    """Make a new model that has read written conversations, equally many by each way."""
    course = Course(epochs=epochs, batch_size=64, learning_rate=0.02, seed=0)
    return taught_model(
        tokenizer, (128, 256, 2), [*examples(tokenizer, written, 0)], course, "base", False
    )


def make_trainer(
    model, tokenizer, method: Method, steps: int, seed: int, folder: Path, problems_of_test: int
) -> SetGRPOTrainer:
    """Return TRL's trainer with two tools; the strategies are the labels."""
    args = GRPOConfig(
        str(folder),
        max_steps=steps,
        per_device_train_batch_size=B * N,
        per_device_eval_batch_size=16 * SAMPLES,
        num_generations=N,
        num_generations_eval=SAMPLES,
        max_completion_length=TOKENS,
        max_tool_calling_iterations=CALLS,
        learning_rate=1e-3,
        lr_scheduler_type="linear",
        loss_type="dr_grpo",
        seed=seed,
        logging_steps=1,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        dataloader_pin_memory=False,
    )
    trainer = SetGRPOTrainer(
        model,
        Seen(),
        args,
        dataset("train"),
        eval_dataset=dataset("test", problems_of_test),
        processing_class=tokenizer,
        tools=[add, multiply],
        method=method,
        strategy_func=strategy,
        sampler=sample_ids,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def measured(trainer: SetGRPOTrainer) -> dict:
    """Describe what the model does with the problems of the test."""
    seen = trainer.reward_funcs[0].__wrapped__
    seen.__init__()
    trainer.evaluate()
    return seen.summary()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--written", type=int, default=4000, help="conversations to learn from")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--problems", type=int, default=16, help="problems of the test")
    parser.add_argument("--base", type=Path, help="folder of a model to start from")
    parser.add_argument("--out", type=Path, default=Path("runs/calculator"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    tokenizer = make_calculator_tokenizer()
    start = time.perf_counter()
    if options.base is None:
        base = make_base(tokenizer, options.written, options.epochs)
        base.save_pretrained(options.out / "base")
        tokenizer.save_pretrained(options.out / "base")
    else:
        base = Qwen3ForCausalLM.from_pretrained(options.base, dtype=torch.float32)
    print(f"base model: {base.num_parameters():,} parameters, {seconds(start)}", flush=True)
    results = {}
    for seed in options.seeds:
        for name in options.method:
            start = time.perf_counter()
            model = type(base)(base.config)
            model.load_state_dict(base.state_dict())
            trainer = make_trainer(
                model,
                tokenizer,
                METHODS[name],
                options.steps,
                seed,
                options.out / name,
                options.problems,
            )
            if "base" not in results:
                results["base"] = report("base", measured(trainer), start)
                start = time.perf_counter()
            trainer.train()
            key = f"{name}, seed {seed}"
            results[key] = report(key, measured(trainer), start)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False))


def report(name: str, found: dict, start: float) -> dict:
    shares = ", ".join(f"{label} {share:.0%}" for label, share in found["shares"].items())
    print(
        f"{name}: pass@1 {found['pass@1']:.1%}, pass@8 {found['pass@8']:.1%}, "
        f"{found['strategies']:.2f} right strategies in {SAMPLES} samples ({seconds(start)})\n"
        f"    {shares}",
        flush=True,
    )
    return found


def seconds(start: float) -> str:
    return f"{time.perf_counter() - start:.0f} s"


if __name__ == "__main__":
    main()
