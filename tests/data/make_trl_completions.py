"""Make trl_completions/: three steps of TRL's own GRPOTrainer on a tiny random model.

    python tests/data/make_trl_completions.py

Two prompts are in the data set twice: one at steps 1 and 2, one at step 3 alone.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import datasets
import torch
from trl import GRPOConfig, GRPOTrainer

from tests import tiny_model

FOLDER = Path(__file__).parent / "trl_completions"
PROMPTS = ["12*3:", "4*5:", "6*2:", "12*3:", "8*3:", "5*5:", "7*8:", "9*9:", "7*8:"]


def short(completions, log_extra, **_):
    """1 for a sample of fewer than 30 characters; TRL's table gets a column of our own."""
    log_extra("strategy", [text[:1] for text in completions])
    return [float(len(text) < 30) for text in completions]


def brevity(completions, **_):
    return [1 / (1 + len(text)) for text in completions]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        args = GRPOConfig(
            output_dir=folder, max_steps=3, num_generations=4, per_device_train_batch_size=12,
            max_completion_length=12, log_completions=True, logging_steps=1, shuffle_dataset=False,
            use_cpu=True, bf16=False, gradient_checkpointing=False, dataloader_pin_memory=False,
            report_to=[], save_strategy="no", seed=0,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=str(tiny_model.make(Path(folder) / "model")),
            reward_funcs=[short, brevity],
            args=args,
            train_dataset=datasets.Dataset.from_dict({"prompt": PROMPTS}),
        )
        trainer.train()
        FOLDER.mkdir(exist_ok=True)
        for path in sorted(Path(folder, "completions").glob("*.parquet")):
            (FOLDER / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    main()
