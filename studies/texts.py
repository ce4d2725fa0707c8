"""`python -m studies.texts RUN FILE`: how different the samples of a run's models are, as texts.

What needs no strategies: runs of letters that are in a problem's samples, how much two samples
share before they part; and the entropy of the strategies. Every number is a mean over
problems, then seeds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tyro

from setrl.evaluate.estimators import corrected_entropy, mean_shared_prefix
from setrl.evaluate.loading import load_evaluation
from setrl.logs.run import Run
from setrl.support import files
from setrl.support.errors import ConfigError
from setrl.train.scoring.ngrams import ngrams

LENGTH = 4  # characters of a run of letters


def distinct_runs(texts: Sequence[str], length: int = LENGTH) -> float:
    """Return the share of different runs among all runs of `length` characters.

        |{runs}| / Σ runs           distinct-n, of characters; a shorter text is one run

    >>> distinct_runs(["abcde", "abcdf"], 4)  # abcd twice, bcde, bcdf
    0.75
    """
    runs = [run for text in texts for run in ngrams(text, length)]
    return len(set(runs)) / len(runs)


def of_problem(texts: Sequence[str]) -> dict[str, float]:
    """Return the measures of one problem's samples."""
    return {
        "distinct_runs": distinct_runs(texts),
        "different_texts": len(set(texts)) / len(texts),
        "shared_prefix": mean_shared_prefix(texts),
    }


def of_model(evaluation_file: Path) -> dict[str, float]:
    """Return means over problems; `entropy` is the entropy of the strategies in nats."""
    texts = defaultdict(list)
    for record in list(files.read_lines(evaluation_file.parent / "samples" / evaluation_file.name)):
        if "text" in record:  # the first line has the settings
            texts[record["problem"]].append(record["text"])
    if not texts:
        raise ConfigError(f"{evaluation_file}: the run has kept no texts in its folder")
    found = [of_problem(own) for own in texts.values()]
    means = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
    labels_PN = load_evaluation(evaluation_file).counted("strategies")
    counts_PC = np.stack(
        [(labels_PN == c).sum(axis=1) for c in range(max(1, labels_PN.max() + 1))], axis=1
    )
    entropy_P = corrected_entropy(counts_PC[counts_PC.any(axis=1)])
    return {**means, "entropy": float(entropy_P.mean()) if len(entropy_P) else 0.0}


def run(run_dir: Path, path: Path) -> Path:
    """Measure the base and all arms of a run, and write split → arm → measure.

    Args:
        run_dir: Its folder.
        path: The JSON file to write.
    """
    splits: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for arm in Run(run_dir).arms.values():
        of_seeds = defaultdict(list)
        for seed in arm.seeds.values():
            for split, file in seed.evaluations.items():
                of_seeds[split].append(of_model(file))
        for split, found in of_seeds.items():
            splits[split][arm.name] = {
                name: round(float(np.mean([one[name] for one in found])), 4) for name in found[0]
            }
    files.write_json(path, {"schema_version": 1, "run": run_dir.name, "splits": dict(splits)})
    return path


if __name__ == "__main__":
    print(tyro.cli(tyro.conf.configure(tyro.conf.PositionalRequiredArgs)(run)))
