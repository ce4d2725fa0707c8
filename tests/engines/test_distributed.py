"""Two processes, with a group that straddles them. `make distributed` has more of them."""

import gc
import os
import sys
from pathlib import Path

import numpy as np
import torch

from setrl.logs.run import Run
from setrl.support import files
from setrl.train.lm.resolved import ResolvedConfig
from setrl.train.lm.run import run_comparison
from tests.distributed.run import check, free_port
from tests.distributed.training import METHOD, ROWS, SETTINGS, N, train

TRAINED = ("all", "fields", "judged")


def train_in_two(base, out, port, names):
    """Train the settings and a comparison in this process, rank 0, and in one that it forks."""
    torch.set_num_threads(1)
    gc.freeze()  # the end of each training searches for garbage
    child = os.fork()
    rank = "1" if child == 0 else "0"
    os.environ |= {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"}
    for name in names:
        torch.save(train(SETTINGS[name], base, out / name), out / f"{name}-{rank}.pt")
    run_comparison(ResolvedConfig.load(out / "config.yaml"), out / "run", cache=base.parent)
    torch.distributed.destroy_process_group()
    if child and os.waitpid(child, 0)[1]:
        sys.exit("the process of rank 1 failed")


def test_two_processes_train_as_one(make_resolved, base, forkserver, tmp_path):
    resolved = make_resolved(prompts_per_step=3, micro_batch_size=6, steps=2)
    (tmp_path / "config.yaml").write_text(resolved.config.to_yaml())
    given = (Path(base), tmp_path, str(free_port()), TRAINED)
    process = forkserver.Process(target=train_in_two, args=given, daemon=True)
    process.start()
    process.join(timeout=180)
    assert process.exitcode == 0
    for name in TRAINED:
        alone = train(SETTINGS[name], base, tmp_path / "alone" / name)
        ranks = [torch.load(tmp_path / f"{name}-{i}.pt", weights_only=False) for i in (0, 1)]
        check(alone, ranks)
        for prompts, texts_BN, rewards_BN, strategies_BN, values_BN, used in alone.batches:
            assert len(prompts) == ROWS // N == 3  # the second group straddles the two
            assert rewards_BN.tolist() == [[len(text) / 8 for text in row] for row in texts_BN]
            assert np.ptp(values_BN[1]) > 0
            requests = [["requests", "3.0"]] if SETTINGS[name].judged else []
            assert [one for one in used.tolist() if one[0] == "requests"] == requests
            if SETTINGS[name].method == METHOD:
                expected_BN = METHOD.advantages(rewards_BN, strategies=strategies_BN).values_BN
                np.testing.assert_array_equal(values_BN, expected_BN)

    # And a comparison: all processes train each arm, the first one writes.
    for arm in resolved.arms:
        run = Run(tmp_path / "run").seed(arm, 0)
        assert [record["step"] for record in files.read_lines(run.metrics_file)] == [1, 2]
        assert (run.final / "model.safetensors").exists()
    assert files.read_json(tmp_path / "run" / "run.json")["status"] == "finished"
