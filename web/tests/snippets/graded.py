import numpy as np

from setrl import Method, credit, methods, objectives, set_advantages

rewards = np.array([[0.3, 1, 0.7, 0.5, 0, 1]])
right = rewards > 0.5  # the threshold of this page
strategies = np.array([[0, 1, -1, 0, 2, 0]])  # 0 is A; -1 is degenerate
answers = np.array([[2, 0, 0, 2, 4, 0]])  # what majority votes count

compared = {
    "GRPO": methods.grpo(),
    "Reward shaping": methods.grpo_div(weight=0.5),
    "Poly-EPO": methods.poly_epo(set_size=2),
    "MaxPO": methods.maxpo(set_size=2),
    "Concave counts": methods.concave_counts(alpha=0),
    "Your choice": Method(
        "chosen",
        objectives.max(),
        2,
        baseline="leave_one_out",
        reduction="sum",
        scale="score_std",
        estimator=credit.Enumerated(),
    ),
}
for name, method in compared.items():
    found = set_advantages(rewards, method, correct=right, strategies=strategies, answers=answers)
    print(f"{name:16}", *(f"{value:+.4f}" for value in found.values_BN[0]))
