import numpy as np

from setrl import Method, methods, objectives, set_advantages

rewards = np.array([[1, 1, 1, 0, 1, 0, 0, 1]])
right = rewards > 0.5  # the threshold of this page
strategies = np.array([[0, 0, 0, 0, 1, 2, -1, 0]])  # 0 is A; -1 is degenerate
answers = np.array([[0, 0, 0, 2, 0, 4, 1, 0]])  # what majority votes count

compared = {
    "GRPO": methods.grpo(),
    "Reward shaping": methods.grpo_div(weight=0.5),
    "Poly-EPO": methods.poly_epo(set_size=4),
    "MaxPO": methods.maxpo(set_size=4),
    "Concave counts": methods.concave_counts(alpha=0),
    "Your choice": Method(
        "chosen",
        objectives.polychromic(),
        4,
        baseline="all_sets",
        reduction="mean",
        scale=None,
    ),
}
for name, method in compared.items():
    found = set_advantages(rewards, method, correct=right, strategies=strategies, answers=answers)
    print(f"{name:16}", *(f"{value:+.4f}" for value in found.values_BN[0]))
