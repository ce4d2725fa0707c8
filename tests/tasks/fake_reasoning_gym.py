"""A stand-in for reasoning-gym: two generators with its interface, as modules `reasoning_gym…`."""

import random
import sys
import types
from dataclasses import dataclass
from itertools import count

_CHANGES = count()


@dataclass
class Config:
    size: int = 10
    seed: int = 0
    highest: int = 9

    def validate(self):
        assert self.highest > 1, "highest must be above 1"


class Sums:
    """Find an expression with the value of `target`; the verifier scores 0.1 for any other."""

    def __init__(self, config):
        self.config = config

    def __getitem__(self, index):
        rng = random.Random(self.config.seed * 1000 + index)
        a, b = (rng.randint(1, self.config.highest) for _ in range(2))
        return {
            "question": f"Make {a + b} of {a} and {b}",
            "answer": f"{a} + {b}",
            "metadata": {"numbers": [a, b], "target": a + b, "range": (1, None, "x")},
        }

    def score_answer(self, answer, entry):
        if "boom" in answer:
            raise ValueError(answer)
        return 1.0 if eval(answer) == entry["metadata"]["target"] else 0.1


class Changing(Sums):
    def __getitem__(self, index):
        return {**super().__getitem__(index), "question": f"{next(_CHANGES)}?"}


def install(monkeypatch):
    """Put the stand-in where `import reasoning_gym` finds it."""
    generators = {"countdown": Sums, "puzzle24": Sums, "gcd": Sums, "list_functions": Changing}
    for made in (Sums, Changing):
        made.__module__ = "reasoning_gym.games.sums"
    package, factory = types.ModuleType("reasoning_gym"), types.ModuleType("factory")
    factory.DATASETS = {name: (made, Config) for name, made in generators.items()}

    def create_dataset(name, **settings):
        config = Config(**settings)
        config.validate()
        return generators[name](config)

    package.create_dataset, package.factory = create_dataset, factory
    package.__spec__ = types.SimpleNamespace(name="reasoning_gym")
    monkeypatch.setitem(sys.modules, "reasoning_gym", package)
