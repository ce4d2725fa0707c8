"""Two processes, with a group that straddles them."""

import json
import os
import socket
import subprocess
import sys
import textwrap

import numpy as np

from setrl import files, methods
from setrl.logs.run_folder import training_run

PROGRAM = """
    import json, os, sys
    from pathlib import Path
    import torch
    from datasets import Dataset
    from setrl import methods
    from setrl.lm import ComparisonConfig, run_comparison
    from setrl.models.sampler import sample_ids
    from setrl.engines.trl import SetGRPOTrainer
    from trl import GRPOConfig

    torch.set_num_threads(1)
    base, out, port = sys.argv[1:]
    # The imports take longest: they are done once, and only then is this process two.
    child = os.fork()
    rank = "1" if child == 0 else "0"
    os.environ |= {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    batches, entered = [], []

    class Losses(SetGRPOTrainer):
        def _compute_loss(self, model, inputs):
            entered.append(inputs["advantages"].tolist())
            return super()._compute_loss(model, inputs)

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
    config = ComparisonConfig.load(f"{out}/config.yaml")
    run_comparison(config, f"{out}/run", cache=Path(base).parent)
    torch.distributed.destroy_process_group()
    if child and os.waitpid(child, 0)[1]:
        sys.exit("the process of rank 1 failed")
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_credit_is_that_of_whole_groups(make_config, base, tmp_path):
    config = make_config(prompts_per_step=3, micro_batch_size=6, steps=2)
    (tmp_path / "config.yaml").write_text(config.to_yaml())
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, str(program), str(base), str(tmp_path), str(free_port())]
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

    # And a comparison: all processes train each arm, the first one writes.
    for arm in config.arms:
        run = training_run(tmp_path / "run", arm, 0)
        assert [record["step"] for record in files.read_lines(run.metrics)] == [1, 2]
        assert (run.final / "model.safetensors").exists()
    assert files.read_json(tmp_path / "run" / "run.json")["status"] == "finished"
