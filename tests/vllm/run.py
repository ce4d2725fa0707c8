"""`make vllm`: a real vLLM server on a CPU samples for evaluation, judges, and samples for TRL.

Two small models are made here; nothing is downloaded. One server has a model of `polynomial`:
`setrl sample` is killed in mid-run and goes on, and its numbers are compared with the same
weights' numbers without a server. The other has a model with random weights, which judges by
`setrl judge`: that its replies can be read is the work of the JSON schema. Then `SetGRPOTrainer`
trains in TRL's server mode with that judge. The servers are stopped at the end.
"""

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from setrl.judges import Endpoint, LMJudge
from setrl.judges.replies import ReplyError, read_reply
from setrl.logs.records import read_records
from setrl.models.served.client import Client
from setrl.support import files
from setrl.train.runs.run import cache_folder
from tests.vllm import models, training
from tests.vllm.server import NAME, Server

PROBLEMS, SAMPLES, GROUP = 32, 64, 8
# What TRL's trainers ask for; NCCL is not used here, but the server must accept the option.
FOR_TRL = ["--max-model-len", "256", "--logprobs-mode", "processed_logprobs"]
FOR_TRL += ["--max-logprobs", "-1", "--weight-transfer-config", '{"backend": "nccl"}']
# Without white space: a model that may write it anywhere can do so until its tokens are used up.
FOR_JUDGING = ["--max-model-len", str(models.CONTEXT), "--structured-outputs-config"]
FOR_JUDGING += ['{"backend": "xgrammar", "disable_any_whitespace": true}']


def command(*arguments):
    return [sys.executable, "-m", "setrl", *map(str, arguments)]


def setrl(*arguments):
    """A command that must succeed; its seconds."""
    began = time.monotonic()
    done = subprocess.run(command(*arguments), capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr[-2000:])
    return time.monotonic() - began


def evaluation(path, *source):
    of = ["--domain", "polynomial", "--problems", PROBLEMS, "--samples", SAMPLES, "--output", path]
    return ["sample", *of, *source]


def samples_of(path):
    """Return (problem, number) → text from the file of samples next to an evaluation file."""
    lines = list(files.read_lines(path.parent / "samples" / path.name))[1:]
    found = {(one["problem"], one["sample"]): one["text"] for one in lines}
    assert len(found) == len(lines), "a sample is there twice"
    return found


def killed(arguments, path, after):
    """Kill the command when it has some samples; how many it has kept."""
    kept = path.parent / "samples" / path.name
    process = subprocess.Popen(command(*arguments), stderr=subprocess.DEVNULL)
    while not kept.exists() or kept.read_bytes().count(b"\n") < after:
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return kept.read_bytes().count(b"\n") - 1


def check_evaluation(server, model, folder):
    """Samples of the server: resumed, repeatable, and from the model's distribution."""
    local, served, again = (folder / name / "test.jsonl" for name in ("local", "served", "again"))
    asked = ["--endpoint", server.url, "--model", NAME, "--no-chat"]
    kept = killed(evaluation(served, *asked, "--concurrency", 1), served, after=200)
    first = samples_of(served)
    seconds = setrl(*evaluation(served, *asked, "--concurrency", 4))
    found = samples_of(served)
    assert kept <= len(first) < len(found) == PROBLEMS * SAMPLES
    assert all(found[key] == text for key, text in first.items())
    print(
        f"evaluate: killed with {kept} samples; {len(found)} after {seconds:.0f} s more, each once"
    )
    seconds = setrl(*evaluation(again, *asked, "--concurrency", 32))
    same = sum(found[key] == text for key, text in samples_of(again).items())
    print(
        f"evaluate: {same} of {len(found)} samples are the same in another run of {seconds:.0f} s"
    )
    assert same == len(found)
    setrl(*evaluation(local, "--checkpoint", model))
    one, other = (success_rates(path) for path in (served, local))
    error = math.sqrt(((one * (1 - one) + other * (1 - other)) / SAMPLES).sum()) / PROBLEMS
    difference = one.mean() - other.mean()
    print(f"evaluate: pass@1 {one.mean():.4f} served, {other.mean():.4f} without a server, "
          f"difference {difference / error:+.2f} standard errors")  # fmt: skip
    assert abs(difference) < 4 * error
    assert 0.1 < one.mean() < 0.99
    return found


