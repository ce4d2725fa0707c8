"""The judge's client against a server that misbehaves, and what a request costs in CPU.

    python -m benchmarks.judge_client [groups]

A server in another process (tests/judges/server.py) answers correctly, or spoils its answer: it
hangs on 20% of the requests and has 2% each of the other faults. The same groups are judged again,
with the same cache, until none is unknown. Every judgement is compared with what is right, and the
client's counts with the server's own log. Then as many other groups, with a server that is fine.

Writes docs/results/judge_faults/.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from setrl.judges import Endpoint, Group, Limits, LMJudge
from setrl.judges.rendering import render
from setrl.support.files import write_json, write_text
from tests.judges.helpers import make_groups, right_labels
from tests.judges.server import FAULTS, FaultyServer

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "judge_faults"
OFTEN = dict.fromkeys(FAULTS, 0.02) | {"hang": 0.2}
LIMITS = Limits(concurrency=32, timeout_s=2.0, backoff_s=0.05, longest_pause_s=1.0)
WORK = " so we go on in small steps and check each of them" * 8


def main(num_groups: int) -> None:
    groups = [with_work(group) for group in make_groups(num_groups, num_samples=8)]
    with tempfile.TemporaryDirectory() as folder, serving(OFTEN) as server:
        cache = Path(folder) / "judge.sqlite"
        runs = [judge(groups, server, cache)]
        while runs[-1]["unknown"] and len(runs) < 10:
            runs.append(judge(groups, server, cache))
        cached = judge(groups, server, cache)
    with serving({}) as server:
        fine = judge([replace(group, prompt=f"{group.prompt}!") for group in groups], server, None)
    size = len(json.dumps(render(groups[0], "mathematics", range(8)))) / 1e3
    found = {
        "groups": num_groups,
        "kilobytes_a_request": round(size, 1),
        "runs": runs,
        "all_cached": cached,
        "fine_server": fine,
    }
    write_json(RESULTS / "counts.json", found)
    write_text(RESULTS / "README.md", readme(found))


def with_work(group: Group) -> Group:
    """Return the group with samples as long as short solutions."""
    return Group.of_texts(group.prompt, tuple(text + WORK for text in group.texts))


@contextmanager
def serving(faults: dict[str, float], delay_s: float = 0.01) -> Iterator[Connection]:
    """Start a server in another process; the connection takes "url" and "log" for questions."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(there, faults, delay_s)
    )
    process.start()
    yield here
    here.send("stop")
    process.join()


def serve(connection: Connection, faults: dict[str, float], delay_s: float) -> None:
    """Serve until stopped; each "log" holds what came since the one before."""
    with FaultyServer(faults, delay_s=delay_s) as server:
        while (question := connection.recv()) != "stop":
            if question == "url":
                connection.send(server.url)
            else:
                log, server.log = server.log, []
                connection.send(log)


def judge(groups: list[Group], server: Connection, cache: Path | None) -> dict[str, Any]:
    """Judge all groups, and check each judgement and each count."""
    server.send("url")
    endpoint = Endpoint(server.recv(), "a-judge", limits=LIMITS)
    began, cpu_began = time.perf_counter(), time.process_time()
    with LMJudge(endpoint, cache=cache) as lm_judge:
        judgements = lm_judge.judge(groups)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_began
    server.send("log")
    log = server.recv()
    right = [right_labels(group) for group in groups]
    known = [j.labels_N is not None for j in judgements]
    agree = [j.labels_N == strategies for j, strategies in zip(judgements, right, strict=True)]
    counts = lm_judge.counts
    return {
        "right": sum(agree),
        "wrong": sum(known) - sum(agree),
        "unknown": len(groups) - sum(known),
        "lost": len(groups) - len(judgements),
        "unknown_by_reason": dict(counts.unknown),
        "cached": counts.cached,
        "repaired": counts.repaired,
        "requests": counts.requests,
        "requests_in_the_servers_log": len(log),
        "failures": dict(sorted(counts.failures.items())),
        "failures_in_the_servers_log": dict(
            sorted(Counter(FAULTS[fault] for fault in log if FAULTS.get(fault)).items())
        ),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 3),
    }


def readme(found: dict[str, Any]) -> str:
    """Write what was measured, in words and two tables."""
    runs = found["runs"]
    kinds = sorted({kind for run in runs for kind in run["failures_in_the_servers_log"]})
    head = f"| | {' | '.join(f'run {i}' for i in range(1, len(runs) + 1))} |"
    keys = ("requests", "right", "wrong", "unknown", "lost", "cached", "repaired")
    rows = [row(key, [str(run[key]) for run in runs]) for key in keys]
    failed = [row(f"failed: {kind}", [both(run, kind) for run in runs]) for kind in kinds]
    return TEXT.format(
        groups=found["groups"],
        others=OTHERS,
        table="\n".join([head, "|---" * (len(runs) + 1) + "|", *rows, *failed]),
        size=found["kilobytes_a_request"],
        fine=cpu_ms(found["fine_server"], "requests"),
        faulty=cpu_ms(runs[0], "requests"),
        cached=cpu_ms(found["all_cached"], "cached"),
    )


def cpu_ms(run: dict[str, Any], per: str) -> str:
    return f"{1e3 * run['cpu_seconds'] / run[per]:.1f}"


def row(name: str, values: list[str]) -> str:
    return f"| {name.replace('_', ' ')} | {' | '.join(values)} |"


def both(run: dict[str, Any], kind: str) -> str:
    """Write the client's count and the server's."""
    counts = (run[key].get(kind, 0) for key in ("failures", "failures_in_the_servers_log"))
    return " / ".join(map(str, counts))


OTHERS = textwrap.fill(", ".join(name.replace("_", " ") for name in FAULTS if name != "hang"), 96)

TEXT = """# A judge's server that misbehaves

There are {groups} groups of 8 samples. The server hangs on 20% of the requests, and has each of
these faults on 2% of them:

{others}.

The judge makes at most 5 attempts per reply and one repair per group, waits at most 2 s, and
sends 32 groups at a time. Each further run has the cache of the earlier runs, so it asks only
about unknown groups.

*Picture: failed requests by kind, and what became of the groups* <!-- faults.svg -->

{table}

The rows of failures have two counts: the client's count / the count in the server's log. "right"
and "wrong" compare with the strategies that the server meant. "lost" groups have no judgement. A
group is unknown if its reply could not be read twice in a row (the server spoils 18% of its
replies), or if all its attempts failed.

The client takes {fine} ms of CPU per request of {size} kB, including rendering, hashing, cache
and parsing. With all these faults it takes {faulty} ms, and for a group in the cache {cached} ms.
It ran on one core that other work shared.

`python -m benchmarks.judge_client` makes this folder again; the numbers are in `counts.json`.
"""


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
