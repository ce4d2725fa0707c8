"""Two processes, with a group that straddles them."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np

from setrl import methods

PROGRAM = """
    import json, os, sys
    import torch
    from datasets import Dataset
    from setrl import methods
    from setrl.domains import by_name
    from setrl.training.rewards import Verifier
    from setrl.training.sampler import sample_ids
    from setrl.training.trainer import SetGRPOTrainer
    from trl import GRPOConfig

    torch.set_num_threads(1)
    base, out = sys.argv[1:]
    rank, batches, entered = os.environ["RANK"], [], []

    class Losses(SetGRPOTrainer):
        def _compute_loss(self, model, inputs):
            entered.append(inputs["advantages"].tolist())
            return super()._compute_loss(model, inputs)

    verifier = Verifier(by_name("polynomial"))

    def length(completions, **_):
        return [float(len(text)) for text in completions]

    trainer = Losses(
        base,
        length,
        GRPOConfig(
            out, max_steps=2, per_device_train_batch_size=6, num_generations=4, seed=1,
            max_completion_length=8, shuffle_dataset=False, use_cpu=True, bf16=False,
            activation_checkpointing=False, dataloader_pin_memory=False, report_to=[],
            save_strategy="no", model_init_kwargs={"dtype": "float32"},
        ),
        Dataset.from_dict({"prompt": ["y=x, x!=1: ", "y=2x, x!=1: ", "y=3x, x!=1: "] * 2}),
        method=methods.poly_epo(2),
        cluster_func=lambda completions, **_: [len(text) % 5 for text in completions],
        sampler=sample_ids,
        on_batch=batches.append,
    )
    trainer.train()
    weights = torch.cat([weight.flatten() for weight in trainer.model.parameters()])
    with open(f"{out}/{rank}.json", "w") as file:
        json.dump({
            "entered": entered,
            "checksum": weights.double().sum().item(),
            "batches": [
                [b.prompts_B, b.texts_BN, b.rewards_BN.tolist(), b.clusters_BN.tolist(),
                 b.advantages.values_BN.tolist()] for b in batches
            ],
        }, file)
"""


def test_credit_is_that_of_whole_groups(base, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    command += ["--master_addr", "127.0.0.1", "--master_port", "0", "--rdzv_backend", "c10d"]
    command += ["--rdzv_endpoint", "127.0.0.1:0", str(program), str(base), str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=180
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    ranks = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in (0, 1)]
    assert ranks[0]["batches"] == ranks[1]["batches"]
    assert ranks[0]["checksum"] == ranks[1]["checksum"]
    for step, (prompts, texts_BN, *arrays) in enumerate(ranks[0]["batches"]):
        rewards_BN, clusters_BN, values_BN = map(np.array, arrays)
        assert prompts == ["y=x, x!=1: ", "y=2x, x!=1: ", "y=3x, x!=1: "]
        assert rewards_BN.tolist() == [[len(text) for text in texts] for texts in texts_BN]
        expected_BN = methods.poly_epo(2).advantages(rewards_BN, clusters=clusters_BN).values_BN
        np.testing.assert_array_equal(values_BN, expected_BN)
        assert np.ptp(expected_BN[1]) > 0  # the group that straddles the two
        local = expected_BN.astype(np.float32).reshape(2, 6)
        for rank in (0, 1):  # TRL shuffles the rows of a process
            assert sorted(ranks[rank]["entered"][step]) == sorted(local[rank].tolist())