def success_rates(path):
    return np.array([np.mean(record["correct"]) for record in read_records(path)])


def check_judging(server, texts, folder):
    """Labels of a judge with random weights: each reply has the form of the schema."""
    path = folder / "groups.jsonl"
    groups = [
        {"prompt": f"problem {i}", "completions": [texts[i, j] for j in range(GROUP)]}
        for i in range(PROBLEMS)
    ]
    files.write_lines(path, groups)
    judge = ["--judge", "lm", "--endpoint", server.url, "--model", NAME, "--max-unknown", 0]
    seconds = setrl("judge", path, *judge)
    lines = list(files.read_lines(folder / "groups.judged.jsonl"))
    assert [len(line["strategies"]) for line in lines] == [GROUP] * PROBLEMS
    different = {tuple(line["strategies"]) for line in lines}
    print(f"judge: {len(lines)} groups of {GROUP} in {seconds:.0f} s, none unknown, "
          f"{len(different)} different clusterings")  # fmt: skip
    plain = [is_readable(server, json.dumps(group)) for group in groups[:8]]
    print(f"judge: {plain.count(False)} of {len(plain)} replies without the schema cannot be read")
    assert not any(plain)


def is_readable(server, prompt):
    """Whether the same model gives labels when no schema is asked for."""
    client = Client(Endpoint(server.url, NAME, max_reply_tokens=128))
    ask = client.submit(lambda: client.ask(client.endpoint.body(prompt), "plain"))
    try:
        read_reply(ask.result()[0].text, GROUP)
    except ReplyError:
        return False
    finally:
        client.close()
    return True


def check_training(server, model, judged_by, folder):
    """TRL's server mode: exact credit, and samples of the policy that is trained."""
    gap = "sampling/sampling_logp_difference/mean"
    # Without new weights the server keeps the file's weights: the first step agrees, and no other.
    for name, is_sent, steps in (("not sent", False, 2), ("sent", True, 4)):
        with LMJudge(Endpoint(judged_by.url, NAME)) as judge:
            began = time.monotonic()
            records, batches, logged = training.train(
                server, model, judge, folder / name.replace(" ", "_"), steps, is_sent
            )
        gaps = [record[gap] for record in records]
        largest = training.largest_difference(batches, logged)
        assert len(batches) == len(records) == steps
        assert not np.isnan(batches[-1].samples.strategies).any()
        print(f"TRL, weights {name}: {steps} steps in {time.monotonic() - began:.0f} s, "
              f"|A − A of the core| ≤ {largest:.1e}")  # fmt: skip
        shown = ", ".join(f"{value:.1e}" for value in gaps)
        print(f"  |log-prob of trainer − of server|, mean of each step: {shown}", flush=True)
        assert largest < 1e-6
        assert gaps[0] < 1e-5
        assert (max(gaps) < 1e-5) == is_sent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("runs/vllm"))
    parser.add_argument("--port", type=int, default=8133, help="and the next one")
    options = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    folder = options.out.resolve() / time.strftime("%Y%m%d-%H%M%S")
    folder.mkdir(parents=True)
    model = models.sampling_model(folder / "model", cache_folder())
    judge = models.judging_model(folder / "judge")
    sampler = Server(model, folder / "sampling_server.log", options.port, *FOR_TRL)
    judging = Server(judge, folder / "judging_server.log", options.port + 1, *FOR_JUDGING)
    with sampler, judging:
        texts = check_evaluation(sampler, model, folder)
        check_judging(judging, texts, folder)
        check_training(sampler, model, judging, folder)
    print("vllm: all as it should be")


if __name__ == "__main__":
    main()
