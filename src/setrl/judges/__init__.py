"""Judges: the samples of a prompt → the cluster of each, by the strategy that it uses."""

from setrl.judges.base import Group, Judge, Judgement, by_first_appearance

__all__ = ["Group", "Judge", "Judgement", "by_first_appearance"]
