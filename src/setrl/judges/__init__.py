"""Judges: the samples of a prompt → the label of each, by the strategy that it uses."""

from setrl.judges.base import BackgroundJudge, Group, Judge, Judgement
from setrl.judges.lm import JudgeCounts, LMJudge, RetryRule
from setrl.models.served.endpoint import Endpoint, Limits, Prices
from setrl.samples.labels import by_first_appearance

__all__ = [
    "BackgroundJudge",
    "Endpoint",
    "Group",
    "Judge",
    "JudgeCounts",
    "Judgement",
    "LMJudge",
    "Limits",
    "Prices",
    "RetryRule",
    "by_first_appearance",
]
