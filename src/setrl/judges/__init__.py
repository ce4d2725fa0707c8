"""Judges: the samples of a prompt → the cluster of each, by the strategy that it uses."""

from setrl.judges.base import Group, Judge, Judgement, by_first_appearance
from setrl.judges.lm import LMJudge
from setrl.judges.policy import Skip, Stop, Wait
from setrl.serving.budget import Counts, Limits, Prices
from setrl.serving.judge_endpoint import Endpoint

__all__ = [
    "Counts",
    "Endpoint",
    "Group",
    "Judge",
    "Judgement",
    "LMJudge",
    "Limits",
    "Prices",
    "Skip",
    "Stop",
    "Wait",
    "by_first_appearance",
]
