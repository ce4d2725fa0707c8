"""Finished columns of samples → rewards, strategies and the advantages that enter the loss.

Every engine gathers what its reward functions, its judge and its data say of B × N samples, makes
`Samples` of it (`samples_of`) and calls `score`, which calls no function of a user and knows no
trainer.
"""

from setrl.train.scoring.batch import ScoredBatch
from setrl.train.scoring.credit import samples_of, score
from setrl.train.scoring.stop_rule import CreditWatch, StopRule

__all__ = ["CreditWatch", "ScoredBatch", "StopRule", "samples_of", "score"]
