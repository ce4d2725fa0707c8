"""Judges and graders that are wrong on purpose, to measure how many errors a method tolerates.

A config names them as any judge or wrapper of a user:

    judge: {judge: studies.faulty:NoisyJudge, of: oracle:polynomial, flips: 0.2}
    wrap_reward: {function: studies.faulty:Misgraded, false_positives: 0.1}
"""

from studies.faulty.misgraded import Misgraded
from studies.faulty.noisy import NoisyJudge
from studies.faulty.systematic import MergedJudge, SplitJudge

__all__ = ["MergedJudge", "Misgraded", "NoisyJudge", "SplitJudge"]
