"""How long the credit of a training step takes, next to sampled sets, rivals and another version.

    OMP_NUM_THREADS=1 python benchmarks/credit.py [COMMIT]

Everything runs on one core, in one run, in CPU time, with all checks of the input, for u − v of
B = 128 prompts. The first table has, for each shape and objective,

    passes       the time as a multiple of adding 1 to all rewards, into a new array
    argsorts     the time as a multiple of `np.argsort` of all rewards, for what sorts
    own sets     500 sets drawn anew for each prompt, as the papers describe it
    error        the error of the own sets, relative to the exact credit
    COMMIT       the time of another commit of this repository, measured in turn with this version

The second table has the rivals: `grpo_passk` of verl (arXiv:2503.19595), which pays the best sample
r_max − r_second, and OrderGrad's matrix form (arXiv:2606.06096): sort, multiply by an N × N matrix
that is made beforehand, sort back. The third has the largest memory that is in use at once, as a
multiple of the rewards.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from setrl import Samples, credit, methods, objectives, set_advantages

SHAPES = [(128, 32, 8), (128, 64, 8), (128, 1024, 32)]
NUM_SETS, ROUNDS, SECONDS = 500, 3, 0.2
COUNTS = ("mean", "any_correct", "distinct", "distinct_correct", "polychromic", "concave_counts")
SORTED = ("max", "median", "best_of")
OTHERS = ("majority", "from_function", "sampled")
FIELDS = {
    "distinct": "strategies",
    "distinct_correct": "strategies",
    "polychromic": "strategies",
    "concave_counts": "strategies",
    "best_of": "proxy",
    "majority": "answers",
}


def cpu_ms(call: Callable[[], object], seconds: float = SECONDS) -> float:
    """Return the milliseconds of CPU time of a call: the lowest tenth of its repetitions."""
    call()
    start = time.process_time()
    call()
    number = max(1, int(0.002 / max(time.process_time() - start, 1e-6)))
    times: list[float] = []
    while sum(times) * number < seconds or len(times) < 3:
        start = time.process_time()
        for _ in range(number):
            call()
        times.append((time.process_time() - start) / number)
    return 1e3 * sorted(times)[len(times) // 10]


def samples_of(num_prompts: int, n: int, floats: bool) -> dict[str, np.ndarray]:
    """Draw eight strategies of unequal shares, each with a success rate; or float rewards."""
    rng = np.random.default_rng(0)
    share_C = 1 / np.arange(1, 9)
    strategies_BN = rng.choice(8, (num_prompts, n), p=share_C / share_C.sum())
    right_BN = rng.random((num_prompts, n)) < rng.beta(0.6, 0.9, 8)[strategies_BN]
    proxy_BN = rng.normal(size=(num_prompts, n))
    rewards_BN = rng.normal(size=(num_prompts, n)) if floats else right_BN * 1.0
    answers_BN = strategies_BN + 8 * right_BN
    return {
        "rewards": rewards_BN, "strategies": strategies_BN, "proxy": proxy_BN, "answers": answers_BN
    }  # fmt: skip


def call_of(name: str, shape: tuple[int, int, int]) -> Callable[[], np.ndarray]:
    """Return the credit of a batch, by public names that all versions have."""
    num_prompts, n, k = shape
    samples = samples_of(num_prompts, n, name in SORTED)
    fields = {FIELDS[name]: samples[FIELDS[name]]} if name in FIELDS else {}
    if name == "concave_counts":
        method = methods.concave_counts(alpha=0.5)
        return lambda: set_advantages(samples["rewards"], method, **fields).values_BN
    options: dict = {"set_size": k, "baseline": "leave_one_out", **fields}
    if name == "from_function":
        options["objective"] = objectives.from_function(lambda rewards: np.ptp(rewards, axis=-1))
    elif name == "sampled":
        options |= {"objective": objectives.max(), "estimator": credit.Sampled(NUM_SETS)}
    else:
        options["objective"] = getattr(objectives, name)()
    return lambda: set_advantages(samples["rewards"], rng=0, **options).values_BN


def own_sets(name: str, shape: tuple[int, int, int]) -> np.ndarray:
    """u − v if every prompt draws its own sets: random keys, then one scatter-add; (B, N)."""
    num_prompts, n, k = shape
    samples, rng = samples_of(num_prompts, n, name in SORTED), np.random.default_rng(2)
    sets_BSK = np.empty((num_prompts, NUM_SETS, k), dtype=np.intp)
    for prompt in range(num_prompts):
        keys_SN = rng.random((NUM_SETS, n))
        sets_BSK[prompt] = np.argpartition(keys_SN, k - 1, axis=1)[:, :k]
    rows = np.arange(num_prompts)[:, None, None]
    objective = getattr(objectives, name)()
    named = {key: value[rows, sets_BSK] for key, value in samples.items()}
    read = {key: value for key, value in named.items() if key in ("rewards", *objective.reads)}
    scores_BS = objective(Samples(**read))
    flat = (sets_BSK + n * rows).ravel()
    weights = np.repeat((scores_BS - scores_BS.mean(1, keepdims=True)).ravel(), k)
    total_BN = np.bincount(flat, weights, minlength=num_prompts * n).reshape(-1, n)
    count_BN = np.bincount(flat, minlength=num_prompts * n).reshape(-1, n)
    above_BN = total_BN / np.maximum(count_BN, 1)
    return above_BN + total_BN / np.maximum(NUM_SETS - count_BN, 1)


def measured() -> dict[str, float]:
    """Return the milliseconds of each objective and shape; objectives that fail are left out."""
    found = {}
    for shape in SHAPES:
        for name in (*COUNTS, *SORTED, *(OTHERS if shape[1] < 1024 else ())):
            try:
                found[f"{name} {shape}"] = cpu_ms(call_of(name, shape))
            except (AttributeError, TypeError, ValueError):  # another version lacks it
                continue
    return found


def in_turn(commit: str | None) -> tuple[dict[str, float], dict[str, float]]:
    """Return the shortest times of this version and of a commit, measured in turn."""
    root = Path(__file__).parents[1]
    runs: dict[str, list[dict[str, float]]] = {"now": [], "before": []}
    with tempfile.TemporaryDirectory() as folder:
        sources = {"now": root / "src"}
        if commit:
            archive = subprocess.run(
                ["git", "archive", commit, "src"], cwd=root, check=True, capture_output=True
            ).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            sources["before"] = Path(folder) / "src"
        for _ in range(ROUNDS):
            for version, source in sources.items():
                environment = {**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
                done = subprocess.run(
                    [sys.executable, __file__, "--times"],
                    env=environment, check=True, capture_output=True, text=True,
                )  # fmt: skip
                runs[version].append(json.loads(done.stdout))
    return shortest(runs["now"]), shortest(runs["before"])


def shortest(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the shortest time of each key."""
    return {key: min(run[key] for run in runs) for key in (runs[0] if runs else ())}


