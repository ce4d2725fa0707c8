"""Finished columns of samples → rewards, strategies and the advantages that enter the loss.

Every engine gathers columns (what its reward functions, its judge and its data say of B × N
samples) and calls `score`, which calls no function of a user and knows no trainer.
"""

from setrl.train.scoring.batch import Columns, ScoredBatch
from setrl.train.scoring.credit import score
from setrl.train.scoring.stop_rule import CreditWatch, StopRule

__all__ = ["Columns", "CreditWatch", "ScoredBatch", "StopRule", "score"]
