"""`make engines`: set credit through a real server of the Tinker protocol, SkyRL's on JAX.

It starts the server on loopback, trains GRPO and Poly-EPO on `polynomial` through `setrl train`,
compares the recorded advantages with the core's, then kills the server in the middle of a run and
starts it again: the records of that run must be those of the same run without the fault. It ends
with the server stopped. The server has an environment of its own: `tests/server/constraints.txt`.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np
import yaml

from setrl import files, methods
from setrl.lm.base_model import base_model
from setrl.lm.config import ComparisonConfig
from setrl.logs.run_folder import training_run
from setrl.runs.run import cache_folder

HERE = Path(__file__).parent
ARMS = {"grpo": {"method": "grpo"}, "poly_epo": {"method": "poly_epo", "set_size": 4}}
SAME = ("reward/mean", "strategies/per_prompt", "length/mean", "advantage/dead_groups")


class Server:
    """SkyRL's server of one model, in processes of its own."""

    def __init__(self, python, model, folder, port):
        self.python, self.model, self.folder, self.port = python, model, folder, port
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        began = time.monotonic()
        environment = os.environ | {
            "PATH": f"{HERE}:{os.environ['PATH']}",
            "SERVER_PYTHON": str(self.python),
            "JAX_PLATFORMS": "cpu",
            "HF_HUB_OFFLINE": "1",
            "JAX_COMPILATION_CACHE_DIR": str(self.folder / "compiled"),
            "PYTHONPATH": "",
        }
        command = [HERE / "uv", "run", "-m", "skyrl.tinker.api", "--base-model", self.model]
        command += ["--backend", "jax", "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--checkpoints-base", self.folder / "checkpoints"]
        command += ["--database-url", f"sqlite:///{self.folder / 'server.db'}"]
        command += ["--backend-config", '{"max_lora_adapters": 8, "max_lora_rank": 32}']
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                list(map(str, command)),
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        self._wait()
        print(f"server up after {time.monotonic() - began:.0f} s at {self.url}", flush=True)

    def _wait(self):
        for _ in range(180):
            if self.process.poll() is not None:
                sys.exit(f"the server ended at once: see {self.folder / 'server.log'}")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/v1/healthz", timeout=2).read()
                return
            time.sleep(1)
        sys.exit(f"the server does not answer: see {self.folder / 'server.log'}")

    def kill(self):
        """End it and all its processes, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def config_of(server, **changes):
    values = {
        "name": "engines",
        "domain": "polynomial",
        "model": str(server.model),
        "engine": {"tinker": server.url},
        "arms": ARMS,
        "prompts_per_step": 8,
        "samples_per_prompt": 8,
        "checkpoint_every": 5,
        "rollouts_every": 1,
        "eval_splits": ["test"],
        "eval_problems": 16,
        "eval_samples": 16,
        "workers": 1,
    }
    return {**values, **changes}


def train(values, folder):
    """`setrl train`, in a process of its own."""
    path = folder.with_suffix(".yaml")
    path.write_text(yaml.safe_dump(values))
    command = [sys.executable, "-m", "setrl", "train", "--config", path, "--run-dir", folder]
    began = time.monotonic()
    done = subprocess.run(list(map(str, command)), stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    print(f"{folder.name}: trained in {time.monotonic() - began:.0f} s", flush=True)


def largest_difference(folder, arm):
    """Between the recorded advantages of an arm and those that the core computes; and how many."""
    method = methods.from_config(ARMS[arm])
    largest, count = 0.0, 0
    for path in training_run(folder, arm, 0).rollout_files().values():
        for record in files.read_lines(path):
            samples = record["samples"]
            rewards_BN = np.array([[one["reward"] for one in samples]])
            clusters_BN = np.array([[one["cluster"] for one in samples]], dtype=float)
            want = method.advantages(rewards_BN, clusters=clusters_BN, abstain=True).values_BN[0]
            got = np.array([one["advantage"] for one in samples])
            largest, count = max(largest, float(np.abs(want - got).max())), count + got.size
    return largest, count


def report(folder):
    for arm in ARMS:
        difference, count = largest_difference(folder, arm)
        assert difference < 1e-12, (arm, difference)
        records = list(files.read_lines(training_run(folder, arm, 0).metrics))
        print(f"{arm}: |A − A of the core| ≤ {difference:.1e} over {count} samples")
        gap = max(record["policy/sampler_gap"] for record in records)
        print(f"{arm}: |log-prob of trainer − of sampler| ≤ {gap:.1e}, mean of a step")
        for record in (records[0], records[-1]):
            shown = ("reward/mean", "strategies/correct_per_prompt", "time/step")
            print(f"  step {record['step']}:", *(f"{key} {record[key]:.3f}" for key in shown))


def with_a_dead_server(server, values, folder, away_s):
    """The same run, with the server killed after its third step and away for a while."""
    metrics = training_run(folder, "poly_epo", 0).metrics

    def kill():
        while not metrics.exists() or len(list(files.read_lines(metrics))) < 3:
            time.sleep(0.2)
        server.kill()
        print(f"server killed; away for {away_s:.0f} s", flush=True)
        time.sleep(away_s)
        server.start()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    train(values, folder)
    killer.join()


def check_same(one, other):
    found = [list(files.read_lines(training_run(f, "poly_epo", 0).metrics)) for f in (one, other)]
    steps = [[record["step"] for record in records] for records in found]
    assert steps[0] == steps[1] == list(range(1, len(steps[0]) + 1)), steps
    largest = {key: max(abs(a[key] - b[key]) for a, b in zip(*found, strict=True)) for key in SAME}
    print(f"steps {steps[0]} in both, each once; largest differences: {largest}")
    assert max(largest.values()) == 0, largest


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="of the server's environment")
    parser.add_argument("--out", type=Path, default=Path("runs/engines"))
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--away", type=float, default=60.0, help="seconds without a server")
    parser.add_argument("--faults-alone", action="store_true", help="leave out the two arms")
    options = parser.parse_args()
    folder = options.out.resolve() / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    start = ComparisonConfig(name="engines", domain="polynomial", arms=ARMS)
    server = Server(
        options.python.absolute(), base_model(start, cache_folder()), folder, options.port
    )
    server.start()
    try:
        if not options.faults_alone:
            train(config_of(server, steps=options.steps), folder / "two_arms")
            report(folder / "two_arms")
        short = {"arms": {"poly_epo": ARMS["poly_epo"]}, "steps": 6, "eval_splits": []}
        values = config_of(server, **short, checkpoint_every=2)
        train(values, folder / "whole")
        with_a_dead_server(server, values, folder / "killed", options.away)
        check_same(folder / "whole", folder / "killed")
    finally:
        server.kill()
    print("server stopped")


if __name__ == "__main__":
    main()
