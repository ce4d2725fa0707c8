"""From samples to conclusions: unbiased metrics at k, intervals over problems, paired differences.

Metrics at k are mean set scores of the core's objectives (`setrl.mean_set_scores`). Estimators and
intervals are functions of arrays, and know nothing about models; `setrl.models.local` (which
needs PyTorch) draws the samples of a checkpoint.
"""

from setrl.evaluate.bands import Band, FirstLoss, first_loss, simultaneous_band
from setrl.evaluate.comparison import (
    Comparison,
    ProblemSupport,
    Support,
    SupportAt,
    compare,
    compare_paths,
    support_of,
)
from setrl.evaluate.estimators import (
    corrected_entropy,
    count_labels,
    cover_at,
    effective_number,
    g_pass_at_k,
    majority_answer,
    mean_g_pass_at_k,
    mean_shared_prefix,
    pass_at_k,
)
from setrl.evaluate.intervals import (
    Difference,
    Estimate,
    IntervalConfig,
    detectable_difference,
    mean_over_problems,
    paired_difference,
    problems_needed,
)
from setrl.evaluate.loading import load_evaluation, load_samples
from setrl.evaluate.samples import Evaluation, evaluation_of
from setrl.evaluate.summary import Summary, summarise, summarise_run, write_checkpoint_summary

__all__ = [
    "Band",
    "Comparison",
    "Difference",
    "Estimate",
    "Evaluation",
    "FirstLoss",
    "IntervalConfig",
    "ProblemSupport",
    "Summary",
    "Support",
    "SupportAt",
    "compare",
    "compare_paths",
    "corrected_entropy",
    "count_labels",
    "cover_at",
    "detectable_difference",
    "effective_number",
    "evaluation_of",
    "first_loss",
    "g_pass_at_k",
    "load_evaluation",
    "load_samples",
    "majority_answer",
    "mean_g_pass_at_k",
    "mean_over_problems",
    "mean_shared_prefix",
    "paired_difference",
    "pass_at_k",
    "problems_needed",
    "simultaneous_band",
    "summarise",
    "summarise_run",
    "support_of",
    "write_checkpoint_summary",
]
