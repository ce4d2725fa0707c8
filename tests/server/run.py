"""`make engines`: set credit through a real server of the Tinker protocol, SkyRL's on JAX.

It starts the server on loopback and trains on `polynomial` through `setrl train`. The parts:

- arms: GRPO and Poly-EPO; the recorded advantages must be the core's, and of the saved weights the
  server must have those alone that the runs still need.
- losses: the server's `ppo` and `cispo`, with steps so large that both clip; the same advantages.
- faults: the server is killed in mid-run, and a proxy loses replies: the records and the weights
  must equal the same run without a fault. Then a slow judge, while the run trains.
- together: two training runs at once, as two client processes of one server.
- processes: the server computes on two processes.

After each part no place of the server may be taken. It ends with the server stopped. The server's
environment: `tests/server/constraints.txt`.
"""

import argparse
import contextlib
import logging
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import numpy as np
import yaml
from safetensors.numpy import load

from setrl.logs.log import open_log
from setrl.logs.run import Run
from setrl.support import files
from setrl.tasks.domains import Polynomial
from setrl.train import method_config
from setrl.train.lm.base_model import base_model
from setrl.train.lm.config import ComparisonConfig
from setrl.train.lm.resolved import BaseSpec, resolve
from setrl.train.lm.server_arm import train_on_server
from setrl.train.runs.pool import Stop
from setrl.train.runs.run import cache_folder
from tests.judges.server import FaultyServer
from tests.server.proxy import Proxy
from tests.server.server import Server

ARMS = {"grpo": {"method": "grpo"}, "poly_epo": {"method": "poly_epo", "set_size": 4}}
ONE = {"poly_epo": {"method": "poly_epo", "set_size": 2}}
SAME = ("reward/mean", "strategies/per_prompt", "length/mean", "advantage/dead_groups")
PARTS = ("arms", "losses", "faults", "together", "processes")
# The replies that the proxy loses in a run. A save whose reply is cut is left out: the client
# package repeats it for five minutes, as the server refuses it every time.
LOST = {
    "cut": [("forward_backward", 2), ("optim_step", 3), ("asample", 14), ("retrieve_future", 30)],
    "gone": [("asample", 6), ("forward_backward", 3), ("optim_step", 5), ("save_weights", 3)],
}


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


def short(server, engine=None, arms=ONE, **changes):
    """A config of six small steps without evaluation."""
    sizes = {"prompts_per_step": 4, "samples_per_prompt": 4, "steps": 6, "checkpoint_every": 2}
    engine = {"tinker": server.url, **(engine or {})}
    return config_of(server, engine=engine, arms=arms, eval_splits=[], **sizes, **changes)


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


def train_here(values, folder, warnings=None):
    """The same training in this process, one arm after the other."""
    began, resolved = time.monotonic(), resolve(ComparisonConfig(**values))
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: [] if warnings is None else warnings.append(record.getMessage())
    logging.getLogger("setrl").addHandler(handler)
    for arm in resolved.arms:
        run = Run(folder).seed(arm, 0)
        assert train_on_server(resolved, arm, 0, run, lambda step: None, Stop())
    logging.getLogger("setrl").removeHandler(handler)
    print(f"{folder.name}: trained in {time.monotonic() - began:.0f} s", flush=True)


def largest_difference(folder, arm, method):
    """Between the recorded advantages of an arm and those that the core computes; and how many."""
    largest, count = 0.0, 0
    for path in Run(folder).seed(arm, 0).rollouts.values():
        for group in open_log(path):
            rewards_BN = np.array([group.column("reward")])
            strategies_BN = np.array([group.column("strategy")], dtype=float)
            want = method.advantages(rewards_BN, strategies=strategies_BN, abstain=True).values_BN[
                0
            ]
            got = np.array(group.column("advantage"))
            largest, count = max(largest, float(np.abs(want - got).max())), count + got.size
    return largest, count


def records_of(folder, arm):
    return list(files.read_lines(Run(folder).seed(arm, 0).metrics_file))


