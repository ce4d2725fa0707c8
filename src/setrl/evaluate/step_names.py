"""What metrics over the steps of training are called, in reports and in the run explorer."""

OVER_STEPS = {
    "reward/pass@1": ("pass@1 in training", True),
    "strategies/per_prompt": ("strategies per prompt", False),
    "strategies/correct_per_prompt": ("correct strategies per prompt", False),
    "strategies/top_share": ("share of the commonest strategy", True),
    "advantage/correct_negative": ("correct samples with advantage < 0", True),
    "advantage/wrong_positive": ("wrong samples with advantage > 0", True),
    "advantage/dead_groups": ("dead groups", True),
    "policy/entropy": ("entropy of the policy", False),
}
"""Metric of language models → its name, and whether it is a share."""
EXPLORED_OVER_STEPS = {
    "reward/mean": "mean reward in training",
    "strategies/degenerate": "share without a strategy",
    "policy/kl": "divergence from the reference (KL)",
    "length/mean": "mean length, tokens",
    "time/step": "seconds of a step",
}
"""Metric of language models that only the run explorer draws → its name."""
CONTROL_OVER_STEPS = {
    "rollout/ep_rew_mean": "mean return of recent episodes",
    "rollout/ep_len_mean": "mean length of recent episodes",
    "vines/distinct": "different ways among the vines of a state",
    "vines/score": "mean score of the vines",
    "train/entropy_loss": "entropy of the policy, with a minus sign",
}
"""Metric of control runs → its name."""
