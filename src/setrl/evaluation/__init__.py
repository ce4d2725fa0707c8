"""From samples to conclusions: unbiased metrics at k, intervals over problems, paired differences.

The estimators are functions of arrays and the intervals functions of their values; neither knows
of models. `setrl.evaluation.sampling` (which needs PyTorch) draws the samples of a checkpoint.
"""

from setrl.evaluation.estimators import (
    LabelCounts,
    count_labels,
    distinct_at_k,
    effective_number,
    hit_probabilities,
    max_at_k,
    pass_at_k,
    pass_at_k_variance,
    top_share,
)
from setrl.evaluation.intervals import (
    Difference,
    Estimate,
    IntervalConfig,
    mean_over_problems,
    paired_difference,
)
from setrl.evaluation.majority import Majority, majority_at_k
from setrl.evaluation.records import Evaluation, load_evaluation
from setrl.evaluation.summary import (
    Summary,
    summarise,
    summarise_run,
    write_checkpoint_summary,
    write_summary,
)

__all__ = [
    "Difference",
    "Estimate",
    "Evaluation",
    "IntervalConfig",
    "LabelCounts",
    "Majority",
    "Summary",
    "count_labels",
    "distinct_at_k",
    "effective_number",
    "hit_probabilities",
    "load_evaluation",
    "majority_at_k",
    "max_at_k",
    "mean_over_problems",
    "paired_difference",
    "pass_at_k",
    "pass_at_k_variance",
    "summarise",
    "summarise_run",
    "top_share",
    "write_checkpoint_summary",
    "write_summary",
]
