"""The verifier and the reader of the domain `polynomial`, as functions that a config names."""

from setrl.tasks import domains
from setrl.tasks.domains.verifier import Verifier

_verifier = Verifier(domains.by_name("polynomial"))


def correct(prompts, completions, **_):
    return _verifier.correct(prompts, completions)


def strategy(prompts, completions, **_):
    return _verifier.strategy(prompts, completions)
