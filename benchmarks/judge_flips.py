"""Effect of a judge's mistakes on the advantages: true strategies against flipped labels.

    python -m benchmarks.judge_flips [FILE …] [--flips 0.05 0.2 0.5] [--draws 5] [--set-size 4]

The files, by default the two of tests/data, hold real samples with their correctness; the true
strategies are their final answers. Advantages are Poly-EPO's. A group has signal when a true
advantage is not 0; the second table shows the groups with and without signal separately.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from setrl import methods
from setrl.evaluate import mean_over_problems
from setrl.evaluate.judge_audit import NO_SIGNAL, Measured, audit
from setrl.judges import Group
from setrl.judges.exact import ExactJudge
from setrl.support import files
from studies.faulty import NoisyJudge

DATA = Path(__file__).parents[1] / "tests" / "data"
FILES = [DATA / "generations_svamp_50x30.jsonl", DATA / "generations_math_20x8.jsonl"]


def main(path: Path, flips: list[float], draws: int, set_size: int) -> None:
    groups, rewards = read(path)
    method = methods.poly_epo(set_size)
    truth = [judgement.labels_N for judgement in ExactJudge().judge(groups)]
    signal_G = np.array([
        np.abs(method.advantages([r], strategies=[c]).values_BN).max() > NO_SIGNAL
        for r, c in zip(rewards, truth, strict=True)
    ])  # fmt: skip
    found = [
        audit(groups, lambda seed, p=p: NoisyJudge(ExactJudge(), p, seed), orders=draws,
              gold=truth, rewards=rewards, method=method).gold
        for p in flips
    ]  # fmt: skip
    print(f"{path.name}: {len(groups)} groups, {signal_G.sum()} with signal\n")
    print("| flips asked for | flips found | ARI | signs changed | relative change |")
    print("|---|---|---|---|---|")
    for p, values in zip(flips, found, strict=True):
        names = ("flips", "adjusted_rand", "signs_changed", "advantage_change")
        print(f"| {p:.0%} | {' | '.join(cell(values, name) for name in names)} |")
    print("\n| flips | no signal: signs changed | signal: signs changed | relative change |")
    print("|---|---|---|---|")
    for p, values in zip(flips, found, strict=True):
        quiet, loud = (cell(values, "signs_changed", some) for some in (~signal_G, signal_G))
        print(f"| {p:.0%} | {quiet} | {loud} | {cell(values, 'advantage_change', signal_G)} |")
    print()


def read(path: Path) -> tuple[list[Group], list[list[float]]]:
    """Read prompts with the texts of their samples, and 1 for each correct sample."""
    groups, rewards = [], []
    for row in files.read_lines(path):
        if "finals" in row:
            texts = ["" if final is None else str(final) for final in row["finals"]]
            correct = [text == str(row["answer"]) for text in texts]
        else:
            texts = [sample["end"] for sample in row["samples"]]
            correct = [sample["correct"] for sample in row["samples"]]
        groups.append(Group.of_texts(row["id"], tuple(texts)))
        rewards.append([float(one) for one in correct])
    return groups, rewards


def cell(values: Measured, name: str, some: np.ndarray | None = None) -> str:
    """Write the mean over groups with its interval; shares of samples as per cent."""
    chosen = np.array(values[name]) if some is None else np.array(values[name])[some]
    e = mean_over_problems(chosen)
    form, scale = ("{:.0f}", 100) if name in ("flips", "signs_changed") else ("{:.2f}", 1)
    value, low, high = (form.format(scale * number) for number in (e.value, e.low, e.high))
    return f"{value}{'%' if scale == 100 else ''} [{low}, {high}]"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--flips", nargs="+", type=float, default=[0.05, 0.2, 0.5])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--set-size", type=int, default=4)
    options = parser.parse_args()
    for file in options.files:
        main(file, options.flips, options.draws, options.set_size)