def report(folder, arms):
    """Check the advantages of all arms, and print what they learnt."""
    for arm, own in arms.items():
        difference, count = largest_difference(folder, arm, method_config.from_config(own))
        assert count, arm
        assert difference < 1e-12, (arm, difference)
        records = records_of(folder, arm)
        print(f"{arm}: |A − A of the core| ≤ {difference:.1e} over {count} samples")
        gap = max(record["policy/sampler_gap"] for record in records)
        print(f"{arm}: |log-prob of trainer − of sampler| ≤ {gap:.1e}, mean of a step")
        for record in (records[0], records[-1]):
            shown = ("reward/mean", "strategies/correct_per_prompt", "time/step")
            print(f"  step {record['step']}:", *(f"{key} {record[key]:.3f}" for key in shown))


def arms(server, folder, options):
    before = set(server.saved)
    train(config_of(server, steps=options.steps), folder / "two_arms")
    report(folder / "two_arms", ARMS)
    check_kept(server, before, folder / "two_arms", ARMS)


def check_kept(server, before, folder, arms):
    """The server has what is still needed of a comparison's saved files, and nothing else."""
    found = set(server.saved) - before
    kept = {file for arm in arms for file in still_needed(server, folder, arm)}
    assert found == kept, (found, kept)
    print(f"  the server has {len(kept)} saved weights of it: those that are needed")


def check_places(server):
    """No model is loaded any more; the last are being unloaded when a client ends."""
    for _ in range(60):
        if not server.loaded:
            return print(f"  all of the {server.made} models so far are unloaded")
        time.sleep(0.5)
    raise AssertionError(f"still loaded: {server.loaded}")


def still_needed(server, folder, arm):
    """The server's files of the weights that a training run goes back to, or ends with."""
    run = Run(folder).seed(arm, 0)
    state = files.read_json(run.checkpoint_folder / "state.json")
    paths = [state["path"], *(one["path"] for one in state["older"])]
    return [*(server.file_of(path) for path in paths), final_file(server, folder, arm)]


def final_file(server, folder, arm):
    final = files.read_json(Run(folder).seed(arm, 0).final / "server.json")["sampler"]
    return server.file_of(final, "sampler_weights")


def losses(server, folder, options):
    for loss in ("ppo", "cispo"):
        large = {"learning_rate": 0.02}
        train_here(short(server, {"loss": loss, "staleness": 1}, **large), folder / loss)
        report(folder / loss, ONE)
        outside = [one["policy/outside_clip"] for one in records_of(folder / loss, "poly_epo")]
        print(f"  {loss}: ratios beyond the clip, by step:", *(f"{one:.0%}" for one in outside))
        assert outside[0] == 0, "the first batch is of the weights that it trains"
        assert np.mean(outside[1:]) > 0.05, outside
    one, other = (final_weights(server, folder / loss) for loss in ("ppo", "cispo"))
    assert any(np.abs(one[name] - other[name]).max() > 1e-4 for name in one)


def faults(server, folder, options):
    train_here(short(server), folder / "whole")
    with_lost_replies(server, folder)
    beside_a_slow_judge(server, folder / "slow_judge")
    with_a_dead_server(server, folder / "killed", options.away)
    check_same(server, folder / "whole", folder / "killed")


def with_lost_replies(server, folder):
    with Proxy(server.url) as proxy:
        for kind, replies in LOST.items():
            proxy.lose(dict.fromkeys(replies, kind))
            values, warnings = short(server, {"tinker": proxy.address}), []
            before = set(server.saved)
            train_here(values, folder / f"lost_{kind}", warnings)
            again = sum("going on from the saved weights" in one for one in warnings)
            print(f"  replies {kind}: {proxy.lost}; {again} times back to the saved weights")
            assert sorted(proxy.lost) == sorted(replies), proxy.counts
            assert again == (len(replies) if kind == "gone" else 0), warnings
            check_same(server, folder / "whole", folder / f"lost_{kind}")
            check_kept(server, before, folder / f"lost_{kind}", ONE)


def with_a_dead_server(server, folder, away_s):
    """The same run, with the server killed after its third step and away for a while."""

    def kill():
        wait_for_steps(folder, 3)
        server.kill()
        print(f"server killed; away for {away_s:.0f} s", flush=True)
        time.sleep(away_s)
        server.start()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    train(short(server), folder)
    killer.join()


