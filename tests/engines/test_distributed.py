"""Two processes, with a group that straddles them. `make distributed` has more of them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import torch

from setrl.logs.run import Run
from setrl.support import files
from tests.distributed.run import check, free_port
from tests.distributed.training import METHOD, ROWS, SETTINGS, N, train

TRAINED = ("all", "fields", "judged")
PROGRAM = """
    import gc, os, sys
    from pathlib import Path
    import torch
    from setrl.train.lm.resolved import ResolvedConfig
    from setrl.train.lm.run import run_comparison
    from tests.distributed.training import SETTINGS, train

    torch.set_num_threads(1)
    base, out, port, *names = sys.argv[1:]
    # The imports take longest: they are done once, and only then is this process two.
    gc.freeze()  # the end of each training searches for garbage
    child = os.fork()
    rank = "1" if child == 0 else "0"
    os.environ |= {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    for name in names:
        outcome = train(SETTINGS[name], Path(base), Path(out) / name)
        torch.save(outcome, f"{out}/{name}-{rank}.pt")
    resolved = ResolvedConfig.load(f"{out}/config.yaml")
    run_comparison(resolved, f"{out}/run", cache=Path(base).parent)
    torch.distributed.destroy_process_group()
    if child and os.waitpid(child, 0)[1]:
        sys.exit("the process of rank 1 failed")
"""


def test_two_processes_train_as_one(make_resolved, base, tmp_path):
    resolved = make_resolved(prompts_per_step=3, micro_batch_size=6, steps=2)
    (tmp_path / "config.yaml").write_text(resolved.config.to_yaml())
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, str(program), str(base), str(tmp_path), str(free_port()), *TRAINED]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, sys.path))
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=180
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
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