def rows(commit: str | None) -> Iterator[str]:
    """Yield the lines of the first table."""
    now, before = in_turn(commit)
    yield "| (B, N, K) | objective | ms | passes | argsorts | own sets | error | before |"
    yield "|---|---|---|---|---|---|---|---|"
    for shape in SHAPES:
        rewards_BN = samples_of(*shape[:2], floats=True)["rewards"]
        one_pass = cpu_ms(lambda rewards_BN=rewards_BN: rewards_BN + 1.0)
        argsort = cpu_ms(lambda rewards_BN=rewards_BN: np.argsort(rewards_BN, axis=-1))
        for name in (*COUNTS, *SORTED, *OTHERS):
            key = f"{name} {shape}"
            if key not in now:
                continue
            ms, ratio, error = now[key], "", ""
            if name in COUNTS[:-1] + SORTED:
                exact = call_of(name, shape)()
                drawn = own_sets(name, shape)
                error = f"{np.sqrt(((drawn - exact) ** 2).mean() / (exact**2).mean()):.0%}"
                ratio = f"×{cpu_ms(lambda n=name, s=shape: own_sets(n, s)) / ms:,.0f}"
            sorts = f"{ms / argsort:.1f}" if name in SORTED else ""
            old = f"{before[key]:.2f} ms" if key in before else ""
            yield (
                f"| {shape} | {name} | {ms:.3f} | {ms / one_pass:.0f} | {sorts} | {ratio} | "
                f"{error} | {old} |"
            )


