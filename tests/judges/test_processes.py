"""Several processes, killed ones and interrupted ones, with one cache."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.judges.helpers import make_groups, make_judge, right_labels
from tests.judges.server import FaultyServer

ROOT = Path(__file__).parents[2]


def ask(server, cache, seed=0):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.judges.ask", server.url, cache, str(seed)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )


def wait_for_requests(server, count):
    last = time.monotonic() + 60
    while len(server.log) < count and time.monotonic() < last:
        time.sleep(0.005)
    assert len(server.log) >= count


def asked(bodies):
    return [body["messages"][1]["content"] for body in bodies]


def test_processes_with_one_cache_agree_even_where_the_model_does_not(tmp_path):
    rng = random.Random(0)
    with FaultyServer(numbers=lambda samples: [rng.randint(0, 5) for _ in samples]) as server:
        jobs = [ask(server, tmp_path / "judge.sqlite", seed) for seed in range(2)]
        one, two = (json.loads(job.communicate(timeout=120)[0]) for job in jobs)
        requests = len(server.log)
        with make_judge(server.url, cache=tmp_path / "judge.sqlite") as judge:
            again = judge.judge(make_groups(40))
    assert one == two == [list(judgement.labels_N) for judgement in again]
    assert len({str(labels) for labels in one}) > 10, "the model answers at random"
    assert 40 <= requests <= 80
    assert len(server.log) == requests, "the third process asked nothing"


def test_a_killed_run_goes_on_and_asks_nothing_twice(tmp_path):
    groups, cache = make_groups(40), tmp_path / "judge.sqlite"
    with FaultyServer(delay_s=0.02) as server:
        job = ask(server, cache)
        wait_for_requests(server, 15)
        job.kill()
        job.communicate()
        time.sleep(0.1)
        before = asked(server.bodies)
        with make_judge(server.url, {"timeout_s": 60}, cache=cache) as judge:
            judgements = judge.judge(groups)
            assert judge.counts.cached >= len(before) - 4  # two under way, two in the writing
        after = asked(server.bodies)[len(before) :]
    assert [j.labels_N for j in judgements] == [right_labels(group) for group in groups]
    assert len(set(after)) == len(after) == 40 - judge.counts.cached
    assert len(set(before) & set(after)) <= 4


def test_ctrl_c_closes_everything(tmp_path):
    with FaultyServer({"hang": 0.5}, seed=1) as server:
        job = ask(server, tmp_path / "judge.sqlite")
        wait_for_requests(server, 2)
        time.sleep(0.2)
        assert job.poll() is None, "requests hang"
        job.send_signal(signal.SIGINT)
        output, errors = job.communicate(timeout=60)
        assert (job.returncode, output, errors) == (130, "stopped by the keyboard\n", "")
        last = time.monotonic() + 5
        while server.open and time.monotonic() < last:
            time.sleep(0.01)
        assert server.open == 0
