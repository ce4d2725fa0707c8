"""From samples to conclusions: unbiased metrics at k, intervals over problems, paired differences.

The estimators are functions of arrays and the intervals functions of their values; neither knows
of models. `setrl.evaluation.sampling` (which needs PyTorch) draws the samples of a checkpoint.
"""

from setrl.evaluation.branching import branches_by_position, mean_shared_prefix, prefix_tree
from setrl.evaluation.comparison import Comparison, compare, compare_paths
from setrl.evaluation.diversity import (
    corrected_effective_number,
    corrected_entropy,
    same_label_probability,
)
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
from setrl.evaluation.plurality import majority_answer
from setrl.evaluation.power import detectable_difference, power_of, problems_needed
from setrl.evaluation.reliability import cover_at, g_pass_at_k, mean_g_pass_at_k
from setrl.evaluation.selection import best_of_k
from setrl.evaluation.summary import (
    Summary,
    summarise,
    summarise_run,
    write_checkpoint_summary,
    write_summary,
)
from setrl.evaluation.support import SupportDynamics, support_dynamics, support_of
from setrl.evaluation.variances import (
    best_of_k_variance,
    distinct_at_k_variance,
    g_pass_at_k_variance,
    max_at_k_variance,
)
from setrl.logs.records import Evaluation, load_evaluation

__all__ = [
    "Comparison",
    "Difference",
    "Estimate",
    "Evaluation",
    "IntervalConfig",
    "LabelCounts",
    "Majority",
    "Summary",
    "SupportDynamics",
    "best_of_k",
    "best_of_k_variance",
    "branches_by_position",
    "compare",
    "compare_paths",
    "corrected_effective_number",
    "corrected_entropy",
    "count_labels",
    "cover_at",
    "detectable_difference",
    "distinct_at_k",
    "distinct_at_k_variance",
    "effective_number",
    "g_pass_at_k",
    "g_pass_at_k_variance",
    "hit_probabilities",
    "load_evaluation",
    "majority_answer",
    "majority_at_k",
    "max_at_k",
    "max_at_k_variance",
    "mean_g_pass_at_k",
    "mean_over_problems",
    "mean_shared_prefix",
    "paired_difference",
    "pass_at_k",
    "pass_at_k_variance",
    "power_of",
    "prefix_tree",
    "problems_needed",
    "same_label_probability",
    "summarise",
    "summarise_run",
    "support_dynamics",
    "support_of",
    "top_share",
    "write_checkpoint_summary",
    "write_summary",
]