def grpo_passk(rewards_BN: np.ndarray) -> np.ndarray:
    """Return verl's credit: r_max − r_second for the best sample, 0 for the others."""
    two_B2 = np.partition(rewards_BN, -2, axis=-1)[:, -2:]
    found_BN = np.zeros(rewards_BN.shape)
    best_B = rewards_BN.argmax(axis=-1)
    found_BN[np.arange(len(best_B)), best_B] = two_B2[:, 1] - two_B2[:, 0]
    return found_BN


def matrix_form(name: str, n: int, k: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return OrderGrad's dense form: the u − v of an L-statistic is linear in sorted rewards."""
    objective = getattr(objectives, name)()
    steps_NN = np.tril(np.ones((n, n)))  # row j: j samples at 0, the others at 1
    of_step_NN = set_advantages(
        steps_NN.T[::-1], objective=objective, set_size=k, baseline="leave_one_out"
    ).values_BN
    # The difference of two neighbouring steps is the reward of one rank.
    matrix_NN = np.diff(of_step_NN, axis=0, prepend=0.0)[::-1]

    def advantages(rewards_BN: np.ndarray) -> np.ndarray:
        order_BN = np.argsort(rewards_BN, axis=-1)
        found_BN = np.empty(rewards_BN.shape)
        ranked_BN = np.take_along_axis(rewards_BN, order_BN, axis=-1) @ matrix_NN
        np.put_along_axis(found_BN, order_BN, ranked_BN, axis=-1)
        return found_BN

    return advantages


def rival_rows() -> Iterator[str]:
    """Yield the lines of the second table."""
    yield "| (B, N, K) | statistic | ours, ms | OrderGrad's matrix, ms | verl's grpo_passk, ms |"
    yield "|---|---|---|---|---|"
    for shape in SHAPES:
        rewards_BN = samples_of(*shape[:2], floats=True)["rewards"]
        passk = cpu_ms(lambda rewards_BN=rewards_BN: grpo_passk(rewards_BN))
        for name in ("max", "median"):
            ours, dense = call_of(name, shape), matrix_form(name, *shape[1:])
            np.testing.assert_allclose(dense(rewards_BN), ours(), atol=1e-9)
            theirs = cpu_ms(lambda dense=dense, rewards_BN=rewards_BN: dense(rewards_BN))
            yield f"| {shape} | {name} | {cpu_ms(ours):.2f} | {theirs:.2f} | {passk:.2f} |"


def memory_rows() -> Iterator[str]:
    """Yield the lines of the third table."""
    yield "| objective | the most memory in use, in arrays of (128, 4096) with K = 64 |"
    yield "|---|---|"
    shape = (128, 4096, 64)
    for name in (*COUNTS, *SORTED):
        call = call_of(name, shape)
        call()
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        yield f"| {name} | {peak / (8 * shape[0] * shape[1]):.1f} |"


def processor() -> str:
    """Return the name of the processor."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if os.name == "posix" else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main() -> None:
    """Print the tables."""
    if sys.argv[1:] == ["--times"]:
        print(json.dumps(measured()))
        return
    load = os.getloadavg()[0]
    print(f"{processor()}, {os.cpu_count()} cores, load {load:.1f}, NumPy {np.__version__}\n")
    for table in (rows(sys.argv[1] if sys.argv[1:] else None), rival_rows(), memory_rows()):
        for row in table:
            print(row, flush=True)
        print()


if __name__ == "__main__":
    main()
