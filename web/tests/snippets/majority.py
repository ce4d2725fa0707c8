import numpy as np

from setrl import Method, credit, methods, objectives, set_advantages

rewards = np.array([[1, 0, 0, 0, 1, 0]])
right = rewards > 0.5  # the threshold of this page
strategies = np.array([[0, 1, 1, 2, 3, 2]])  # 0 is A; -1 is degenerate
answers = np.array([[0, 3, 3, 4, 0, 4]])  # what majority votes count

SETS = {  # by their size; all sets of other sizes are scored
    3: [[0, 1, 5], [0, 2, 5], [1, 3, 4], [1, 2, 4], [2, 4, 5]],
    2: [[2, 4], [1, 3], [4, 5], [2, 3], [1, 5]],
}


def listed_sets(objective, samples, set_size, rng):
    if set_size not in SETS:
        return credit.Exact()(objective, samples, set_size, rng)
    sets = np.array(SETS[set_size])
    return credit.Sampled(len(sets)).from_sets(objective, samples, sets)


compared = {
    "GRPO": methods.grpo(),
    "Reward shaping": methods.grpo_div(weight=0.5),
    "Poly-EPO": methods.poly_epo(set_size=3, estimator=listed_sets),
    "MaxPO": methods.maxpo(set_size=3, estimator=listed_sets),
    "Concave counts": methods.concave_counts(alpha=0),
    "Your choice": Method(
        "chosen",
        objectives.majority(),
        3,
        baseline="none",
        reduction="mean",
        scale=None,
        estimator=listed_sets,
    ),
}
for name, method in compared.items():
    found = set_advantages(rewards, method, correct=right, strategies=strategies, answers=answers)
    print(f"{name:16}", *(f"{value:+.4f}" for value in found.values_BN[0]))