def wait_for_steps(folder, count):
    metrics = Run(folder).seed("poly_epo", 0).metrics_file
    while not metrics.exists() or len(list(files.read_lines(metrics))) < count:
        time.sleep(0.05)


def check_same(server, one, other):
    """The same records, each once, and the same last weights."""
    found = [records_of(folder, "poly_epo") for folder in (one, other)]
    steps = [[record["step"] for record in records] for records in found]
    assert steps[0] == steps[1] == list(range(1, len(steps[0]) + 1)), steps
    largest = {key: max(abs(a[key] - b[key]) for a, b in zip(*found, strict=True)) for key in SAME}
    assert max(largest.values()) == 0, largest
    first, second = (final_weights(server, folder) for folder in (one, other))
    gap = max(float(np.abs(first[name] - second[name]).max()) for name in first)
    print(f"  steps 1 to {steps[0][-1]} once, equal records; |θ − θ of whole| ≤ {gap:.1e}")
    assert gap < 1e-6, gap


def final_weights(server, folder):
    with tarfile.open(final_file(server, folder, "poly_epo")) as archive:
        [name] = [one for one in archive.getnames() if one.endswith(".safetensors")]
        return load(archive.extractfile(name).read())


def beside_a_slow_judge(server, folder, delay_s=5.0):
    """How many steps were trained on while a judge of `delay_s` seconds had open requests."""

    def count():
        for step in range(1, 7):
            wait_for_steps(folder, step)
            beside.append(judge.open_requests)

    beside, numbers = [], lambda texts: [1 + len(text) % 3 for text in texts]
    with FaultyServer(numbers=numbers, delay_s=delay_s) as judge:
        own = {"judge": "lm", "endpoint": judge.url, "model": "slow"}
        counter = threading.Thread(target=count, daemon=True)
        counter.start()
        arms = {"poly_epo": ONE["poly_epo"] | {"judge": own}}
        train_here(short(server, {"staleness": 1}, arms), folder)
        counter.join(10)
    report(folder, ONE)
    spent = np.mean([record["time/step"] for record in records_of(folder, "poly_epo")[1:]])
    print(
        f"  a judge of {delay_s:.0f} s: {spent:.1f} s a step; "
        f"{np.count_nonzero(beside)} of 6 steps ended while it worked on the next"
    )
    assert np.any(beside), beside


def together(server, folder, options):
    """GRPO, and Poly-EPO with sets of 2, each in a process; alone each is the same."""
    arms, before = ARMS | ONE, set(server.saved)
    train(short(server, arms=arms, workers=2), folder / "together")
    report(folder / "together", arms)
    check_kept(server, before, folder / "together", arms)
    if (folder / "whole").exists():
        check_same(server, folder / "whole", folder / "together")


def processes(server, folder, options):
    """One arm: SkyRL 0.4.0 tells its other processes of no unloading, and samples fail after it."""
    train_here(short(server), folder / "two_processes")
    report(folder / "two_processes", ONE)


@contextlib.contextmanager
def running(server):
    server.start()
    try:
        yield server
    finally:
        server.kill()
        print("server stopped", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", type=Path, required=True, help="of the server's environment")
    parser.add_argument("--out", type=Path, default=Path("runs/engines"))
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--steps", type=int, default=20, help="of the two arms")
    parser.add_argument("--away", type=float, default=60.0, help="seconds without a server")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    folder = options.out.resolve() / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    sys.stdout.reconfigure(line_buffering=True)
    of = options.python.absolute(), base_model(BaseSpec(Polynomial()), cache_folder())
    one = [part for part in PARTS[:-1] if part in options.parts]
    if one:
        with running(Server(*of, folder / "server", options.port)) as server:
            for part in one:
                began = time.monotonic()
                globals()[part](server, folder, options)
                check_places(server)
                print(f"{part}: as it should be, {time.monotonic() - began:.0f} s")
    if "processes" in options.parts:
        with running(Server(*of, folder / "server_of_two", options.port, 2)) as server:
            processes(server, folder, options)
            check_places(server)
    print("engines: all as it should be")


if __name__ == "__main__":
    main()
