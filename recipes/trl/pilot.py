"""From samples of a base model to two trained arms and their comparison, in TRL: see README.md.

python recipes/trl/pilot.py
"""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

from datasets import Dataset
from tiny import is_prime, tiny_model
from transformers import PrinterCallback
from trl import GRPOConfig

from setrl import methods
from setrl.train import method_config
from setrl.trl import SetGRPOTrainer

OUT = Path("runs/pilot")
STEPS, PROMPTS, N, SAMPLES = 100, 4, 16, 64  # N samples a prompt in training, SAMPLES to measure
TOTALS = list(range(20, 100, 2))  # YOURS: the problems
SETTINGS = {"learning_rate": 1e-3, "max_completion_length": 8}  # YOURS: 1e-6, 512, …
MACHINE = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False}  # YOURS: {}
FILES = f"""
{OUT}/base.jsonl              samples of the base: setrl evaluate FILE
{OUT}/{{grpo,chosen}}           trainer_state.json: each step's figures; completions: each sample
{OUT}/{{grpo,chosen}}/final     the trained models
{OUT}/*_held_out.jsonl        their samples: setrl compare, setrl report FILES --output FOLDER
"""


def problems(totals):  # YOURS: a column `prompt`, and what the reward reads
    prompts = [f"Two primes with the sum {total}: " for total in totals]
    return Dataset.from_dict({"prompt": prompts, "total": totals})


def correct(completions, total, **_):  # YOURS: the reward
    pairs = [[int(n) for n in re.findall(r"\d+", text)] for text in completions]
    right = [len(pair) == 2 and all(map(is_prime, pair)) for pair in pairs]
    return [float(ok and sum(p) == n) for ok, p, n in zip(right, pairs, total, strict=True)]


def strategy(completions, **_):  # YOURS: the name of a sample's strategy, or −1
    pairs = [sorted(map(int, re.findall(r"\d+", text))) for text in completions]
    return [f"{pair[0]} + {pair[1]}" if len(pair) == 2 else -1 for pair in pairs]


def trainer_of(folder, model, totals, method, num_samples, prompts, **changes):
    """Return the trainer of a method, with every step and sample in its log."""
    logged = {"logging_steps": 1, "log_completions": True, "num_completions_to_print": 0}
    sizes = {"num_generations": num_samples, "per_device_train_batch_size": prompts * num_samples}
    quiet = {"report_to": "none", "save_strategy": "no", "disable_tqdm": True}
    args = GRPOConfig(str(folder), **{**SETTINGS, **MACHINE, **logged, **sizes, **quiet, **changes})
    given = {"reward_funcs": correct, "args": args, "train_dataset": problems(totals)}
    trainer = SetGRPOTrainer(model, method=method, strategy_func=strategy, **given)
    trainer.remove_callback(PrinterCallback)  # it prints a line a step
    return trainer


def train(name, *given, **changes):
    """Train in OUT/name."""
    trainer = trainer_of(OUT / name, *given, **changes)
    trainer.train()
    trainer.save_state()
    return trainer


def sample(name, model, totals):
    """Sample a model: train it with a learning rate of 0, one step for each prompt."""
    train(name, model, totals, methods.grpo(), SAMPLES, 1, learning_rate=0.0, max_steps=len(totals))
    columns = ("--reward", "correct", "--steps", f"1:{len(totals)}")
    setrl("import", "trl", OUT / name, *columns, "--output", OUT / f"{name}.jsonl")


def setrl(*words, show=True):
    """Run a command of setrl, and show what it prints, or return it."""
    if show:
        print("\n$ setrl", *words, flush=True)
    command = [sys.executable, "-m", "setrl", *map(str, words)]
    done = subprocess.run(command, stdout=None if show else subprocess.PIPE)
    if done.returncode:
        sys.exit(done.returncode)  # the command has said why
    return done.stdout


def main():
    """Sample, choose, train both arms, and compare them on problems that neither has seen."""
    warnings.simplefilter("ignore", FutureWarning)  # transformers writes some at each step
    held_out = TOTALS[3::4]
    seen = [total for total in TOTALS if total not in held_out]
    base = tiny_model(OUT / "model", TOTALS)  # YOURS: "Qwen/Qwen3-0.6B", or a folder

    sample("base", base, seen)
    asked = ("recommend", OUT / "base.jsonl", "--samples-per-prompt", N)
    setrl(*asked)
    chosen = json.loads(setrl(*asked, "--json", show=False))["methods"][0]  # or what you choose

    for name, config in {"grpo": {"method": "grpo"}, "chosen": chosen}.items():
        method = method_config.from_config(config)
        arm = train(name, base, seen, method, N, PROMPTS, max_steps=STEPS)
        arm.save_model(str(OUT / name / "final"))
        sample(f"{name}_held_out", str(OUT / name / "final"), held_out)
    setrl("compare", OUT / "grpo_held_out.jsonl", OUT / "chosen_held_out.jsonl")
    print(FILES)


if __name__ == "__main__":
    main()
