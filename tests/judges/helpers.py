"""Groups whose right labels are known, and judges with small delays."""

import random

from setrl import DEGENERATE
from setrl.judges import Group, by_first_appearance
from setrl.judges.lm import LMJudge
from setrl.models.served.endpoint import Endpoint, Limits, Prices

QUICK = {"timeout_s": 20.0, "backoff_s": 0.002, "longest_pause_s": 0.05, "attempts": 8}


def make_groups(count, num_samples=5, seed=0):
    """Groups of samples that say their strategy first: "factor: 17" or "degenerate: 3"."""
    rng = random.Random(seed)
    names = ("factor", "formula", "square", "degenerate")
    return [
        Group.of_texts(
            f"problem {number}",
            tuple(f"{rng.choice(names)}: {rng.randrange(10**6)}" for _ in range(num_samples)),
        )
        for number in range(count)
    ]


def right_labels(group):
    names = [sample.split(":")[0] for sample in group.texts]
    labels = [DEGENERATE if name == "degenerate" else names.index(name) for name in names]
    return by_first_appearance(labels)


def make_judge(url, limits=None, prices=Prices(), **options):  # noqa: B008
    limits = Limits(**{**QUICK, "concurrency": 16, **(limits or {})})
    return LMJudge(Endpoint(url, "a-judge", limits=limits, prices=prices), **options)
