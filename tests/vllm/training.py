"""TRL's vLLM server mode with set credit, on a CPU: all of it but NCCL.

TRL copies the trained weights into the server through NCCL, which needs GPUs. Here its client
writes them to a file, and the server loads the file. What remains is TRL's own: which weights are
sent and when, the samples and their log-probabilities, the server's caches, and the correction of
the loss.
"""

from __future__ import annotations

import contextlib
import itertools
from unittest import mock

import numpy as np
from datasets import Dataset
from safetensors.torch import save_file
from transformers import PrinterCallback
from trl import GRPOConfig
from trl.generation.vllm_client import VLLMClient

from setrl import methods
from setrl.tasks import domains
from setrl.train.trl import SetGRPOTrainer

METHOD = methods.poly_epo(4)
PROMPTS, SAMPLES = 4, 8


@contextlib.contextmanager
def no_nccl(folder, is_sent=True):
    """TRL's client with files instead of NCCL; without `is_sent` it sends nothing."""
    numbers = itertools.count()

    def update(self, metadata, named_params):
        weights = {name: one.detach().clone() for name, one in named_params}
        assert [name for name, _, _ in metadata] == list(weights)
        target = folder / str(next(numbers))
        target.mkdir(parents=True)
        save_file(weights, target / "model.safetensors")
        asked = {"method": "reload_weights", "kwargs": {"weights_path": str(target)}}
        if is_sent:
            self._post(f"{self.base_url}/collective_rpc", json=asked)

    with (
        mock.patch.object(VLLMClient, "init_communicator"),
        mock.patch.object(VLLMClient, "update_named_params", update),
    ):
        yield


def train(server, model, judge, folder, steps, is_sent=True):
    """Train a few steps; the records of the steps, and what was scored."""
    domain, batches = domains.by_name("polynomial"), []

    def correct(prompts, completions, **_):
        pairs = zip(prompts, completions, strict=True)
        return [float(domain.read(*pair).correct) for pair in pairs]

    arguments = GRPOConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        use_vllm=True,
        vllm_mode="server",
        vllm_server_base_url=server.root,
        max_steps=steps,
        per_device_train_batch_size=PROMPTS * SAMPLES,
        num_generations=SAMPLES,
        max_completion_length=domain.max_new_tokens,
        learning_rate=1e-3,
        loss_type="dr_grpo",
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    problems = domain.problems("train", PROMPTS * steps, 0)
    with no_nccl(folder / "weights", is_sent):
        trainer = SetGRPOTrainer(
            str(model),
            correct,
            arguments,
            Dataset.from_dict({"prompt": [one.prompt for one in problems]}),
            method=METHOD,
            judge=judge,
            on_batch=batches.append,
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    logged = np.array(trainer._logs["advantages"])
    return [one for one in trainer.state.log_history if "reward" in one], batches, logged


def largest_difference(batches, logged):
    """The difference between the advantages in the last step's loss and the core's."""
    last = batches[-1]
    want = METHOD.advantages(last.samples.rewards, strategies=last.samples.strategies).values_BN
    return float(np.abs(want.ravel() - logged[-want.size :]).max())
